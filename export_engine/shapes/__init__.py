"""What is dynamic in a call: the Shapes value, its short language, and torch's own specs.

Importing this package costs no torch import; converting to and from torch's specs does.
"""

from export_engine.paths import join_path, split_path
from export_engine.shapes.changes import BoundsChange, Change, DimChange, changes
from export_engine.shapes.dims import Auto, Bounds, Dynamic, Named, Pinned, Spec, Static
from export_engine.shapes.errors import ShapesError
from export_engine.shapes.spec import Shapes

__all__ = [
    "Auto",
    "Bounds",
    "BoundsChange",
    "Change",
    "DimChange",
    "Dynamic",
    "Named",
    "Pinned",
    "Shapes",
    "ShapesError",
    "Spec",
    "Static",
    "changes",
    "join_path",
    "split_path",
]

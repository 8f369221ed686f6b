"""What is dynamic in a call: the Shapes value, its short language, and torch's own specs.

Importing this package costs no torch import; converting to and from torch's specs does.
"""

from export_engine.shapes.changes import Change, changes
from export_engine.shapes.spec import (
    Auto,
    Bounds,
    Dynamic,
    Named,
    Pinned,
    Shapes,
    ShapesError,
    Spec,
    Static,
    join_path,
)

__all__ = [
    "Auto",
    "Bounds",
    "Change",
    "Dynamic",
    "Named",
    "Pinned",
    "Shapes",
    "ShapesError",
    "Spec",
    "Static",
    "changes",
    "join_path",
]

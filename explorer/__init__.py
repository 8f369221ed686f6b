"""Export Explorer: see what torch.export makes of a call.

    import explorer
    ex = explorer.explore(model, (x,), dynamic_shapes="x: batch, _")
    ex            # shows it
    ex.program    # the ExportedProgram
    explorer.diff(ex, "golden.pt2").ok
    ex.fixes      # of an export that failed; ex.apply(0) applies one, ex.autofix() all it takes

Importing this package imports neither torch nor IPython.
"""

from typing import TYPE_CHECKING

from explorer import exportdb
from explorer.beside_compile import CompileComparison, compare_with_compile
from explorer.comparison import Comparison, diff
from explorer.exploration import Exploration, ExportFailed
from explorer.exportdb.library import Library
from explorer.exporting import explore, load
from explorer.guiding import Guided, guide
from explorer.lessons import Lesson, lesson
from explorer.running import backends
from explorer.session import FixError
from explorer.view import View

if TYPE_CHECKING:
    from export_engine import Progress as Progress

__all__ = [
    "Comparison",
    "CompileComparison",
    "Exploration",
    "ExportFailed",
    "FixError",
    "Guided",
    "Lesson",
    "Library",
    "View",
    "backends",
    "compare_with_compile",
    "diff",
    "explore",
    "exportdb",
    "guide",
    "lesson",
    "load",
]

"""Export Explorer: see what torch.export makes of a call.

    import explorer
    ex = explorer.explore(model, (x,), dynamic_shapes="x: batch, _")
    ex            # shows it
    ex.program    # the ExportedProgram
    explorer.diff(ex, "golden.pt2").ok
    ex.fixes      # of an export that failed; ex.apply(0) applies one, ex.autofix() all it takes

Importing this package imports neither torch nor IPython; the first use of a name below imports what
is behind it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer import exportdb
    from explorer.comparison import Comparison
    from explorer.diffing import diff
    from explorer.environment_report import Doctor, doctor
    from explorer.explaining import CodePage, explain
    from explorer.exploration import Exploration, ExportFailed
    from explorer.exportdb.library import Library
    from explorer.exporting import explore, load
    from explorer.guiding import Guided, guide
    from explorer.lessons import Lesson, lesson
    from explorer.observing import observing
    from explorer.running import backends
    from explorer.session import FixError, NotTrusted
    from explorer.view import View
    from explorer.vs_compile import CompileComparison, compare_with_compile
    from export_engine.progress import Progress as Progress

__all__ = [
    "CodePage",
    "Comparison",
    "CompileComparison",
    "Doctor",
    "Exploration",
    "ExportFailed",
    "FixError",
    "Guided",
    "Lesson",
    "Library",
    "NotTrusted",
    "View",
    "backends",
    "compare_with_compile",
    "diff",
    "doctor",
    "explain",
    "explore",
    "exportdb",
    "guide",
    "lesson",
    "load",
    "observing",
]

_HOMES = {
    "CodePage": "explaining",
    "Comparison": "comparison",
    "CompileComparison": "vs_compile",
    "Doctor": "environment_report",
    "Exploration": "exploration",
    "ExportFailed": "exploration",
    "FixError": "session",
    "Guided": "guiding",
    "Lesson": "lessons",
    "Library": "exportdb.library",
    "NotTrusted": "session",
    "View": "view",
    "backends": "running",
    "compare_with_compile": "vs_compile",
    "diff": "diffing",
    "explain": "explaining",
    "doctor": "environment_report",
    "explore": "exporting",
    "guide": "guiding",
    "lesson": "lessons",
    "load": "exporting",
    "observing": "observing",
}


def __getattr__(name: str) -> Any:
    if name == "exportdb":
        return import_module(f"{__name__}.exportdb")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

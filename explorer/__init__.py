"""Export Explorer: see what torch.export makes of a call.

    import explorer
    ex = explorer.explore(model, (x,), dynamic_shapes="x: batch, _")
    ex            # shows it
    ex.program    # the ExportedProgram
    explorer.diff(ex, "golden.pt2").ok
    kit = explorer.explore_many({"prefill": (model, args), "decode": (model, more)})
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
    from explorer.exploring_sets import explore_many
    from explorer.exportdb.library import Library
    from explorer.exporting import explore
    from explorer.generation import GenerationPrograms, explore_generation
    from explorer.guiding import Guided, guide
    from explorer.joint import explore_joint
    from explorer.lessons import Lesson, lesson
    from explorer.loading import load
    from explorer.observing import observing
    from explorer.pane_view import View
    from explorer.programs import Programs
    from explorer.running import backends
    from explorer.session import FixError, NotTrusted
    from explorer.set_comparison import SetComparison
    from explorer.viewing import view
    from explorer.vs_compile import CompileComparison, compare_with_compile
    from export_engine.progress import Progress as Progress
    from export_engine.shapes import Shapes, ShapesError

__all__ = [
    "CodePage",
    "Comparison",
    "CompileComparison",
    "Doctor",
    "Exploration",
    "ExportFailed",
    "FixError",
    "GenerationPrograms",
    "Guided",
    "Lesson",
    "Library",
    "NotTrusted",
    "Programs",
    "QueryError",
    "SetComparison",
    "Shapes",
    "ShapesError",
    "View",
    "backends",
    "compare_with_compile",
    "diff",
    "doctor",
    "explain",
    "explore",
    "explore_generation",
    "explore_joint",
    "explore_many",
    "exportdb",
    "guide",
    "lesson",
    "load",
    "observing",
    "view",
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
    "Programs": "programs",
    "QueryError": "export_engine.query",
    "SetComparison": "set_comparison",
    "Shapes": "export_engine.shapes",
    "ShapesError": "export_engine.shapes",
    "View": "pane_view",
    "backends": "running",
    "compare_with_compile": "vs_compile",
    "diff": "diffing",
    "GenerationPrograms": "generation",
    "explain": "explaining",
    "doctor": "environment_report",
    "explore": "exporting",
    "explore_generation": "generation",
    "explore_joint": "joint",
    "explore_many": "exploring_sets",
    "guide": "guiding",
    "lesson": "lessons",
    "load": "loading",
    "observing": "observing",
    "view": "viewing",
}


def __getattr__(name: str) -> Any:
    if name == "exportdb":
        return import_module(f"{__name__}.exportdb")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    package = "" if home.startswith("export_engine.") else f"{__name__}."
    value = getattr(import_module(f"{package}{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

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

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from explorer import exportdb
    from explorer.comparing.comparison import Comparison
    from explorer.display.pane_view import View
    from explorer.explaining import CodePage, explain
    from explorer.exploration import Exploration, ExportFailed
    from explorer.exportdb.library import Library
    from explorer.guiding import Guided, guide
    from explorer.lessons import Lesson, lesson
    from explorer.opening.configs import explore_config, shrink_config
    from explorer.opening.diffing import diff
    from explorer.opening.exploring_sets import explore_many
    from explorer.opening.exporting import explore
    from explorer.opening.joint import explore_joint
    from explorer.opening.loading import load
    from explorer.opening.observing import observing
    from explorer.opening.viewing import view
    from explorer.results.costing import measure_device
    from explorer.results.environment_report import Doctor, doctor
    from explorer.results.running import backends
    from explorer.results.stages import read_stages
    from explorer.session.session import FixError, NotTrusted
    from explorer.sets.comparison import SetComparison
    from explorer.sets.generation import GenerationPrograms, explore_generation
    from explorer.sets.programs import Programs
    from explorer.surveys import SurveyError, SurveyResult, survey
    from explorer.vs_compile import CompileComparison, compare_with_compile
    from export_engine.progress import Progress
    from export_engine.query import QueryError
    from export_engine.shapes import Shapes, ShapesError
else:
    __getattr__, __dir__ = lazy_names(__name__)

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
    "Progress",
    "QueryError",
    "SetComparison",
    "Shapes",
    "ShapesError",
    "SurveyError",
    "SurveyResult",
    "View",
    "backends",
    "compare_with_compile",
    "diff",
    "doctor",
    "explain",
    "explore",
    "explore_config",
    "explore_generation",
    "explore_joint",
    "explore_many",
    "exportdb",
    "guide",
    "lesson",
    "load",
    "measure_device",
    "observing",
    "read_stages",
    "shrink_config",
    "survey",
    "view",
]

"""Export Explorer: see what torch.export makes of a call.

    import explorer
    ex = explorer.explore(model, (x,), dynamic_shapes="x: batch, _")
    ex            # shows it
    ex.program    # the ExportedProgram
    explorer.diff(ex, "golden.pt2").ok
    kit = explorer.explore_many({"prefill": (model, args), "decode": (model, more)})
    ex.fixes      # if the export failed; ex.apply_fixes(0) applies one, ex.autofix() several

Importing this package imports neither torch nor IPython; the first use of a name below imports it.
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from explorer import errors as errors
    from explorer import exportdb as exportdb
    from explorer import typing as typing
    from explorer.exploration import Exploration as Exploration
    from explorer.guiding import guide as guide
    from explorer.lessons import lesson as lesson
    from explorer.opening.configs import explore_config as explore_config
    from explorer.opening.diffing import diff as diff
    from explorer.opening.exploring_sets import explore_many as explore_many
    from explorer.opening.exporting import explore as explore
    from explorer.opening.loading import load as load
    from explorer.opening.observing import observe as observe
    from explorer.opening.viewing import view as view
    from explorer.results.environment_report import doctor as doctor
    from explorer.results.runs import backends as backends
    from explorer.sets.generation import explore_generation as explore_generation
    from explorer.sets.programs import Programs as Programs
    from explorer.surveys import survey as survey
    from explorer.text.explaining import explain as explain
    from explorer.vs_compile import compare_with_compile as compare_with_compile
    from export_engine.shapes import Shapes as Shapes
else:
    _load, __dir__ = lazy_names(__name__)

    def __getattr__(name: str) -> object:
        if name in __dir__():
            return _load(name)
        if name.startswith("_"):
            raise AttributeError(name)
        from explorer.old_names import load_old_name

        return load_old_name(name, _load)

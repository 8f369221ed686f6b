"""Two programs of any kind, or two sets of programs, compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from explorer.comparing.comparison import Comparison
from explorer.comparing.contracts import ContractComparison, compare_contracts
from explorer.exploration import Exploration
from explorer.results.layers import LayerComparison
from explorer.session.given_program import programs_in
from explorer.session.other_program import lend_program
from explorer.sets.comparison import SetComparison
from explorer.sets.programs import Programs

if TYPE_CHECKING:
    from export_engine.shapes import FormName


@overload
def diff(before: Programs, after: Programs) -> SetComparison: ...


@overload
def diff(before: Exploration, after: FormName) -> ContractComparison: ...


@overload
def diff(before: Any, after: Any) -> Comparison: ...


@overload
def diff(before: Any, after: Any, *, layers: Literal[True]) -> LayerComparison: ...


def diff(
    before: Any, after: Any, *, layers: bool = False
) -> Comparison | SetComparison | ContractComparison | LayerComparison:
    """Compares two programs, or two sets of programs.

    Args:
        before: an Exploration, an ExportedProgram, a GraphModule, the path of a `.pt2` file, or a
            set: Programs, a dict of programs, an `EdgeProgramManager`.
        after: another; of a set, another set. `"ShapesSpec"` or `"Dims"`: the same call exported
            in this form, as a new attempt of `before`.
        layers: only check whether each layer of `before`, a whole model, has the same ops as a
            layer of `after`, its small twin: `explorer.explore_config(config, small=True)`.

    Returns:
        A Comparison; of two sets a SetComparison, which has one for each program that both have;
        of layers, a LayerComparison; of the forms of a contract, a ContractComparison.

    Raises:
        ArchiveError: a file is not a program that this torch can read.
        FixError: the call has no dynamic shapes, or they have this form; or this torch has no
            ShapesSpec.
        TypeError: something else was given.
        ValueError: an export failed, so that there is no program; one is a set and one is not; or
            both are the same result, decomposed or fixed in the meantime.
    """
    if isinstance(before, Exploration) and after in ("Dims", "ShapesSpec"):
        return compare_contracts(before.session, form=after)
    if before is after:
        _refuse_attempts(before)
    both = _open(before), _open(after)
    if layers:
        whole, twin = (lend_program(program).record for program in both)
        return LayerComparison(whole, twin)
    if isinstance(both[0], Programs) and isinstance(both[1], Programs):
        return SetComparison(both[0], both[1])
    return Comparison(*map(lend_program, both))


def _refuse_attempts(given: Any) -> None:
    """Raises if a result that was decomposed or fixed is compared with itself."""
    entry = given.session.entry if isinstance(given, Exploration) else None
    if entry is not None and entry.parent >= 0:
        raise ValueError(
            f"Both names refer to the same result, which is now at: {entry.step}. Use Compare "
            "with… in its view to compare its attempts."
        )


def _open(given: Any) -> Any:
    """The argument; for a path the program or set in the file, for several programs a set."""
    from explorer.opening.loading import load
    from explorer.opening.viewing import view_several

    if isinstance(given, str | Path):
        return load(given)
    return given if programs_in(given) is None else view_several(given)

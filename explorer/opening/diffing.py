"""Two programs of any kind, or two sets of programs, compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any, overload

from explorer.comparing.comparison import Comparison
from explorer.session.entry import Entry
from explorer.session.given_program import entry_of, is_program
from explorer.sets.comparison import SetComparison
from explorer.sets.programs import Programs
from export_engine.plain_errors import WrongArgument


@overload
def diff(before: Programs, after: Programs) -> SetComparison: ...


@overload
def diff(before: Any, after: Any) -> Comparison: ...


def diff(before: Any, after: Any) -> Comparison | SetComparison:
    """Compares two programs, or two sets of programs.

    Args:
        before: an Exploration, an ExportedProgram, a GraphModule, the Programs of a set, or the
            path of a `.pt2` file.
        after: another; of a set, another set.

    Returns:
        A Comparison; of two sets a SetComparison, which has one for each program that both have.

    Raises:
        ArchiveError: a file is not a program that this torch can read.
        TypeError: something else was given.
        ValueError: an export failed, so that there is no program; or one is a set and one is not.
    """
    both = _opened(before), _opened(after)
    if isinstance(both[0], Programs) and isinstance(both[1], Programs):
        return SetComparison(both[0], both[1])
    return Comparison(*(_entry_of(given) for given in both))


def _opened(given: Any) -> Any:
    """What was given; of a path the program or the set in the file."""
    from explorer.opening.loading import load

    return load(given) if isinstance(given, str | Path) else given


def _entry_of(given: Any) -> Entry:
    """An attempt from anything that holds one program."""
    from explorer.exploration import Exploration

    if isinstance(given, Programs):
        raise WrongArgument(
            f"{given.title} holds {len(given)} programs. Compare one of them: "
            f"kit[{next(iter(given))!r}] or explorer.load(path, model=…) in Python, --model in a "
            "shell."
        )
    if isinstance(given, Exploration):
        return given.session.entry
    if is_program(given):
        return entry_of(given, "program")
    raise TypeError(
        f"A {type(given).__name__} is not a program. Give an Exploration, an ExportedProgram, a "
        "GraphModule, a set or the path of a .pt2 file."
    )

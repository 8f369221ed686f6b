"""Two programs of any kind, an Exploration, an ExportedProgram or a file, compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from explorer.comparison import Comparison
from explorer.given_program import entry_of, is_program
from explorer.session_entry import Entry
from export_engine.plain_errors import WrongArgument


def diff(before: Any, after: Any) -> Comparison:
    """Compares two programs.

    Args:
        before: an Exploration, an ExportedProgram, a GraphModule, or the path of a `.pt2` file.
        after: another.

    Raises:
        ArchiveError: a file is not a program that this torch can read.
        TypeError: something else was given.
        ValueError: an export failed, so that there is no program.
    """
    return Comparison(_entry_of(before), _entry_of(after))


def _entry_of(given: Any) -> Entry:
    """An attempt from anything that holds a program."""
    from explorer.exploration import Exploration
    from explorer.loading import load

    if isinstance(given, str | Path):
        opened = load(given)
        if isinstance(opened, Exploration):
            return opened.session.entry
        raise WrongArgument(
            f"{Path(given).name} holds {len(opened)} programs. Compare one of them: "
            f"explorer.load(path, model={next(iter(opened))!r}), or --model."
        )
    if isinstance(given, Exploration):
        return given.session.entry
    if is_program(given):
        return entry_of(given, "program")
    raise TypeError(
        f"A {type(given).__name__} is not a program. Give an Exploration, an ExportedProgram, a "
        "GraphModule or the path of a .pt2 file."
    )

"""A program that another one is compared with: of the kernel, or in a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.session.entry import Entry
from explorer.session.given_program import entry_of, is_program
from explorer.session.session import Session
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from explorer.session.opened_file import OpenedFile


def lend_program(given: Any, model: str | None = None) -> Entry:
    """The Entry of anything that holds one program, for the session of a comparison.

    Args:
        given: an Exploration, an ExportedProgram, a GraphModule, a set that holds one program, or
            the path of a `.pt2` file.
        model: which program of a file that holds several.

    Raises:
        ArchiveError: a file is not a program.
        TypeError: it is not a program.
        ValueError: it is a set of several programs.
    """
    if isinstance(given, str | Path):
        return Session([Entry("loaded", _open_file(Path(given), model))]).lend()
    if isinstance(given, Mapping):
        return lend_program(_only_one(given, getattr(given, "title", "This")))
    session = getattr(given, "session", None)
    if isinstance(session, Session):
        return session.lend()
    if is_program(given):
        return Session([entry_of(given, "program")]).lend()
    raise TypeError(
        f"A {type(given).__name__} is not a program. Give an Exploration, an ExportedProgram, a "
        "GraphModule, a set or the path of a .pt2 file."
    )


def _open_file(path: Path, model: str | None) -> OpenedFile:
    from explorer.session.opened_file import opened_file
    from export_engine.archive import program_names

    if model is None:
        _only_one(dict.fromkeys(program_names(path)), path.name)
    return opened_file(path, trusted=False, model=model)


def _only_one(programs: Mapping[str, Any], title: str) -> Any:
    """The program of a set that has one."""
    if len(programs) == 1:
        return next(iter(programs.values()))
    raise WrongArgument(
        f"{title} holds {len(programs)} programs. Compare one of them: "
        f"kit[{next(iter(programs), '')!r}] or explorer.load(path, model=…) in Python, --model in "
        "a shell."
    )

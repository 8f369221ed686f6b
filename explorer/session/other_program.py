"""A program that another one is compared with: of the kernel, or in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.session.entry import Entry
from explorer.session.given_program import entry_of, is_program, kind_of
from explorer.session.session import Session
from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from explorer.page.messages import OtherProgram
    from explorer.session.opened_file import OpenedFile

_MOST_FILES = 20


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
        return Session([entry_of(given, kind_of(given))]).lend()
    raise TypeError(
        f"{type(given).__name__} is not a program. Pass an Exploration, an ExportedProgram, a "
        "GraphModule, a set or the path of a .pt2 file."
    )


def _open_file(path: Path, model: str | None) -> OpenedFile:
    from explorer.session.opened_file import read_file
    from export_engine.archive import program_names

    if model is None:
        _only_one(dict.fromkeys(program_names(path)), path.name)
    return read_file(path, trusted=False, model=model)


def _only_one(programs: Mapping[str, Any], title: str) -> Any:
    """The program of a set that has one."""
    if len(programs) == 1:
        return next(iter(programs.values()))
    raise WrongArgument(
        f"{title} holds {len(programs)} programs. Compare one of them: "
        f"kit[{next(iter(programs), '')!r}] or explorer.load(path, model=…) in Python, --model in "
        "a shell."
    )


def find_others(entry: Entry) -> list[OtherProgram]:
    """Programs in the user's variables, and the newest `.pt2` files of the current folder.

    Args:
        entry: what they are to be compared with; it is left out.
    """
    from explorer.page.messages import OtherProgram

    named = [
        OtherProgram(name, "kernel", title=_title(value))
        for name, value in _programs_of_kernel().items()
        if not _is_of(value, entry)
    ]
    return [*named, *_files_here()]


def lend_choice(chosen: OtherProgram) -> tuple[str, Entry]:
    """The title of a chosen program, and its Entry; see `lend_program`."""
    if chosen.where == "file":
        path = Path(chosen.name).expanduser()
        name = f"{path.name}: {chosen.model}" if chosen.model else path.name
        return name, lend_program(path, chosen.model or None)
    programs_of_kernel = _programs_of_kernel()
    if chosen.name not in programs_of_kernel:
        raise WrongArgument(f"The variable {chosen.name} no longer holds a program.")
    return chosen.name, lend_program(programs_of_kernel[chosen.name])


def _programs_of_kernel() -> dict[str, Any]:
    """By name, what the main module's variables hold, each once; of a set, each of its programs."""
    main = sys.modules.get("__main__")
    result: dict[str, Any] = {}
    seen: set[int] = set()
    for name, value in list(vars(main).items()) if main else []:
        if name.startswith("_"):
            continue
        for label, item in _programs_in(name, value):
            held = getattr(item, "session", item)
            if id(held) not in seen:
                seen.add(id(held))
                result[label] = item
    return result


def _programs_in(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The programs in a variable, each with its Python expression."""
    if is_program(value):
        yield name, value
    elif type(value).__module__.startswith("explorer."):
        members = value.items() if isinstance(value, Mapping) else ()
        yield from ((f"{name}[{key!r}]", item) for key, item in members if _has_program(item))
        if _has_program(value):
            yield name, value


def _has_program(value: Any) -> bool:
    session = getattr(value, "session", None)
    return isinstance(session, Session) and not isinstance(value, Mapping) and session.entry.ok


def _is_of(value: Any, entry: Entry) -> bool:
    """Whether it is what an entry shows: as the current attempt, or as its program."""
    session = getattr(value, "session", None)
    if isinstance(session, Session):
        return session.entry.stored is entry.stored
    attempt = entry.attempt
    return attempt is not None and getattr(attempt, "program", None) is value


def _title(value: Any) -> str:
    session = getattr(value, "session", None)
    if isinstance(session, Session):
        return session.entry.record.title
    return type(value).__name__


def _files_here() -> Iterator[OtherProgram]:
    """The programs of the newest files that can be read."""
    from explorer.page.messages import OtherProgram
    from export_engine.archive import ArchiveError, program_names

    try:
        files = sorted(Path.cwd().glob("*.pt2"), key=lambda file: -file.stat().st_mtime)
    except OSError:
        return
    for file in files[:_MOST_FILES]:
        try:
            names = program_names(file)
        except ArchiveError:
            continue
        for name in names:
            yield OtherProgram(file.name, "file", model=name if len(names) > 1 else "")

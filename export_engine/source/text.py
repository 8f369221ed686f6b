"""The text of the files in a Record's stacks."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from export_engine.record import Record, SourceFile
from export_engine.source.edited_copies import original_file
from export_engine.source.highlighting import LONGEST, LONGEST_INSIDE, Token, python_lines_around
from export_engine.source.notebook_cells import as_typed

LONGEST_FILE = 5_000_000
"""Characters; a longer file is not shown."""


class SourceMissing(Exception):
    """Why a file's text is unavailable. The message can be shown unchanged."""


class Frame(NamedTuple):
    """A line that a stack of the Record goes through."""

    file: int
    """Into `Record.files`."""
    name: str
    """Of the file."""
    line: int
    function: str


def find_last_frame(record: Record, stack: int) -> Frame | None:
    """The innermost frame of a stack, by the stack's number; None for -1, the empty stack."""
    return next(_inwards_first(record, stack), None)


def find_last_user_frame(record: Record, stack: int) -> Frame | None:
    """The innermost frame of a stack that is not in torch's own modules; else the innermost."""
    frames = _inwards_first(record, stack)
    own = next((frame for frame in frames if not frame.name.startswith("torch/")), None)
    return own or find_last_frame(record, stack)


def _inwards_first(record: Record, stack: int) -> Iterator[Frame]:
    """The frames of a stack, the innermost first; none of -1."""
    stacks = record.stacks
    frames = stacks.items[stacks.starts[stack] : stacks.starts[stack + 1]] if stack >= 0 else ()
    for frame in reversed(frames):
        file = record.frames.file[frame]
        function = record.strings[record.frames.function[frame]]
        yield Frame(file, record.files[file].name, record.frames.line[frame], function)


def source_lines(record: Record, file: int, seconds: float = math.inf) -> list[list[Token]]:
    """A file of the Record, coloured, line by line; of a long one, the functions that were traced.

    Args:
        record: whose file.
        file: its number.
        seconds: CPU time, of which a file never takes more than `LONGEST`; what is not highlighted
            by then stays plain.

    Raises:
        SourceMissing: the text is not on this machine, or is not Python source.
    """
    if not 0 <= file < len(record.files):
        raise SourceMissing(f"The record has no file {file}.")
    frames = record.frames
    traced = {line for line, number in zip(frames.line, frames.file, strict=True) if number == file}
    most = LONGEST_INSIDE if record.sources_inside else LONGEST
    return python_lines_around(source_text(record, file), traced, min(seconds, most))


def source_text(record: Record, file: int) -> str:
    """A file of the Record as plain text. Raises SourceMissing."""
    entry = record.files[file]
    if entry.text:
        return entry.text
    if record.sources_inside:
        raise SourceMissing(
            f"The source of {entry.name} is not in the archive; `.save(path)` includes it. Paths "
            "in an archive are never opened."
        )
    if not _may_open(entry):
        raise SourceMissing(f"{entry.name} is not a Python file, so it is not shown.")
    lines = linecache.getlines(entry.path)
    if not lines:
        raise SourceMissing(_why_missing(entry.origin, entry.name))
    text = "".join(lines)
    if len(text) > LONGEST_FILE:
        raise SourceMissing(f"{entry.name} has {len(text):,} characters, too many to show.")
    return as_typed(text) if entry.origin == "cell" else text


def source_line(record: Record, file: int, line: int) -> str:
    """One line of a file, stripped; empty if unavailable."""
    entry = record.files[file]
    if entry.text:
        lines = _lines(entry.text)
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""
    if record.sources_inside or not _may_open(entry):
        return ""
    return linecache.getline(entry.path, line).strip()


def with_sources(record: Record) -> Record:
    """The Record with the text of its files, if available; torch's own are left out."""
    files = []
    for number, entry in enumerate(record.files):
        try:
            text = source_text(record, number) if entry.origin != "torch" else ""
        except SourceMissing:
            text = ""
        files.append(msgspec.structs.replace(entry, text=text))
    return msgspec.structs.replace(record, files=files)


@lru_cache(maxsize=32)
def _lines(text: str) -> list[str]:
    return text.splitlines()


def _may_open(entry: SourceFile) -> bool:
    """Paths in a trusted program open only cells and Python source, as it is or with fixes."""
    return entry.origin == "cell" or original_file(entry.path).endswith((".py", ".pyi"))


def _why_missing(origin: str, name: str) -> str:
    if origin == "cell":
        return f"The source of {name} was lost with its session. Run the cell again to see it."
    return (
        f"{name} is not on this machine. Open the program where it was exported to see its lines."
    )

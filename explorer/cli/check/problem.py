"""A Problem: something that a check reports, with its place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from explorer.cli.check.levels import Level

if TYPE_CHECKING:
    from export_engine.record import Record


class Problem(msgspec.Struct, frozen=True):
    """Something to report."""

    code: str
    """`EX201`; `golden` where the program differs from its golden file, `delegate` where a backend
    leaves more of it than it may."""
    level: Level
    heading: str
    sentence: str
    file: str = ""
    """The file of the user's line, relative to here if it is below; empty if unknown."""
    line: int = 0
    """From 1; 0 if unknown."""

    @property
    def place(self) -> str:
        """`model.py:12`; empty if unknown."""
        return f"{self.file}:{self.line}" if self.file else ""


def find_relative_path(record: Record, file: int) -> str:
    """The path of a file of a Record, from here where it is below; its name where it has none.

    Args:
        record: of a program.
        file: the file's number, into `record.files`.
    """
    path = Path(record.files[file].path)
    if not path.is_absolute():
        return record.files[file].name
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path)

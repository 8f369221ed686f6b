"""The rows of a survey in a file that is only appended to: a line of JSON each.

A row is written, whole or not at all, as soon as it is there. Rows that a full disk rejects are
kept and written with the next one.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from explorer.surveys.rows import Row


class Journal:
    """The file of a survey's rows."""

    def __init__(self, path: Path) -> None:
        """Make one.

        Args:
            path: of the file; it is made with the first row.
        """
        self.path = path
        self._held: list[bytes] = []
        self.problem = ""
        """Why rows could not be written; empty if all were."""

    @property
    def unwritten(self) -> int:
        """How many rows are held, since they could not be written."""
        return len(self._held)

    def add(self, row: Row) -> None:
        """Appends a row, and those that were refused before."""
        self._held.append(msgspec.json.encode(row) + b"\n")
        self.flush()

    def flush(self) -> None:
        """Writes what is held; what cannot be written stays so."""
        while self._held:
            try:
                self._append(self._held[0])
            except OSError as error:
                self.problem = f"{self.path}: {error.strerror or error}"
                return
            del self._held[0]
        self.problem = ""

    def _append(self, line: bytes) -> None:
        """Raises OSError, and leaves the file unchanged, if the line cannot be written whole."""
        end = b"" if self._ends_whole() else b"\n"
        file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            before = os.fstat(file).st_size
            try:
                left = memoryview(end + line)
                while left:
                    left = left[os.write(file, left) :]
                os.fsync(file)
            except OSError:
                os.ftruncate(file, before)
                raise
        finally:
            os.close(file)

    def _ends_whole(self) -> bool:
        """Whether the file is empty or ends with a whole line."""
        if not self.path.exists() or not self.path.stat().st_size:
            return True
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def read_rows(path: Path) -> dict[str, Row]:
    """The rows of a journal by their keys, the last of each; a line that was cut is left out.

    Raises:
        OSError: it cannot be read.
    """
    rows: dict[str, Row] = {}
    for line in path.read_bytes().splitlines():
        try:
            row = msgspec.json.decode(line, type=Row)
        except msgspec.MsgspecError:
            continue
        rows[row.key] = row
    return rows

"""Edits: source text of the user's functions, changed for one capture only.

Nothing is written to a file and no module object changes: while a capture runs, the functions
concerned run code compiled from the changed text, and then their own again.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from zlib import crc32

_MARK = re.compile(r" \(fixed [0-9a-f]{8}\)$")


@dataclass(frozen=True)
class Edit:
    """One file or notebook cell, as it is and as it should be. The whole text of both."""

    file: str
    """As Python knows it: the `co_filename` of the functions in it."""
    before: str
    after: str
    functions: tuple[str, ...]
    """Qualified names of the functions that differ: `Model.forward`."""

    @property
    def edited_file(self) -> str:
        """Python's file name of the changed text, the `co_filename` of what runs instead."""
        return f"{self.file} (fixed {crc32(self.after.encode()):08x})"

    def diff(self, name: str) -> str:
        """The change as a unified diff.

        Args:
            name: what to call the file.
        """
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), name, name, lineterm=""
        )
        return "\n".join(lines)


def unedited(path: str) -> str:
    """The file that an `edited_file` was made from; any other path as it is."""
    return _MARK.sub("", path)


@contextmanager
def edited(edits: Sequence[Edit]) -> Iterator[None]:
    """Runs the changed text of the functions concerned, wherever they are reached from."""
    if edits:
        raise NotImplementedError
    yield

"""A copy of a file that no one else can write to: what was looked at is what is loaded."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from export_engine.archive.errors import ArchiveError

_CHUNK = 1 << 20
"""Bytes that are read at a time."""
_WHOLE = 1 << 30
"""Bytes of a file that is digested whole, which takes a second; of a larger one its ends are, where
torch puts all but weights."""


class Content(NamedTuple):
    """A fingerprint of a file's content."""

    size: int
    digest: bytes
    """SHA-256."""
    changed: tuple[int, ...]
    """For a file that is not digested whole: which it is, and when it was written to, in ns."""

    @classmethod
    def of(cls, path: Path) -> Content:
        """That of a file. Raises OSError."""
        state = hashlib.sha256()
        with path.open("rb") as file:
            stat = os.fstat(file.fileno())
            whole = stat.st_size <= _WHOLE
            for start in (0,) if whole else (0, stat.st_size - _WHOLE // 2):
                file.seek(start)
                left = stat.st_size if whole else _WHOLE // 2
                while left > 0 and (piece := file.read(min(_CHUNK, left))):
                    state.update(piece)
                    left -= len(piece)
        return cls(stat.st_size, state.digest(), () if whole else _file_stamp(stat))


def _file_stamp(known: os.stat_result) -> tuple[int, ...]:
    return known.st_ino, known.st_mtime_ns, known.st_ctime_ns


@contextmanager
def private_copy(
    path: Path, expected: Content, passing: Callable[[bytes], object]
) -> Iterator[Path]:
    """A copy in a folder of this user's alone, of the same name, which goes when the block ends.

    Args:
        path: the file.
        expected: its content when it was looked at.
        passing: called with each piece of the copy's content, in order.

    Raises:
        ArchiveError: its content is another now, or it cannot be copied.
    """
    with tempfile.TemporaryDirectory(
        prefix="export-explorer-", ignore_cleanup_errors=True
    ) as folder:
        copy = Path(folder) / path.name
        try:
            with path.open("rb") as source, copy.open("wb") as target:
                while piece := source.read(_CHUNK):
                    passing(piece)
                    target.write(piece)
                changed = _file_stamp(os.fstat(source.fileno())) if expected.changed else ()
            same = Content.of(copy)._replace(changed=changed) == expected
        except OSError as error:
            raise ArchiveError(f"{path} cannot be copied to be loaded: {error}") from error
        if not same:
            raise ArchiveError(f"{path.name} has changed since it was opened. Load it again.")
        yield copy

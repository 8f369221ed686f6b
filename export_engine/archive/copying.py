"""A copy of a file that no one else can write to: what is checked is what is loaded."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from export_engine.archive.errors import ArchiveError

_CHUNK = 1 << 20
"""Bytes that are copied at a time."""


class Identity(NamedTuple):
    """What changes when a file is written to or replaced."""

    device: int
    inode: int
    size: int
    modified: int
    """Nanoseconds."""

    @classmethod
    def of(cls, path: Path) -> Identity:
        """That of a file. Raises OSError."""
        return cls.from_stat(path.stat())

    @classmethod
    def from_stat(cls, known: os.stat_result) -> Identity:
        """That of the file that was asked."""
        return cls(known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns)


@contextmanager
def private_copy(
    path: Path, expected: Identity, passing: Callable[[bytes], object]
) -> Iterator[Path]:
    """A copy in a folder of this user's alone, which goes when the block ends.

    Args:
        path: the file.
        expected: what it was when it was looked at.
        passing: called with each piece of the content, in order.

    Raises:
        ArchiveError: it is another file now, or it cannot be copied.
    """
    with tempfile.TemporaryDirectory(
        prefix="export-explorer-", ignore_cleanup_errors=True
    ) as folder:
        copy = Path(folder) / "program.pt2"
        try:
            with path.open("rb") as source, copy.open("wb") as target:
                _check_same(path, source.fileno(), expected)
                while piece := source.read(_CHUNK):
                    passing(piece)
                    target.write(piece)
                _check_same(path, source.fileno(), expected)
        except OSError as error:
            raise ArchiveError(f"{path} cannot be copied to be loaded: {error}") from error
        yield copy


def _check_same(path: Path, handle: int, expected: Identity) -> None:
    if Identity.from_stat(os.fstat(handle)) != expected:
        raise ArchiveError(f"{path.name} has changed since it was opened. Load it again.")

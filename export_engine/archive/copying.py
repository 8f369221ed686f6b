"""A private copy of a file, so that what is checked is what is loaded."""

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
    """The identity of a file, which changes when it is written or replaced."""

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
        """The identity of the original file."""
        return cls(known.st_dev, known.st_ino, known.st_size, known.st_mtime_ns)


@contextmanager
def private_copy(
    path: Path, expected: Identity, passing: Callable[[bytes], object]
) -> Iterator[Path]:
    """A copy in a private temporary folder, deleted when the block ends.

    Args:
        path: the file.
        expected: its identity when it was read.
        passing: called with each piece of the content, in order.

    Raises:
        ArchiveError: the file has changed, or it cannot be copied.
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

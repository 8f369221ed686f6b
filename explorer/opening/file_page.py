"""The view of a `.pt2` file for a page without a kernel: the file is read as data."""

from __future__ import annotations

from pathlib import Path

from explorer.display.report import encode_page
from explorer.exploration import Exploration
from explorer.opening.diffing import diff
from explorer.opening.loading import load
from export_engine.archive import ArchiveError, program_names


def page_of_file(path: Path, before: Path | None = None) -> bytes:
    """`messages.Frozen` as JSON, of all programs of a file.

    Args:
        path: the file.
        before: a file with which it is compared; of either the first program.

    Raises:
        ArchiveError: one of them is not an archive of a program; the text is a sentence.
    """
    if before is None:
        return encode_page(load(path).session)
    try:
        other = _first(before)
    except ArchiveError as error:
        raise ArchiveError(f"{before.name}: {error}") from error
    return encode_page(diff(other, _first(path)).session(), compared=0)


def _first(path: Path) -> Exploration:
    names = program_names(path)
    return load(path, model=names[0] if names else "")

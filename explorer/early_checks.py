"""Checks that need no export: a mistyped table, a file that cannot be written.

An export may take minutes, so mistakes in the later steps are reported first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from explorer.session import Table


def check_ahead(table: Table | None = None, files: Iterable[str | Path | None] = ()) -> None:
    """Raises what a later step would raise.

    Args:
        table: the decomposition table to apply; None for no decomposition.
        files: paths to be written; None and empty ones are skipped.

    Raises:
        ValueError: the table is unknown, or names an op without a decomposition.
        OSError: a file cannot be written where it should be.
    """
    for file in files:
        if file:
            check_writable(Path(file))
    if table:
        from export_engine.attempt import DecompositionTable

        DecompositionTable.of(table).to_torch()


def check_writable(file: Path) -> None:
    """Raises OSError, with a sentence, where a file cannot be written. Nothing is written."""
    folder = file.parent
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder. Give the path of a file.")
    if not folder.exists():
        raise FileNotFoundError(f"{file} cannot be written: No such file or directory: {folder}")
    if not folder.is_dir():
        raise NotADirectoryError(f"{file} cannot be written: {folder} is not a folder.")
    if not os.access(folder, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        raise PermissionError(f"{file} cannot be written: permission denied.")

"""Checks that need no export: a mistyped table or backend, a file that cannot be written.

An export may take minutes, so mistakes in the later steps are reported first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from export_engine.plain_errors import NotWritable


def check_ahead(
    table: str | Mapping[Any, Callable[..., Any]] | None = None,
    files: Iterable[str | Path | None] = (),
    device: str | None = None,
    backend: str | None = None,
) -> None:
    """Raises what a later step would raise.

    Args:
        table: the decomposition table to apply; None for no decomposition.
        files: paths to be written; None and empty ones are skipped.
        device: where the program is to run; None for nowhere in particular.
        backend: names of backends to run it with, or `all`; None for the usual ones.

    Raises:
        ValueError: the table is unknown, or names an op without a decomposition; torch has no such
            kind of device, or there is no such backend.
        OSError: a file cannot be written where it should be.
    """
    for file in files:
        if file:
            check_writable(Path(file))
    if table:
        from export_engine.attempt import DecompositionTable

        DecompositionTable.of(table).to_torch()
    if device or backend:
        from export_engine.run import check_names, full_name

        full_name(device or "cpu")
        check_names(backend)


def check_writable(file: Path) -> None:
    """Raises NotWritable where a file cannot be written. Nothing is written."""
    folder = file.parent
    if file.is_dir():
        raise NotWritable(f"{file} is a folder. Pass the path of a file.")
    if not folder.exists():
        raise NotWritable(f"{file} cannot be written: No such file or directory: {folder}")
    if not folder.is_dir():
        raise NotWritable(f"{file} cannot be written: {folder} is not a folder.")
    if not os.access(folder, os.W_OK) or (file.exists() and not os.access(file, os.W_OK)):
        raise NotWritable(f"{file} cannot be written: permission denied.")

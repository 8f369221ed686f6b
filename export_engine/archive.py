"""`.pt2` files → Attempt. Opening one never runs code from it without being asked.

A `.pt2` is a zip file. torch reads the graph from JSON; tensors that are no plain bytes and example
inputs are pickles, which torch unpickles with its restricted loader (`weights_only`).
"""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import torch

from export_engine.attempt import Exported
from export_engine.quiet import quiet
from export_engine.recorder import Recording


class ArchiveError(ValueError):
    """A file that cannot be opened as an exported program. Its text can be shown as it is."""


def load(path: str | os.PathLike[str]) -> Exported:
    """Opens a `.pt2` file that `torch.export.save` wrote.

    Raises:
        ArchiveError: there is no such file, or it is not a program that this torch can read.
    """
    file = Path(path)
    _check_readable(file)
    try:
        with quiet() as heard:
            program = torch.export.load(file)
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ArchiveError(
            f"{file.name} is a zip file but torch {torch.__version__} cannot read a program from "
            f"it: {reason} If another version of torch saved it, open it with that version."
        ) from error
    return Exported(
        request=None,
        recording=Recording(),
        program=program,
        warnings=heard.warnings,
        printed=heard.printed,
        title=file.name,
    )


def _check_readable(file: Path) -> None:
    """Says in a sentence what torch would say in a page."""
    if not file.is_file():
        kind = "is a folder" if file.is_dir() else "does not exist"
        raise ArchiveError(f"{file} {kind}. Give the path of a .pt2 file.")
    if file.stat().st_size == 0:
        raise ArchiveError(
            f"{file.name} is empty: saving it did not finish. Save the program again."
        )
    if not zipfile.is_zipfile(file):
        raise ArchiveError(
            f"{file.name} is not a .pt2 archive: it is no zip file, or it was cut off. "
            "Write one with torch.export.save(program, path)."
        )

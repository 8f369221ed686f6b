"""A set of programs → one `.pt2` file. A weight that several hold is in it once."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import torch

from export_engine.archive.errors import ArchiveError
from export_engine.archive.parts import GENERATION, RECORD_OF, SET
from export_engine.archive.set_reading import KeptSet
from export_engine.archive.torch_archive import write_file
from export_engine.record import GenerationPlan, Record, to_json
from export_engine.source import with_sources
from export_engine.torch_internals import package_programs

NAME = re.compile(r"[A-Za-z0-9_][\w.-]*")
"""A program's name is part of the names of members."""
_EXTRA = "extra/"
"""Where torch puts extra files."""


def save_set(
    programs: Mapping[str, torch.export.ExportedProgram],
    records: Mapping[str, Record],
    kept: KeptSet,
    path: str | os.PathLike[str],
    written: Callable[[memoryview], object] | None = None,
    plan: GenerationPlan | None = None,
) -> Path:
    """Writes programs, with their Records, into one file, in torch's format for several.

    An existing file is replaced once the new one is complete.

    Args:
        programs: by name.
        records: of each.
        kept: what is known of them together.
        path: where to.
        written: called with each piece of the file's content, in order, as torch writes it.
        plan: how they generate, where that is known.

    Raises:
        ArchiveError: torch cannot save one of them, or the file cannot be written.
    """
    wrong = [name for name in programs if not NAME.fullmatch(name)]
    if wrong:
        raise ArchiveError(
            f"{wrong[0]!r} is not a valid program name: use letters, digits, `_`, `.` and `-`."
        )
    extra = {
        RECORD_OF.format(name).removeprefix(_EXTRA): to_json(with_sources(record)).decode()
        for name, record in records.items()
    }
    extra[SET.removeprefix(_EXTRA)] = msgspec.json.encode(kept).decode()
    if plan is not None:
        extra[GENERATION.removeprefix(_EXTRA)] = msgspec.json.encode(plan).decode()
    return write_file(path, lambda file: package_programs(file, dict(programs), extra), written)

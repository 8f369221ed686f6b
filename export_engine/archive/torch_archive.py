"""Attempt ↔ `.pt2` files: programs are loaded from trusted files and saved.

Trusted or not, as little as possible runs: pickles (example inputs and some tensors) are read only
with torch's restricted loader (`weights_only`), the text of sizes is checked before sympy evaluates
it, and compiled libraries are not loaded (`torch_internals/loading.py`). Beside torch's own
members, `save` puts the Record into the file, with the text of the source files: what a program
alone does not keep, such as guards with their lines. Other tools read the file as it is.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from export_engine.archive.errors import ArchiveError
from export_engine.archive.kept import PLAIN
from export_engine.attempt import Exported
from export_engine.capture import quiet
from export_engine.process import sandbox
from export_engine.record import OPS, Record, check_record, from_json, to_json
from export_engine.source import with_sources
from export_engine.torch_internals import CodeInside, nothing_run
from export_engine.trace import Recording

if TYPE_CHECKING:
    from typing_extensions import Buffer

_MOST_UNPACKED = 2**28
"""Bytes that any file may unpack to."""
_MOST_TIMES = 100
"""Unpacked bytes allowed in a larger file, as a multiple of its size."""
RECORD = "export_explorer/record.json"
"""The member that holds the Record, under torch's folder for extra files."""
_UNREADABLE = "Export Explorer's Record in the file cannot be read"
_OTHER = "Export Explorer's Record in the file is of another program."


def load(path: str | os.PathLike[str], *, name: str = "", known: Record | None = None) -> Exported:
    """Loads the program of a `.pt2` file that `torch.export.save` wrote. Trust the file first.

    Args:
        path: the file.
        name: its title, if other than the file's name.
        known: what was read from it as data, to be kept with the program.

    Raises:
        ArchiveError: there is no such file, or it is not a program that this torch can read.
    """
    file = Path(path)
    name = name or file.name
    _check_readable(file)
    extra: dict[str, Any] = {RECORD: ""}
    try:
        with sandbox(), quiet() as heard, nothing_run() as left_out:
            program = torch.export.load(file, extra_files=extra)
    except CodeInside as error:
        raise ArchiveError(f"{name} is not opened: {error}") from error
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ArchiveError(
            f"{name} is a zip file but torch {torch.__version__} cannot read a program from "
            f"it: {reason} If another version of torch saved it, open it with that version."
        ) from error
    missing: list[str] = []
    rich = known is not None and not any(each.endswith(PLAIN) for each in known.warnings)
    kept = known if known is not None and rich and _is_about(known, program) else None
    if kept is None:
        kept, missing = _kept(program, extra.get(RECORD))
    return Exported(
        request=None,
        recording=Recording(),
        program=program,
        kept=kept,
        warnings=[*heard.warnings, *left_out, *missing],
        printed=heard.printed,
        title=name,
    )


def save(
    attempt: Exported,
    record: Record,
    path: str | os.PathLike[str],
    written: Callable[[memoryview], object] | None = None,
) -> Path:
    """Writes a program and its Record to a `.pt2` file.

    An existing file is replaced once the new one is complete.

    Args:
        attempt: whose program.
        record: the attempt, described.
        path: where to.
        written: called with each piece of the file's content, in order, as torch writes it.

    Returns:
        The path.

    Raises:
        ArchiveError: torch cannot save this program, or the file cannot be written.
    """
    file = Path(path)
    unfinished = file.with_name(f".{file.name}.unfinished.pt2")
    text = to_json(with_sources(record)).decode()
    try:
        with sandbox(), quiet(), _Heard(unfinished, written) as opened:
            torch.export.save(attempt.program, opened, extra_files={RECORD: text})
        unfinished.replace(file)
    except Exception as error:
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        raise ArchiveError(f"{file} cannot be written: {reason}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return file


class _Heard(io.BufferedWriter):
    """A file object that reports what is written to it."""

    def __init__(self, path: Path, written: Callable[[memoryview], object] | None) -> None:
        super().__init__(io.FileIO(path, "w"))
        self._written = written

    def write(self, data: Buffer) -> int:
        if self._written:
            self._written(memoryview(data))
        return super().write(data)


def _kept(program: torch.export.ExportedProgram, text: Any) -> tuple[Record | None, list[str]]:
    """The Record in a file, if it is of this program; else a sentence that says why not."""
    if not text or not isinstance(text, str):
        return None, [PLAIN]
    try:
        record = from_json(text)
        check_record(record)
    except ValueError as error:
        return None, [f"{_UNREADABLE} ({error}). {PLAIN}"]
    if not _is_about(record, program):
        return None, [f"{_OTHER} {PLAIN}"]
    return record, []


def _is_about(record: Record, program: torch.export.ExportedProgram) -> bool:
    return record.outcome == "exported" and _nodes(record) == _program_nodes(program)


def _nodes(record: Record) -> list[str]:
    """Names of the main graph's nodes. torch renames nested graphs when it saves them."""
    if not record.graphs:
        return []
    graph = record.graphs[0]
    nested = OPS.index("get_attr")
    return [
        record.strings[name] for name, op in zip(graph.name, graph.op, strict=True) if op != nested
    ]


def _program_nodes(program: torch.export.ExportedProgram) -> list[str]:
    return [node.name for node in program.graph.nodes if node.op != "get_attr"]


def _is_zip(file: Path) -> bool:
    try:
        return zipfile.is_zipfile(file)
    except zipfile.BadZipFile:  # on some damaged files, older Pythons raise here
        return False


def _check_readable(file: Path) -> None:
    """Rejects what is not a zip file with a sentence, before torch does with a page."""
    if not file.is_file():
        kind = "is a folder" if file.is_dir() else "does not exist"
        raise ArchiveError(f"{file} {kind}. Give the path of a .pt2 file.")
    if file.stat().st_size == 0:
        raise ArchiveError(
            f"{file.name} is empty: saving it did not finish. Save the program again."
        )
    if not _is_zip(file):
        raise ArchiveError(
            f"{file.name} is not a .pt2 archive: it is not a zip file, or it is truncated. "
            "Write one with torch.export.save(program, path)."
        )
    _check_members(file)


def _check_members(file: Path) -> None:
    """Refuses a file that unpacks to far more than it is.

    torch packs without compressing.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
    except Exception as error:  # zipfile raises its parts' errors, as for an undecodable name
        raise ArchiveError(f"{file.name} is a broken zip file: {error}. Save it again.") from error
    unpacked = sum(info.file_size for info in members)
    if unpacked > _MOST_UNPACKED and unpacked > _MOST_TIMES * file.stat().st_size:
        raise ArchiveError(
            f"{file.name} would unpack to {unpacked:,} bytes, far more than a program of its size "
            "holds. If you trust it, unpack it and pack it again without compression."
        )

"""Attempt ↔ `.pt2` files: programs are loaded from trusted files and saved.

The file is read as data first; one that the reader refuses is not loaded. Trusted or not, as little
as possible runs: pickles (example inputs and some tensors) are read only with torch's restricted
loader (`weights_only`), the text of sizes is checked by the reader's grammar before sympy evaluates
it, and compiled libraries are not loaded (`torch_internals/loading.py`). Beside torch's own
members, `save` puts the Record into the file, with the text of the source files: what a program
alone does not keep, such as guards with their lines. Other tools read the file as it is.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING

import torch

from export_engine.archive.errors import ArchiveError
from export_engine.archive.missing_operators import missing_operators
from export_engine.archive.reading import ReadArchive, read
from export_engine.attempt import Exported, import_saved_class
from export_engine.capture import quiet
from export_engine.defects import log_internal_error
from export_engine.error_text import error_text
from export_engine.process import sandbox, whole
from export_engine.record import Record, to_json
from export_engine.sizes import UnreadableError, has_tower, parse_size
from export_engine.source import with_sources
from export_engine.torch_internals import (
    CodeInside,
    UnregisteredContainer,
    load_program,
    nothing_run,
)
from export_engine.trace import Recording

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from typing_extensions import Buffer

RECORD = "export_explorer/record.json"
"""The member that holds the Record, under torch's folder for extra files."""


def load(
    path: str | os.PathLike[str], *, model: str | None = None, known: ReadArchive | None = None
) -> Exported:
    """Loads a program of a `.pt2` file that torch wrote. Trust the file first.

    Args:
        path: the file.
        model: which of its programs; the first by default.
        known: what was read of it as data, where it was.

    Raises:
        ArchiveError: there is no such file or program, or this torch cannot read it.
    """
    file = Path(path)
    read_archive = read(file, model) if known is None else known
    name = read_archive.record.title
    try:
        with sandbox(), quiet() as heard, nothing_run(_is_size) as left_out:
            program = _load(file, read_archive.model)
    except CodeInside as error:
        raise ArchiveError(f"{name} is not opened: {error}") from error
    except Exception as error:
        advice = missing_operators(read_archive.record.targets) or _advice(error)
        raise ArchiveError(
            f"torch {torch.__version__} cannot read a program from {name}: {advice}"
        ) from error
    return Exported(
        request=None,
        recording=Recording(),
        program=program,
        kept=read_archive.record if read_archive.kept else None,
        warnings=[
            *heard.warnings,
            *left_out,
            *([] if read_archive.kept else read_archive.record.warnings),
        ],
        printed=heard.printed,
        title=name,
    )


def _load(file: Path, model: str) -> ExportedProgram:
    """The program, once every class of transformers is registered that its call is made of.

    They stay registered, since it cannot be called without; those of one that fails do not.
    """
    tried: set[str] = set()
    with ExitStack() as registered:
        while True:
            try:
                program: ExportedProgram = load_program(file, model)
                registered.pop_all()
                return program
            except UnregisteredContainer as error:
                needed = import_saved_class(error.name) if error.name not in tried else None
                if needed is None:
                    raise
                tried.add(error.name)
                registered.callback(needed.install())


def _advice(error: Exception) -> str:
    """Why a program is not loaded, and what to do."""
    if isinstance(error, UnregisteredContainer):
        return (
            f"Its call accepts or returns a `{error.name}`, which is not registered as a pytree. "
            "Import the code that registers it, or call `torch.export.register_dataclass` or "
            "`torch.utils._pytree.register_pytree_node` as you did before the export, then load "
            "the file again."
        )
    return (
        f"{error_text(error, 300)} If another version of torch saved it, open it with that version."
    )


def _is_size(text: str) -> bool:
    """Whether a text is arithmetic that sympy works out in no time."""
    try:
        return not has_tower(parse_size(text))
    except UnreadableError:
        return False


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
    text = to_json(with_sources(record)).decode()
    return write_file(
        path,
        lambda file: torch.export.save(attempt.program, file, extra_files={RECORD: text}),
        written,
    )


def write_file(
    path: str | os.PathLike[str],
    write: Callable[[IO[bytes]], object],
    written: Callable[[memoryview], object] | None = None,
) -> Path:
    """Has torch write a file, which replaces an existing one once it is complete.

    Args:
        path: where to.
        write: writes it.
        written: called with each piece of its content, in order.

    Raises:
        ArchiveError: it cannot be written.
    """
    file = Path(path)
    unfinished = file.with_name(f".{file.name}.unfinished.pt2")
    try:
        with sandbox(), quiet(), _Heard(unfinished, written) as opened:
            write(opened)
            opened.check()
        unfinished.replace(file)
    except Exception as error:
        system = error.strerror if isinstance(error, OSError) else None  # without our file's name
        reason = system or error_text(error, 300)
        raise ArchiveError(f"{file} cannot be written: {reason}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return file


class _Heard(io.BufferedWriter):
    """A file object that reports what is written to it, and that never fails while torch writes.

    torch's writer is in C++. After an error, or an interrupt, in the middle of a record its
    destructor ends the process ("unexpected pos", measured with torch 2.13). So the first error is
    kept, what comes after it is dropped, and `check` raises it once torch is done.
    """

    def __init__(self, path: Path, written: Callable[[memoryview], object] | None) -> None:
        super().__init__(io.FileIO(path, "w"))
        self._written = written
        self._failed: BaseException | None = None

    @whole
    def write(self, data: Buffer) -> int:
        view = memoryview(data)
        if self._failed is None:
            try:
                if self._written:
                    self._written(view)
                super().write(data)
            except BaseException as error:  # noqa: BLE001 - `check` raises it
                log_internal_error(error, "writing a file")
                self._failed = error
        return view.nbytes

    def check(self) -> None:
        """Raises the error that a write had."""
        if self._failed is not None:
            raise self._failed

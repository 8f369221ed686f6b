"""A `.pt2` file opened as data: an attempt whose program is loaded once the file is trusted.

Loading a hostile program runs code: torch unpickles, compiles and imports what it says.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.session.stored import CannotLoad, StoredAttempt
from explorer.session.trusted_files import Signer, may_be_known, not_kept
from explorer.text.validate_options import check_writable
from export_engine.archive import ArchiveError, Content, private_copy, read, read_set

if TYPE_CHECKING:
    from export_engine.archive import HeldWeight, KeptSet, ReadSet
    from export_engine.attempt import Exported
    from export_engine.findings import Finding
    from export_engine.progress import Report
    from export_engine.record import GenerationPlan, Record

_CHUNK = 1 << 20


@dataclass(frozen=True)
class OpenedFile(StoredAttempt):
    """A program in a file that was opened as data."""

    path: Path
    content: Content
    """The file's content when read; if it has changed since, its program is not loaded."""
    model: str
    """Which of its programs."""
    record: Record
    trust: Literal["", "signed", "said", "to keep"] = ""
    """Why its program may be loaded:

    this user saved or trusted it before; the caller said so; or the user just trusted it, which is
    to be remembered.
    """

    @property
    def name(self) -> str:
        """The file's."""
        return self.path.name

    @property
    def ok(self) -> bool:
        return self.record.outcome == "exported"

    @property
    def in_file(self) -> bool:
        return True

    @property
    def untrusted(self) -> str:
        return "" if self.trust else self.name

    def describe(self, verify_findings: tuple[Finding, ...]) -> Record:
        return self.record

    def weights(self, names: Collection[str]) -> Mapping[str, HeldWeight] | None:
        from export_engine.archive import weights_in

        try:
            return weights_in(self.path, self.model)
        except ArchiveError:  # it was moved since it was opened
            return None

    def constants(self) -> dict[str, bytes]:
        from export_engine.archive import constants_in

        try:
            return constants_in(self.path, self.model)
        except ArchiveError:  # it was moved since it was opened
            return {}

    def trust_file(self) -> OpenedFile:
        return replace(self, trust="to keep")

    def load(self, parent: Callable[[], Exported], progress: Report | None = None) -> Exported:
        """Loads its program from a private copy; see `StoredAttempt.load`."""
        try:
            return self._load()
        except ArchiveError as error:
            raise CannotLoad(str(error)) from error

    def _load(self) -> Exported:
        """The program. Raises ArchiveError: the file has changed, or torch cannot load it."""
        from export_engine.archive import load

        signer, note = _signer()
        passing = signer.update if signer else _unheard
        with private_copy(self.path, self.content, passing) as copy:
            read_archive = read(copy, self.model)
            if read_archive.record != self.record:  # it was another while it was read
                raise ArchiveError(f"{self.name} has changed since it was opened. Load it again.")
            if self.trust == "signed" and not (signer and signer.is_known()):
                raise ArchiveError(f"{self.name} has changed since it was opened. Load it again.")
            if self.trust == "to keep" and signer:
                note = signer.keep()
            exported = load(copy, known=read_archive)
        if self.trust != "to keep" or not note:
            return exported
        return replace(exported, warnings=[*exported.warnings, note])


def read_file(path: str | Path, *, trusted: bool, model: str | None = None) -> OpenedFile:
    """Opens a file as data. Nothing in it is run.

    Args:
        path: the file.
        trusted: whether the caller trusts it.
        model: which of its programs; the first by default.

    Raises:
        ArchiveError: there is no such file or program, or it is not an archive of a program.
    """
    file = Path(path)
    read_archive = read(file, model)
    content, trust = _content_and_trust(file, trusted)
    return OpenedFile(file, content, read_archive.model, read_archive.record, trust)


def read_set_file(path: str | Path, *, trusted: bool) -> tuple[dict[str, OpenedFile], ReadSet]:
    """Opens all programs of a file as data, in the order in which they are called.

    Raises:
        ArchiveError: as `read_file` raises it.
    """
    file = Path(path)
    result = read_set(file)
    content, trust = _content_and_trust(file, trusted)
    files = {
        name: OpenedFile(file, content, name, program.archive.record, trust)
        for name, program in result.programs.items()
    }
    return files, result


def _content_and_trust(file: Path, trusted: bool) -> tuple[Content, Literal["", "signed", "said"]]:
    try:
        content = Content.of(file)
    except OSError as error:
        raise ArchiveError(f"{file} cannot be opened: {error}") from error
    if trusted:
        return content, "said"
    return content, "signed" if is_signed(file) else ""


def save_set_signed(
    exported: Mapping[str, Exported],
    records: Mapping[str, Record],
    kept: KeptSet,
    path: str | Path,
    plan: GenerationPlan | None = None,
) -> Path:
    """Writes several programs to a file and trusts it on this machine; see `archive.save_set`."""
    from export_engine.archive import save_set

    _check_target(path)
    programs = {name: item.program for name, item in exported.items()}
    return _sign(lambda written: save_set(programs, records, kept, path, written, plan))


def save_signed(exported: Exported, record: Record, path: str | Path) -> Path:
    """Writes a program to a file and trusts it on this machine; see `archive.save`."""
    from export_engine.archive import save

    _check_target(path)
    return _sign(lambda written: save(exported, record, path, written=written))


def _check_target(path: str | Path) -> None:
    """Refuses a file that cannot be written.

    Raises:
        ArchiveError: it cannot be written where it should be.
    """
    try:
        check_writable(Path(path))
    except OSError as error:
        raise ArchiveError(str(error)) from None


def _sign(save: Callable[[Callable[[memoryview], object] | None], Path]) -> Path:
    """Has a file written, and signs what was written."""
    signer, note = _signer()
    file = save(signer.update if signer else None)
    if signer:
        note = signer.keep()
    if note:
        logging.getLogger("export_explorer").warning(note)
    return file


def is_signed(file: Path) -> bool:
    """Whether this user saved these bytes here, or trusted them before."""
    with suppress(OSError):
        if may_be_known(file.stat().st_size):
            signer = Signer()
            with file.open("rb") as opened:
                while piece := opened.read(_CHUNK):
                    signer.update(piece)
            return signer.is_known()
    return False


def _signer() -> tuple[Signer | None, str]:
    """A signer, or why there is none."""
    try:
        return Signer(), ""
    except OSError as error:
        return None, not_kept(error)


def _unheard(_: bytes) -> None:
    """A signer that signs nothing."""

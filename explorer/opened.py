"""A `.pt2` file that was opened as data: an attempt whose program is made once the file is trusted.

Making a program runs code from a hostile file: torch unpickles, compiles and imports as it says.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.signatures import Signer, may_be_known, not_kept
from export_engine.archive import ArchiveError, Identity, private_copy, read

if TYPE_CHECKING:
    from export_engine.attempt import Exported
    from export_engine.record import Record

_CHUNK = 1 << 20


@dataclass(frozen=True)
class OpenedFile:
    """A file that was opened as data."""

    path: Path
    identity: Identity
    """What was read; a file that changed since is not made a program of."""
    record: Record
    trust: Literal["", "signed", "said", "to keep"] = ""
    """Why a program may be made of it: this user saved it or trusted it before; the caller said so;
    the user says so, and it is to be known from now on."""

    @property
    def name(self) -> str:
        """The file's."""
        return self.path.name

    def trusted(self) -> OpenedFile:
        """The same file, which the user trusts from now on."""
        return replace(self, trust="to keep")

    def make(self) -> Exported:
        """Makes its program, of a private copy.

        Raises:
            ArchiveError: the file has changed, or this torch cannot make a program of it.
        """
        from export_engine.archive import load

        signer, note = _signer()
        passing = signer.update if signer else _unheard
        with private_copy(self.path, self.identity, passing) as copy:
            if self.trust == "signed" and not (signer and signer.is_known()):
                raise ArchiveError(f"{self.name} has changed since it was opened. Load it again.")
            if self.trust == "to keep" and signer:
                note = signer.keep()
            made = load(copy, name=self.name, known=self.record)
        if self.trust != "to keep" or not note:
            return made
        return replace(made, warnings=[*made.warnings, note])


def opened_file(path: str | Path, *, trusted: bool) -> OpenedFile:
    """Opens a file as data. Nothing in it is run.

    Args:
        path: the file.
        trusted: whether the caller trusts it.

    Raises:
        ArchiveError: there is no such file, or it is no archive of a program.
    """
    file = Path(path)
    try:
        before = Identity.of(file)
    except OSError:
        before = None
    record = read(file).record
    try:
        known = Identity.of(file)
    except OSError as error:
        raise ArchiveError(f"{file} cannot be opened: {error}") from error
    if known != before:
        raise ArchiveError(f"{file.name} changed while it was opened. Load it again.")
    trust: Literal["", "signed", "said"] = "said" if trusted else ""
    if not trusted and is_signed(file):
        trust = "signed"
    return OpenedFile(file, known, record, trust)


def save_signed(exported: Exported, record: Record, path: str | Path) -> Path:
    """Writes a program into a file that is trusted here from then on; see `archive.save`."""
    from export_engine.archive import save

    signer, note = _signer()
    file = save(exported, record, path, written=signer.update if signer else None)
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
    """A signer; where there can be none, why."""
    try:
        return Signer(), ""
    except OSError as error:
        return None, not_kept(error)


def _unheard(_: bytes) -> None:
    """Nobody signs."""

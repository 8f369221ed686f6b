"""Which `.pt2` files this user saved or trusts here: signatures, like Jupyter's for notebooks.

A signature is an HMAC-SHA256 of a file's whole content by a secret of this user on this machine; a
file that was changed since, or that comes from elsewhere, has none. `nbformat.sign` signs the cells
of notebooks, and importing it takes seconds; this is the same idea for files.

Nothing here makes a save or a load fail: if the secret or the database cannot be used, files count
as not signed, and `keep` says why.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from explorer.session.data_folder import data_folder

MOST = 4096
"""How many signatures are kept; the oldest are dropped."""
_SECRET_BYTES = 32
_WAIT = 2.0
"""Seconds to wait for another process to release the database."""
_TABLE = """
CREATE TABLE IF NOT EXISTS signed (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    signature TEXT NOT NULL UNIQUE,
    bytes INTEGER NOT NULL
)"""


class Signer:
    """Signs bytes as they are read or written."""

    def __init__(self) -> None:
        """Make one. Raises OSError: there is no secret, and none can be made."""
        self._state = hmac.new(_secret(), digestmod=hashlib.sha256)
        self.bytes = 0

    def update(self, data: bytes | memoryview) -> None:
        """Takes the next bytes of the content."""
        self._state.update(data)
        self.bytes += len(data)

    def keep(self) -> str:
        """Remembers the signed content as this user's.

        Returns:
            Why that failed, as a sentence; empty if it worked.
        """
        try:
            with _database() as database:
                database.execute(
                    "INSERT OR REPLACE INTO signed (signature, bytes) VALUES (?, ?)",
                    (self._state.hexdigest(), self.bytes),
                )
                database.execute(
                    "DELETE FROM signed WHERE number <= (SELECT MAX(number) FROM signed) - ?",
                    (MOST,),
                )
        except (OSError, sqlite3.Error) as error:
            return not_kept(error)
        return ""

    def is_known(self) -> bool:
        """Whether the signed content is known."""
        with suppress(OSError, sqlite3.Error), _database() as database:
            result = database.execute(
                "SELECT 1 FROM signed WHERE signature = ?", (self._state.hexdigest(),)
            )
            return result.fetchone() is not None
        return False


def may_be_known(size: int) -> bool:
    """Whether any file of this size was kept; if not, there is no need to read it."""
    if not _file().exists():
        return False
    with suppress(OSError, sqlite3.Error), _database() as database:
        result = database.execute("SELECT 1 FROM signed WHERE bytes = ? LIMIT 1", (size,))
        return result.fetchone() is not None
    return False


def not_kept(error: Exception) -> str:
    """A note that says why a file was not signed."""
    return (
        f"Could not save trust for this file in {_file().parent}: {error}. "
        "Pass trusted=True next time."
    )


def _file() -> Path:
    return data_folder() / "signatures.sqlite"


@contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """The database, in a transaction. A broken one is set aside and created again."""
    file = _file()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        opened = _connect(file)
    except sqlite3.OperationalError:  # locked or read-only: it may be intact
        raise
    except sqlite3.DatabaseError:
        file.replace(file.with_suffix(".broken.sqlite"))
        opened = _connect(file)
    with closing(opened), opened:
        yield opened


def _connect(file: Path) -> sqlite3.Connection:
    opened = sqlite3.connect(file, timeout=_WAIT)
    try:
        with suppress(OSError):
            file.chmod(0o600)
        opened.execute(_TABLE)
        columns = [name for _, name, *_ in opened.execute("PRAGMA table_info(signed)")]
        well = opened.execute("PRAGMA quick_check(1)").fetchone()
        if columns != ["number", "signature", "bytes"] or well != ("ok",):
            raise sqlite3.DatabaseError("not a database of signatures")
    except BaseException:
        opened.close()
        raise
    return opened


def _secret() -> bytes:
    """This user's secret, created on first use. Raises OSError if it cannot be trusted."""
    file = data_folder() / "signatures.secret"
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not file.exists():
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=file.name)  # mode 0600
        try:
            with os.fdopen(handle, "wb") as opened:
                opened.write(os.urandom(_SECRET_BYTES))
            with suppress(FileExistsError):  # atomic: another process may have been first
                os.link(name, file)
        finally:
            Path(name).unlink()
    with file.open("rb") as opened:
        status = os.fstat(opened.fileno())
        data = opened.read(_SECRET_BYTES + 1)
    if hasattr(os, "getuid") and (
        status.st_uid != os.getuid() or stat.S_IMODE(status.st_mode) & 0o077
    ):
        raise PermissionError(f"{file.name} is readable by others; delete it to create a new one")
    if len(data) != _SECRET_BYTES:
        raise OSError(f"{file.name} is corrupt; delete it to create a new one")
    return data

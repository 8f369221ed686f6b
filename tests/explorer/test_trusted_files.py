"""Files that this user saved are known again; nothing that goes wrong with that stops a save."""

from __future__ import annotations

import os
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from explorer.session import trusted_files
from explorer.session.data_folder import FOLDER
from explorer.session.trusted_files import Signer, may_be_known


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER, str(tmp_path / "data"))
    return tmp_path / "data"


def signed(*parts: bytes) -> Signer:
    signer = Signer()
    for part in parts:
        signer.update(part)
    return signer


def test_what_was_kept_is_known_however_it_is_cut() -> None:
    assert signed(b"a", b"bc").keep() == ""
    assert signed(b"abc").is_known()
    assert signed(b"ab", b"c").is_known()
    assert not signed(b"abd").is_known()
    assert not signed(b"").is_known()


def test_a_file_of_another_size_need_not_be_read() -> None:
    assert not may_be_known(3)
    signed(b"abc").keep()
    assert may_be_known(3)
    assert not may_be_known(4)


def test_a_signature_means_nothing_under_another_secret(folder: Path) -> None:
    signed(b"abc").keep()
    (folder / "signatures.secret").unlink()
    assert not signed(b"abc").is_known()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_secret_and_database_are_this_users_alone(folder: Path) -> None:
    signed(b"abc").keep()
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    (folder / "signatures.secret").chmod(0o644)
    with pytest.raises(PermissionError, match="readable by others"):
        Signer()


def test_a_broken_secret_is_not_used(folder: Path) -> None:
    signed(b"abc").keep()
    (folder / "signatures.secret").write_bytes(b"")
    with pytest.raises(OSError, match="is corrupt"):
        Signer()


def test_the_database_is_bounded(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(trusted_files, "MOST", 5)
    for number in range(20):
        signed(b"%d" % number).keep()
        signed(b"0").keep()  # one that is used stays
    with sqlite3.connect(folder / "signatures.sqlite") as database:
        assert database.execute("SELECT COUNT(*) FROM signed").fetchone()[0] <= 5
    assert signed(b"0").is_known()
    assert signed(b"19").is_known()
    assert not signed(b"3").is_known()


@pytest.mark.parametrize(
    "content", [b"", b"no database", b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 4096]
)
def test_a_broken_database_is_begun_anew(folder: Path, content: bytes) -> None:
    folder.mkdir()
    (folder / "signatures.sqlite").write_bytes(content)
    assert not may_be_known(3)
    assert not signed(b"abc").is_known()
    assert signed(b"abc").keep() == ""
    assert signed(b"abc").is_known()


def test_a_database_that_is_broken_inside_is_put_aside(folder: Path) -> None:
    signed(b"0").keep()
    file = folder / "signatures.sqlite"
    with closing(sqlite3.connect(file)) as database, database:
        rows = [(f"{number:064}", 3) for number in range(600)]
        database.executemany("INSERT INTO signed (signature, bytes) VALUES (?, ?)", rows)
    data = bytearray(file.read_bytes())
    data[-20_000:] = b"\xff" * 20_000
    file.write_bytes(data)
    assert not signed(b"0").is_known()
    assert signed(b"abc").keep() == ""
    assert signed(b"abc").is_known()


def test_a_database_of_another_kind_is_put_aside(folder: Path) -> None:
    folder.mkdir()
    with sqlite3.connect(folder / "signatures.sqlite") as database:
        database.execute("CREATE TABLE signed (something TEXT)")
    assert not may_be_known(3)
    assert signed(b"abc").keep() == ""
    assert signed(b"abc").is_known()


def test_a_folder_that_cannot_be_is_a_note(folder: Path) -> None:
    signer = signed(b"abc")
    (folder / "signatures.sqlite").mkdir()
    assert "Could not save trust" in signer.keep()
    assert not signer.is_known()
    assert not may_be_known(3)


def test_a_locked_database_is_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trusted_files, "_WAIT", 0.05)
    signed(b"abc").keep()
    holder = sqlite3.connect(folder / "signatures.sqlite")
    holder.execute("BEGIN EXCLUSIVE")
    assert "Could not save trust" in signed(b"other").keep()
    assert not signed(b"abc").is_known()
    holder.rollback()
    holder.close()
    assert signed(b"abc").is_known()


@pytest.mark.after_check
def test_many_at_once_share_one_secret() -> None:
    with ThreadPoolExecutor(8) as threads:
        notes = list(threads.map(lambda number: signed(b"%d" % number).keep(), range(40)))
    assert notes == [""] * 40
    assert all(signed(b"%d" % number).is_known() for number in range(40))

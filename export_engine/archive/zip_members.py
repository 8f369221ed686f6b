"""The members of a zip file: checked, and read within limits. Nothing is unpacked to disk.

The sizes in the central directory are not trusted: each read has its own limit.
"""

from __future__ import annotations

import encodings.cp437  # noqa: F401 - names of members are in it; reading one imports nothing
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.error_text import error_text
from export_engine.pte import is_pte

_ENCRYPTED = 0x1
_LOCAL_HEADER = 30
"""Bytes before a member's name, where the member itself is."""
_AT_ONCE = 2**20
"""Bytes that are read at a time."""
_AGAIN = "Save the program again, or get the file again."
_TRUST = "If you trust it, unpack it and pack it again without compression."
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    OverflowError,
)
"""Exceptions of zipfile for an invalid file; NotImplementedError is a RuntimeError."""


class Members:
    """A checked zip file. Names are relative to torch's one top folder."""

    def __init__(self, title: str, archive: zipfile.ZipFile, size: int) -> None:
        """Checks all members.

        Args:
            title: the file's name in errors.
            archive: the file, opened.
            size: of the file, in bytes.

        Raises:
            ArchiveError: torch does not write such members.
        """
        self.title = title
        self._archive = archive
        listed = [member for member in archive.infolist() if not member.is_dir()]
        if len(listed) > limits.MEMBERS:
            raise ArchiveError(
                f"{title} has {len(listed):,} members; at most {limits.MEMBERS:,} are read. "
                "torch did not write it."
            )
        for info in archive.infolist():
            self._check(info)
        self._check_overlap(archive.infolist(), archive.start_dir)
        self._check_total(listed, size)
        self._members = self._by_name(listed)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def is_empty(self, name: str) -> bool:
        """Whether a member has no bytes, or there is none of this name."""
        info = self._members.get(name)
        return info is None or info.file_size == 0

    def checksum(self, name: str) -> str:
        """A member's CRC-32 and size, from the file's directory."""
        info = self._members.get(name)
        return "" if info is None else f"{info.CRC:08x} {info.file_size}"

    def read(self, name: str, most: int) -> bytes:
        """A member's bytes.

        Args:
            name: of the member.
            most: how many bytes it may have.

        Raises:
            ArchiveError: there is no such member, it is longer, or it is damaged.
        """
        info = self._members.get(name)
        if info is None:
            raise ArchiveError(f"{self.title} has no member {name!r}. {_AGAIN}")
        parts: list[bytes] = []
        size = 0
        try:
            with self._archive.open(info) as member:
                while part := member.read(_AT_ONCE):
                    parts.append(part)
                    size += len(part)
                    if size > most:
                        raise ArchiveError(
                            f"{self.title} is not opened: its member {name} has more than "
                            f"{most:,} bytes, the limit for it."
                        )
                    if size > limits.UNPACKED_FREELY and size > limits.RATIO * info.compress_size:
                        raise ArchiveError(
                            f"{self.title} is not opened: its member {name} unpacks from "
                            f"{info.compress_size:,} to more than {size:,} bytes. {_TRUST}"
                        )
        except ArchiveError:
            raise
        except _DAMAGED as error:
            raise ArchiveError(
                f"{self.title} is damaged: its member {name} cannot be read ({error_text(error)}). "
                f"{_AGAIN}"
            ) from error
        return b"".join(parts)

    def _check(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        shown = repr(name[:80])
        path = name.replace("\\", "/")
        absolute = path.startswith("/") or path[1:2] == ":"
        if absolute or ".." in path.split("/") or "\0" in info.orig_filename:
            raise ArchiveError(
                f"{self.title} is not opened: its member {shown} would unpack outside of the "
                "archive. "
                "torch did not write it."
            )
        if len(name) > limits.NAME:
            raise ArchiveError(
                f"{self.title} is not opened: the name of its member {shown}… has {len(name):,} "
                "characters. torch did not write it."
            )
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise ArchiveError(
                f"{self.title} is not opened: its member {shown} is a link or a device. "
                "torch did not write it."
            )
        if info.flag_bits & _ENCRYPTED:
            raise ArchiveError(
                f"{self.title} is encrypted: its member {shown} needs a password. "
                "Decrypt the file first."
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveError(
                f"{self.title} is not opened: its member {shown} is compressed in a way that torch "
                "does not use. Pack it again without compression."
            )

    def _check_total(self, listed: list[zipfile.ZipInfo], size: int) -> None:
        unpacked = sum(info.file_size for info in listed)
        if unpacked > limits.UNPACKED and unpacked > limits.UNPACKED_RATIO * size:
            raise ArchiveError(
                f"{self.title} is not opened: it would unpack to {unpacked:,} bytes, far more than "
                f"a program of its size holds. {_TRUST}"
            )

    def _check_overlap(self, listed: list[zipfile.ZipInfo], directory: int) -> None:
        end, before = 0, ""
        for info in sorted(listed, key=lambda each: each.header_offset):
            if info.header_offset < end:
                raise ArchiveError(
                    f"{self.title} is not opened: its members {before!r} and "
                    f"{info.filename[:80]!r} overlap. torch did not write it."
                )
            name = len(info.orig_filename)  # in bytes it may be longer
            end = info.header_offset + _LOCAL_HEADER + name + info.compress_size
            before = info.filename[:80]
        if end > directory:
            raise ArchiveError(
                f"{self.title} is damaged: its member {before!r} goes beyond its end. {_AGAIN}"
            )

    def _by_name(self, listed: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Members by name without torch's folder, which is named after the file that was saved."""
        roots = {member.filename.partition("/")[0] for member in listed}
        one = len(roots) == 1 and all("/" in member.filename for member in listed)
        members: dict[str, zipfile.ZipInfo] = {}
        for info in listed:
            name = info.filename.partition("/")[2] if one else info.filename
            if name in members:
                raise ArchiveError(
                    f"{self.title} is not opened: it has two members called {name[:80]!r}. Pack it "
                    "again with only one of them."
                )
            members[name] = info
        return members


@contextmanager
def read_members(path: Path) -> Iterator[Members]:
    """The members of a file, while it is open.

    Raises:
        ArchiveError: it is not a readable zip file.
    """
    _check_file(path)
    title = path.name
    try:
        with path.open("rb") as file:
            try:
                archive = zipfile.ZipFile(_BoundedReads(file, title))
            except ArchiveError:
                raise
            except _DAMAGED as error:
                if is_pte(path):
                    raise ArchiveError(
                        f"{title} is an ExecuTorch .pte file, which has no graph. "
                        "explorer.view shows its methods, delegates and memory plan."
                    ) from error
                raise ArchiveError(
                    f"{title} is not a .pt2 archive: it is not a zip file, or it is truncated "
                    f"({error_text(error)}). Write one with torch.export.save(program, path)."
                ) from error
            with archive:
                yield Members(title, archive, path.stat().st_size)
    except ArchiveError:
        raise
    except OSError as error:
        raise ArchiveError(
            f"{path} cannot be read: {error.strerror or error}. Check its permissions."
        ) from error


def _check_file(path: Path) -> None:
    """Rejects what is not a file with a sentence."""
    try:
        kind = path.stat()
    except (OSError, ValueError):
        raise ArchiveError(f"{path} does not exist. Pass the path of a .pt2 file.") from None
    if stat.S_ISDIR(kind.st_mode):
        raise ArchiveError(f"{path} is a folder. Pass the path of a .pt2 file.")
    if not stat.S_ISREG(kind.st_mode):
        raise ArchiveError(f"{path} is not a regular file. Pass the path of a .pt2 file.")
    if kind.st_size == 0:
        raise ArchiveError(
            f"{path.name} is empty: saving it did not finish. Save the program again."
        )


class _BoundedReads:
    """A file object that limits a single read by zipfile to the size of a central directory."""

    def __init__(self, file: IO[bytes], title: str) -> None:
        self._file = file
        self._title = title
        self.seek, self.tell = file.seek, file.tell

    def read(self, count: int = -1) -> bytes:
        if count < 0 or count > limits.DIRECTORY_BYTES:
            count = limits.DIRECTORY_BYTES + 1
        data = self._file.read(count)
        if len(data) > limits.DIRECTORY_BYTES:
            raise ArchiveError(
                f"{self._title} is not opened: the list of its members has more than "
                f"{limits.DIRECTORY_BYTES:,} bytes. torch did not write it."
            )
        return data

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        """Does nothing: the caller closes the file."""

"""Zip files written by hand: what a library would not write."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

STORED, DEFLATED = 0, 8


@dataclass(frozen=True)
class Entry:
    """A member, and what is said of it; None: the truth."""

    name: str | bytes
    data: bytes = b""
    method: int = STORED
    packed: bytes | None = None
    """The data as it stands in the file."""
    says_size: int | None = None
    says_packed: int | None = None
    says_crc: int | None = None
    says_offset: int | None = None
    local_name: bytes | None = None
    flags: int = 0
    mode: int = 0
    """Of Unix: `0o120777` is a link."""
    extra: bytes = b""


def written(entries: Iterable[Entry], comment: bytes = b"", count: int | None = None) -> bytes:
    """A zip file.

    Args:
        entries: its members.
        comment: behind its end.
        count: how many members it says that it has.
    """
    body, directory, number = bytearray(), bytearray(), 0
    for entry in entries:
        number += 1
        name = entry.name if isinstance(entry.name, bytes) else entry.name.encode()
        packed = entry.packed if entry.packed is not None else _packed(entry)
        crc = _checksum(entry.data) if entry.says_crc is None else entry.says_crc
        size = len(entry.data) if entry.says_size is None else entry.says_size
        length = len(packed) if entry.says_packed is None else entry.says_packed
        offset = len(body) if entry.says_offset is None else entry.says_offset
        local = name if entry.local_name is None else entry.local_name
        common = struct.pack(
            "<HHHHHLLL", 20, entry.flags | 0x800, entry.method, 0, 33, crc, length, size
        )
        body += b"PK\3\4" + common + struct.pack("<HH", len(local), 0) + local + packed
        directory += b"PK\1\2" + struct.pack("<H", 0x314) + common
        directory += struct.pack(
            "<HHHHHLL", len(name), len(entry.extra), 0, 0, 0, entry.mode << 16, offset
        )
        directory += name + entry.extra
    number = number if count is None else count
    end = struct.pack("<HHHHLLH", 0, 0, number, number, len(directory), len(body), len(comment))
    return bytes(body + directory + b"PK\5\6" + end + comment)


_checksum = lru_cache(maxsize=256)(zlib.crc32)
"""Most members of most archives are those of the one that they were made from."""


def _packed(entry: Entry) -> bytes:
    if entry.method != DEFLATED:
        return entry.data
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(entry.data) + packer.flush()


def parts_of(data: bytes) -> dict[str, bytes]:
    """The members of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def packed(parts: Mapping[str, bytes]) -> bytes:
    """A file of members as they are."""
    return written(Entry(name, content) for name, content in parts.items())

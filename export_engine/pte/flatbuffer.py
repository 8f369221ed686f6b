"""A bounded reader of flatbuffers: tables, vectors, strings and unions, each offset checked."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TypeVar

from export_engine.plain_errors import PlainError

_T = TypeVar("_T")
MOST_READ = 4_000_000
"""Fields and entries that are read of one file; a real one has thousands."""
LONGEST_TEXT = 4_096


class PteError(PlainError, ValueError):
    """A file is not a `.pte` that can be read: what is wrong with it."""


class Buffer:
    """The bytes of a flatbuffer, and how much of it may still be read."""

    def __init__(self, data: memoryview) -> None:
        """Make one.

        Args:
            data: from the flatbuffer's first byte on.
        """
        self.data = data
        self._left = MOST_READ

    def root(self) -> Table:
        """The outermost table."""
        return Table(self, self.number("<I", 0))

    def number(self, form: str, at: int) -> int:
        """An integer at an offset."""
        self._left -= 1
        if self._left < 0:
            raise PteError("It has more entries than are read from one file.")
        if at < 0 or at + struct.calcsize(form) > len(self.data):
            raise PteError("An offset in it points outside of the file.")
        return int(struct.unpack_from(form, self.data, at)[0])


class Table:
    """A table; a field that it lacks has its default."""

    def __init__(self, buffer: Buffer, at: int) -> None:
        """Make one.

        Args:
            buffer: that holds it.
            at: its offset.
        """
        self._buffer = buffer
        self._at = at
        self._fields = at - buffer.number("<i", at)
        self._size = buffer.number("<H", self._fields)

    def _place(self, field: int) -> int:
        """The offset of a field's value; 0 where the table lacks it."""
        entry = 4 + 2 * field
        if entry + 2 > self._size:
            return 0
        offset = self._buffer.number("<H", self._fields + entry)
        return self._at + offset if offset else 0

    def number(self, field: int, form: str = "<i", default: int = 0) -> int:
        """An integer field."""
        at = self._place(field)
        return self._buffer.number(form, at) if at else default

    def table(self, field: int) -> Table | None:
        """A table in a field."""
        at = self._place(field)
        return Table(self._buffer, at + self._buffer.number("<I", at)) if at else None

    def text(self, field: int) -> str:
        """A string in a field, shortened."""
        start, count = self._vector(field, 1)
        part = bytes(self._buffer.data[start : start + min(count, LONGEST_TEXT)])
        return part.decode("utf-8", errors="replace")

    def size_of(self, field: int) -> int:
        """How many bytes a vector of bytes has."""
        return self._vector(field, 1)[1]

    def part(self, field: int) -> memoryview:
        """A vector of bytes, not copied."""
        start, count = self._vector(field, 1)
        return self._buffer.data[start : start + count]

    def numbers(self, field: int, form: str = "<i") -> list[int]:
        """A vector of integers."""
        width = struct.calcsize(form)
        start, count = self._vector(field, width)
        return [self._buffer.number(form, start + width * at) for at in range(count)]

    def tables(self, field: int, read: Callable[[Table], _T]) -> list[_T]:
        """A vector of tables, each read."""
        start, count = self._vector(field, 4)
        places = (start + 4 * at for at in range(count))
        return [
            read(Table(self._buffer, place + self._buffer.number("<I", place))) for place in places
        ]

    def _vector(self, field: int, width: int) -> tuple[int, int]:
        """The first entry of a vector and their number."""
        at = self._place(field)
        if not at:
            return 0, 0
        start = at + self._buffer.number("<I", at)
        count = self._buffer.number("<I", start)
        if start + 4 + width * count > len(self._buffer.data):
            raise PteError("A list in it is longer than the file.")
        return start + 4, count

"""The wire format of a Record: a JSON header, followed by every column as a little-endian array.

`to_json` is the other form, for files and other tools: plain JSON, with columns as lists.

Layout: 4 bytes header length (unsigned, little-endian), the header as UTF-8 JSON padded with spaces
to a multiple of 4, then the columns, each aligned to 4 bytes. In the header a column is
`{"type": "i1" | "i2" | "i4", "start": bytes from the end of the header, "count": entries}`: the
narrowest signed type that holds its values.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping
from typing import Any

import msgspec

from export_engine.record.program_set import ProgramSet
from export_engine.record.record import SCHEMA_VERSION, Record

_CODES = {"i1": "b", "i2": "h", "i4": "i"}
_ALIGN = 4
_FIRST = msgspec.json.Decoder(Record)
"""Makes msgspec's tables of the type while one thread imports this: two that do so crash."""


def encode(record: Record) -> bytes:
    """The Record as bytes, for the front end.

    Raises:
        OverflowError: a column holds a number of more than 32 bits.
    """
    body = bytearray()

    def column(value: Any) -> dict[str, str | int]:
        if not isinstance(value, array):
            raise TypeError(f"a Record holds plain data, not {type(value).__name__}")
        kind = _narrowest(value)
        if not value:
            return {"type": kind, "start": 0, "count": 0}
        body.extend(b"\0" * (-len(body) % _ALIGN))
        start = len(body)
        packed = array(_CODES[kind], value)
        if sys.byteorder == "big":
            packed.byteswap()
        body.extend(packed.tobytes())
        return {"type": kind, "start": start, "count": len(value)}

    header = msgspec.json.Encoder(enc_hook=column).encode(record)
    header += b" " * (-len(header) % _ALIGN)
    return len(header).to_bytes(4, "little") + header + bytes(body)


def decode(data: bytes | memoryview) -> Record:
    """The Record that `encode` wrote.

    Raises:
        ValueError: the bytes are not those of a Record, or of another version of the schema.
    """
    view = memoryview(data)
    size = int.from_bytes(view[:4], "little")
    if len(view) < 4 or size > len(view) - 4:
        raise ValueError("not a Record: its header is cut off")
    body = view[4 + size :]

    def column(kind: type, value: Any) -> Any:
        if not issubclass(kind, array):
            raise ValueError(f"a Record holds no {kind.__name__}")
        packed = array(_CODES[value["type"]])
        start = value["start"]
        packed.frombytes(body[start : start + value["count"] * packed.itemsize])
        if sys.byteorder == "big":
            packed.byteswap()
        if len(packed) != value["count"]:
            raise ValueError("not a Record: a column is cut off")
        return array("i", packed)

    try:
        return msgspec.json.Decoder(Record, dec_hook=column).decode(view[4 : 4 + size])
    except (msgspec.DecodeError, msgspec.ValidationError, KeyError, TypeError) as error:
        raise ValueError(f"not a Record of this version: {error}") from error


def to_json(record: Record) -> bytes:
    """The Record as one JSON object, in UTF-8. Its `schema` field is the version of its fields."""
    return msgspec.json.Encoder(enc_hook=list).encode(record)


def set_to_json(programs: ProgramSet, records: Mapping[str, Record]) -> bytes:
    """A set of programs as one JSON object, in UTF-8: `set`, and by name a Record in `programs`."""
    whole = {"set": programs, "programs": dict(records)}
    return msgspec.json.Encoder(enc_hook=list).encode(whole)


def from_json(data: bytes | str) -> Record:
    """The Record that `to_json` wrote.

    Raises:
        ValueError: the text is not a Record, or one of another version of the schema.
    """

    def column(kind: type, value: Any) -> Any:
        if not issubclass(kind, array) or not isinstance(value, list):
            raise ValueError(f"a Record holds no {kind.__name__}")
        return array("i", value)

    try:
        record = msgspec.json.Decoder(Record, dec_hook=column).decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError, OverflowError, TypeError) as error:
        raise ValueError(f"not a Record of this version: {error}") from error
    if record.schema != SCHEMA_VERSION:
        raise ValueError(f"a Record of schema {record.schema}; this reads {SCHEMA_VERSION}")
    return record


def _narrowest(values: array[int]) -> str:
    low, high = (min(values), max(values)) if values else (0, 0)
    if low >= -0x80 and high < 0x80:
        return "i1"
    if low >= -0x8000 and high < 0x8000:
        return "i2"
    return "i4"

"""JSON from an archive: depth and number of values are checked before it is decoded.

Both are counted without decoding: strings are removed, then matching pairs of brackets, one level
at a time, until none is left. An invalid escape may spoil the rest of the count: no decoder gets
there.
"""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.strict_decoding import StrictDecoder

_T = TypeVar("_T")
_BUT_BRACKETS = bytes(set(range(256)) - set(b'{}[]"'))
_BUT_ESCAPES = bytes(set(range(256)) - set(b'{}[]"\\/bfnrtu'))
"""All but brackets, quotes, and what escapes in texts are made of."""
_TEXT = re.compile(rb'"[^"]*"')


def decode_json(
    data: bytes, decoder: msgspec.json.Decoder[_T] | StrictDecoder[_T], what: str
) -> _T:
    """A decoded document.

    Args:
        data: the document.
        decoder: of the expected type.
        what: its name in errors: `model.pt2, models/model.json`.

    Raises:
        ArchiveError: it is not such a document, or exceeds the limits.
    """
    check(data, what)
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError as error:
        raise ArchiveError(
            f"{what} is not in torch's format: {str(error)[:300]}. It is damaged, or "
            "was saved by a torch version with a different format: open it with that version."
        ) from error
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise ArchiveError(f"{what} is damaged: {str(error)[:200]}. Get the file again.") from error


def check(data: bytes, what: str) -> None:
    """Raises ArchiveError for a document of too many values, or nested too deeply."""
    rest = data.translate(None, _BUT_ESCAPES)
    values = data.count(b",") + rest.count(b"[") + rest.count(b"{")
    if values > limits.JSON_VALUES:
        raise ArchiveError(
            f"{what} has more than {values:,} values; at most {limits.JSON_VALUES:,} are read."
        )
    brackets = rest.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _BUT_BRACKETS)
    brackets = _TEXT.sub(b"", brackets.replace(b'""', b""))  # most texts have no bracket
    for _ in range(limits.JSON_DEPTH):
        if not brackets:
            return
        inner = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if len(inner) == len(brackets):
            break
        brackets = inner
    if not brackets:
        return
    if brackets.replace(b"[]", b"").replace(b"{}", b"") == brackets:
        raise ArchiveError(f"{what} is damaged: its brackets do not match. Get the file again.")
    raise ArchiveError(
        f"{what} is nested more than {limits.JSON_DEPTH} levels deep, which torch does not write."
    )

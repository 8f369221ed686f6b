"""Names of edited copies of a file: the original file, and a mark."""

from __future__ import annotations

import re
from zlib import crc32

_MARK = re.compile(r" \(fixed [0-9a-f]{8}\)$")


def make_edited_name(file: str, text: str) -> str:
    """Python's file name of a changed text."""
    return f"{file} (fixed {crc32(text.encode()):08x})"


def original_file(path: str) -> str:
    """The file that an edited copy was made from; any other path unchanged."""
    return _MARK.sub("", path)

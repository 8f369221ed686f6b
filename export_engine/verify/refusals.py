"""Why a program rejected its inputs, in the user's terms."""

from __future__ import annotations

import re

_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")
_SOURCE = re.compile(r"L\['(\w+)'\]")
_LONGEST = 160


def refusal(error: BaseException) -> str:
    """The condition that was not met, or the first line of what was raised."""
    said = str(error).strip().splitlines() or [type(error).__name__]
    text = _SOURCE.sub(r"\1", _SIZE.sub(r".shape[\1]", said[0]))
    text = text.removeprefix("Guard failed: ")
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

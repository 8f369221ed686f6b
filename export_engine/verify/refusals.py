"""Why a program rejected its inputs, in the user's terms."""

from __future__ import annotations

import re

from export_engine.defects import message_of

_SIZE = re.compile(r"\.size\(\)\[(\d+)\]")
_SOURCE = re.compile(r"L\['(\w+)'\]")
_ASSERTED = re.compile(r"Runtime assertion failed for expression (.+?) on node ")
"""torch's own words where a condition on sizes is checked by an op of the program."""
_RELATION = re.compile(r"(Eq|Ne|Lt|Le|Gt|Ge)\((.*)\)")
_SIGNS = {"Eq": "==", "Ne": "!=", "Lt": "<", "Le": "<=", "Gt": ">", "Ge": ">="}
_REMAINDER = re.compile(r"\b(?:Python)?Mod\((\w+), (\w+)\)")
_LONGEST = 160


def refusal(error: BaseException) -> str:
    """The condition that was not met, or the first line of what was raised."""
    texts = message_of(error).strip().splitlines() or [type(error).__name__]
    asserted = _ASSERTED.match(texts[0])
    if asserted:
        return _cut(_REMAINDER.sub(r"\1 % \2", _relation(asserted[1])))
    text = _SOURCE.sub(r"\1", _SIZE.sub(r".shape[\1]", texts[0]))
    return _cut(text.removeprefix("Guard failed: "))


def is_condition(error: BaseException) -> bool:
    """Whether a program raised since a condition of its own was not met."""
    return isinstance(error, AssertionError) or bool(_ASSERTED.match(message_of(error).strip()))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _relation(text: str) -> str:
    """`Ne(a*(b//a), 1)` as `a*(b//a) != 1`; any other text unchanged."""
    match = _RELATION.fullmatch(text)
    if match is None:
        return text
    depth = 0
    for at, char in enumerate(match[2]):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return text
        if char == "," and not depth:
            return f"{match[2][:at]} {_SIGNS[match[1]]} {match[2][at + 1 :].strip()}"
    return text

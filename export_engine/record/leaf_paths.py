"""Paths of leaves in a call's inputs, as text: `x`, `cache.0.key`, `inputs."a.b"`.

A path is a list of parts: the parameter's name, then dict keys, indices and fields on the way to
the leaf. Knows nothing of pytrees: `call_leaves` makes the parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_INDEX = re.compile("[0-9]+")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\["\\n])*"')
_PARTS = re.compile(rf'({_QUOTED.pattern}|[^".]+)(?:\.|\Z)')
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
_PLAIN = {escaped: plain for plain, escaped in _ESCAPED.items()}


def join_path(parts: Iterable[object]) -> str:
    """A path of keys and indices as text. A part that is neither a name nor a number is quoted."""
    return ".".join(_format_part(str(part)) for part in parts)


def split_path(path: str) -> list[str] | None:
    """The parts of a path: the inverse of `join_path`. None if the text is not such a path."""
    parts, end = [], 0
    while match := _PARTS.match(path, end):
        part, end = match[1], match.end()
        parts.append(strip_quotes(part) if part.startswith('"') else part)
        if end == len(path):
            break
    return parts if parts and join_path(parts) == path else None


def strip_quotes(part: str) -> str:
    """The text of a quoted part."""
    return re.sub(r"\\.", lambda match: _PLAIN.get(match[0], match[0]), part[1:-1])


def _format_part(part: str) -> str:
    if part.isidentifier() or _INDEX.fullmatch(part):
        return part
    return '"' + re.sub(r'[\\"\n]', lambda match: _ESCAPED[match[0]], part) + '"'

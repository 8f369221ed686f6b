"""The modules of a node of an archive, as torch keeps them: text."""

from __future__ import annotations

from functools import lru_cache

from export_engine.archive import limits
from export_engine.archive.names import cut


@lru_cache(maxsize=4096)
def read_modules(text: str) -> dict[str, tuple[str, str]]:
    """`key,path,class;key,path,class` as torch's nn_module_stack; anything else is left out.

    A name may have a `;` of its own, so an item with fewer than three parts goes on after it.
    """
    result: dict[str, tuple[str, str]] = {}
    begun = ""
    for item in text.split(";")[: limits.SCOPES]:
        parts = _parts(begun + item)
        begun = f"{begun}{item};" if len(parts) < 3 and len(begun) <= limits.TEXT else ""
        if len(parts) == 3:
            result[cut(parts[0])] = cut(parts[1]), cut(parts[2])
    return result


def _parts(item: str) -> list[str]:
    """A text split at top-level commas."""
    if "[" not in item and "(" not in item:
        return item.split(",")
    parts, start, depth = [], 0, 0
    for end, sign in enumerate(item):
        if sign in "[(":
            depth += 1
        elif sign in ")]":
            depth -= 1
        elif sign == "," and depth == 0:
            parts.append(item[start:end])
            start = end + 1
    return [*parts, item[start:]]

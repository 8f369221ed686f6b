"""How a text of a query is found in a text of a Record."""

from __future__ import annotations

import re
from collections.abc import Callable

from export_engine.query.fields import Match

_SPECIAL = re.compile(r"[.+?^${}()|[\]\\]")


def contains(word: str) -> re.Pattern[str]:
    """A pattern that finds a word anywhere; a number at its end must match whole."""
    before = r"(?<!\d)" if re.match(r"\d", word, re.ASCII) else ""
    after = r"(?!\d)" if re.search(r"\d$", word, re.ASCII) else ""
    return _pattern(before + _glob(word, r"[^,\]\n]*") + after)


def _whole(word: str) -> re.Pattern[str]:
    return _pattern(f"^{_glob(word, '.*')}$")


def _parts(word: str) -> re.Pattern[str]:
    return _pattern(rf"(?:^|\.){_glob(word, '[^.]*')}(?:\.|$)")


def finder(match: Match, text: str, exact: bool) -> Callable[[str], bool]:
    """Whether a text of a Record matches one of a query.

    Args:
        match: how the field is matched.
        text: of the query.
        exact: whether all of it has to match: `=` instead of `:`.
    """
    function = _whole if exact else {"contains": contains, "parts": _parts}.get(match, _whole)
    result = function(text)
    return lambda each: result.search(each) is not None


def sizes_finder(text: str) -> Callable[[list[str]], bool]:
    """Whether sizes match `[batch, *, 64]`; without brackets, whether one of them does.

    `*` is one size, `...` are any number of them.
    """
    if not text.startswith("["):
        one = _whole(text)
        return lambda sizes: any(one.search(size) for size in sizes)
    wanted = [part.strip() for part in text.strip("[]").split(",")]
    patterns = [None if text == "..." else _whole(text) for text in wanted if text]
    return lambda sizes: _fits(patterns, sizes)


def _fits(patterns: list[re.Pattern[str] | None], sizes: list[str]) -> bool:
    if not patterns:
        return not sizes
    first, *rest = patterns
    if first is None:
        return any(_fits(rest, sizes[skip:]) for skip in range(len(sizes) + 1))
    return bool(sizes) and first.search(sizes[0]) is not None and _fits(rest, sizes[1:])


def _glob(word: str, star: str) -> str:
    return _SPECIAL.sub(lambda each: "\\" + each[0], word).replace("*", star)


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)

"""Numbers of a program as sums: `past + 1`, with the names of sizes and of inputs in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

_TERM = re.compile(r"(?:(\d+)\*)?([^\d\W][\w.\[\]]*)|(\d+)")


class Linear(NamedTuple):
    """A number and multiples of names."""

    number: int
    terms: tuple[tuple[str, int], ...] = ()
    """Names in order, each with what it is multiplied by."""

    def plus(self, other: Linear, times: int = 1) -> Linear:
        """The sum with a multiple of another."""
        entries = dict(self.terms)
        for name, scale in other.terms:
            entries[name] = entries.get(name, 0) + times * scale
        terms = tuple(sorted((name, scale) for name, scale in entries.items() if scale))
        return Linear(self.number + times * other.number, terms)

    def with_values(self, values: Mapping[str, Linear]) -> Linear:
        """The same with names replaced by what they stand for."""
        linear = Linear(self.number)
        for name, scale in self.terms:
            linear = linear.plus(values.get(name, Linear(0, ((name, 1),))), scale)
        return linear

    def __str__(self) -> str:
        """As a sentence has it: `past + 1`."""
        texts = [f"{scale}*{name}" if scale != 1 else name for name, scale in self.terms]
        if self.number or not texts:
            texts.append(str(self.number))
        return " + ".join(texts).replace("+ -", "- ")


def parse_size(text: str) -> Linear | None:
    """Parse a size; None if it is not such a sum."""
    words = f"- {text[1:]}".split(" ") if text.startswith("-") else f"+ {text}".split(" ")
    linear = Linear(0)
    for sign, word in zip(words[::2], words[1::2], strict=False):
        term = _TERM.fullmatch(word)
        if sign not in ("+", "-") or term is None or len(words) % 2:
            return None
        one = Linear(int(term[3])) if term[3] else Linear(0, ((term[2], int(term[1] or 1)),))
        linear = linear.plus(one, 1 if sign == "+" else -1)
    return linear

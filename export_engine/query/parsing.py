"""A query's text as a tree, or an error with its column.

    any   := all ("|" all)*
    all   := one ("&"? one)*          side by side is "and"
    one   := "!" one | "(" any ")" | field ":" text | field compare text | words

Adjacent words are searched for together.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from export_engine.plain_errors import PlainError
from export_engine.query.fields import ALSO, BY_NAME, Field

DEEPEST = 100
"""Brackets and `!` inside one another."""
_SPACE = re.compile(r"\s*")
_FIELD = re.compile(
    r'(?P<name>[A-Za-z_]\w*(?:\.(?:"[^"]*"|[A-Za-z_]\w*))?)\s*'
    r"(?:(?P<compare><=|>=|==|!=|=|<|>)|(?P<colon>:))"
)
_QUOTED = re.compile(r'"(?P<text>[^"]*)"')
_TEXT = re.compile(r"(?:\[[^\]]*\]?|[^\s&|()\[])+")
_WORD = re.compile(r"(?:\[[^\]]*\]?|[^\s&|()<>=!\[])+")
_NUMBER = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf)%?")


class QueryError(PlainError, ValueError):
    """A query cannot be read, or asks for what is not there. The message can be shown unchanged."""

    def __init__(self, reason: str, column: int, text: str = "") -> None:
        """Make one.

        Args:
            reason: a sentence.
            column: where, from 1.
            text: the query.
        """
        super().__init__(reason, column)
        self.reason = reason
        self.column = column
        self.text = text

    def __str__(self) -> str:
        at = f"{self.reason} (column {self.column})"
        return f"{at}\n  {self.text}\n  {' ' * (self.column - 1)}^" if self.text else at


class Words(NamedTuple):
    """Words to search for."""

    words: tuple[str, ...]


class Test(NamedTuple):
    """One field against one text or number."""

    field: Field
    overlay: str
    """Of `overlay.NAME`, the name; else empty."""
    compare: str
    """`:`, `=`, `!=`, `<`, `<=`, `>` or `>=`."""
    text: str
    number: float | None
    """Where `text` is one."""
    column: int


class Not(NamedTuple):
    """What does not match."""

    of: Tree


class All(NamedTuple):
    """Matches all of them."""

    of: tuple[Tree, ...]


class Any(NamedTuple):
    """Matches any of them."""

    of: tuple[Tree, ...]


Tree = Words | Test | Not | All | Any


def parse(text: str) -> Tree:
    """The tree of a query; of an empty one, `Words` without words.

    Raises:
        QueryError: it cannot be read; the column is named.
    """
    parser = _Parser(text)
    parser.space()
    if parser.at == len(text):
        return Words(())
    try:
        result = parser.any(0)
        if parser.at < len(text):
            raise QueryError("This ) has no matching (", parser.at + 1)
    except QueryError as error:
        raise QueryError(error.reason, error.column, text) from None
    return result


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        assert match
        self.at = match.end()

    def take(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        self.space()
        return True

    def any(self, depth: int) -> Tree:
        items = [self.all(depth)]
        while self.take("|"):
            items.append(self.all(depth))
        return items[0] if len(items) == 1 else Any(tuple(items))

    def all(self, depth: int) -> Tree:
        items = [self.one(depth)]
        apart = False
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            apart = self.take("&")
            one, last = self.one(depth), items[-1]
            if isinstance(one, Words) and isinstance(last, Words) and not apart:
                items[-1] = Words(last.words + one.words)
            else:
                items.append(one)
        return items[0] if len(items) == 1 else All(tuple(items))

    def one(self, depth: int) -> Tree:
        if depth > DEEPEST:
            raise QueryError("Brackets are nested too deeply", self.at + 1)
        if self.take("!"):
            return Not(self.one(depth + 1))
        start = self.at
        if self.take("("):
            result = self.any(depth + 1)
            if not self.take(")"):
                raise QueryError("This ( has no matching )", start + 1)
            # Bracketed words stand by themselves, also beside others.
            return All((result,)) if isinstance(result, Words) else result
        test = self.test()
        return test if test is not None else self.word()

    def test(self) -> Test | None:
        head = _FIELD.match(self.text, self.at)
        if head is None:
            return None
        start, name = self.at, head["name"]
        field, overlay = _field(name)
        if field is None:
            rest = self.text[head.end() :]
            if head["colon"] and (re.match(r"[\d:]", rest) or "." in name):
                return None  # a line, `model:12`, or `aten::add`
            raise QueryError(f"There is no field {name}.{_nearest(name)}", start + 1)
        self.at = head.end()
        if not head["colon"]:
            self.space()
        compare = {"==": "="}.get(head["compare"] or ":", head["compare"] or ":")
        value, column = self.value(field, compare)
        number = float_of(value)
        _check(field, overlay, compare, value, number, start + 1, column)
        return Test(field, overlay, compare, value, number, start + 1)

    def value(self, field: Field, compare: str) -> tuple[str, int]:
        start = self.at
        quoted = _QUOTED.match(self.text, start)
        match = quoted or _TEXT.match(self.text, start)
        if match is None:
            raise QueryError(f"{field.name}{compare} needs a value", start + 1)
        self.at = match.end()
        self.space()
        return (quoted["text"] if quoted else match[0]), start + 1

    def word(self) -> Words:
        quoted = _QUOTED.match(self.text, self.at)
        match = quoted or _WORD.match(self.text, self.at)
        if match is None:
            here = self.text[self.at : self.at + 1]
            text = f"There is nothing before this {here}" if here else "Something is missing here"
            raise QueryError(text, self.at + 1)
        self.at = match.end()
        self.space()
        return Words((quoted["text"] if quoted else match[0],))


def _field(name: str) -> tuple[Field | None, str]:
    """A field by its name, and which overlay it is of."""
    head, _, rest = name.partition(".")
    if head.lower() == "overlay" and rest:
        return BY_NAME["overlay"], rest.strip('"')
    text = name.lower()
    return BY_NAME.get(ALSO.get(text, text)), ""


def float_of(text: str) -> float | None:
    """A number, `1e6` or `90%`; None for anything else."""
    if not _NUMBER.fullmatch(text):
        return None
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _check(
    field: Field,
    overlay: str,
    compare: str,
    value: str,
    number: float | None,
    column: int,
    value_column: int,
) -> None:
    if not value:
        raise QueryError(f"{field.name}{compare} needs a value", value_column)
    if field.match == "number" and number is None:
        raise QueryError(f"{field.name} is compared with a number, not with {value}", value_column)
    if compare in ("<", "<=", ">", ">="):
        if field.match != "number" and not overlay:
            raise QueryError(f"{field.name} is not a number: write {field.name}:{value}", column)
        if number is None:
            raise QueryError(f"{value} is not a number", value_column)


def _nearest(name: str) -> str:
    """Suggest the nearest name, as a sentence; the last parts of names count too."""
    near = [(_apart(name, text), text) for text in (*BY_NAME, *ALSO)]
    near += [(_apart(name, text.partition(".")[2]), text) for text in BY_NAME if "." in text]
    least, best = min(near)
    return f" Nearest: {best}" if least <= max(1, len(name) // 3) else ""


def _apart(one: str, other: str) -> int:
    """How many letters have to be put in, taken out or changed."""
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for to, text in enumerate(other, 1):
            before, row[to] = row[to], min(row[to] + 1, row[to - 1] + 1, before + (letter != text))
    return row[-1]

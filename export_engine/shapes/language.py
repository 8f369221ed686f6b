"""The short language for shapes: `x: batch, seq[4..512], _; cache.0.key: batch, 2*seq + 1, *`.

The grammar, where a line end may stand for `;` and follow a `,`:

* shapes: leaves, relations and `unbacked`, with `;` between them
* leaf: a path, `:`, and dims with `,` between them (none for a tensor without dims)
* path: parts with `.` between them; a part is a name, a number or a `"quoted text"`
* dim: one of
    * `_` static: the size of the example
    * `*` or `*[bounds]` automatic: torch decides (`Dim.AUTO`)
    * `!` or `![bounds]` dynamic, or the export fails (`Dim.DYNAMIC`)
    * `8` pinned to that size
    * `name`, `name[bounds]`, `3*name`, `3*name[bounds] + 1`: a Dim, or one derived from it
    * `(a + b)`, `(seq // 2)`: a size made of others in another way
    * `int` or `int[bounds]`, as the only one: an int argument
* bounds: `4..512`, `4..` or `..512`. The bounds of a Dim stand at one of its mentions, any one.
* relation: two expressions and a comparison, `seq % 16 == 0`: what every call must fulfil
* expression: names, numbers and parentheses with `+ - * // %`, `min(a, b)` and `max(a, b, 2)`; an
  int argument goes by its name
* `unbacked`: the sizes are unbacked symbols, as ShapeVars are. Int arguments, relations and sizes
  in parentheses say as much.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, NoReturn, TypeVar

from export_engine.record import join_path, strip_quotes
from export_engine.shapes.dims import (
    Auto,
    Bounds,
    Computed,
    Dynamic,
    Int,
    Named,
    Pinned,
    Spec,
    Static,
    normal_bounds,
)
from export_engine.shapes.errors import ShapesError
from export_engine.shapes.expressions import Relation, combine, name_size
from export_engine.shapes.printing import UNBACKED, write_bounds
from export_engine.shapes.tokens import Token, tokens
from export_engine.sizes import Expression, negate, number

_A_DIM = "a name, a size, `_` (static), `*` (automatic) or `!` (dynamic)"
_SUMS, _PRODUCTS, _FUNCTIONS = ("+", "-"), ("*", "//", "%"), ("min", "max")
_T = TypeVar("_T")
_DEEPEST = 20
"""Nesting of parentheses and signs."""
_DIGITS = 19
"""Digits of the largest size. A longer number is rejected before it is converted."""


class Parsed(NamedTuple):
    """A parsed text, with positions."""

    text: str
    leaves: Mapping[str, tuple[Spec, ...]]
    """Per leaf, by its path, its dims."""
    bounds: Mapping[str, Bounds]
    """Bounds of the Dims that have any, by name."""
    columns: Mapping[tuple[str, int | None], int]
    """Positions of a leaf's path (`("x", None)`), and each of its dims (`("x", 0)`); of an
    assumption (`("a <= b", None)`) and a name that is in no dim by itself (`("a", -1)`)."""
    assumptions: tuple[Relation, ...] = ()
    unbacked: bool = False
    """Whether the text itself requests it."""


def parse(text: str) -> Parsed:
    """Parses a text.

    Raises:
        ShapesError: the text does not follow the grammar; the error points at the column.
    """
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._next = 0
        self._bounds: dict[str, Bounds] = {}
        self._columns: dict[tuple[str, int | None], int] = {}
        self._mentions: dict[tuple[str, int | None], int] = {}

    def parse(self) -> Parsed:
        leaves: dict[str, tuple[Spec, ...]] = {}
        assumptions: list[Relation] = []
        unbacked = False
        while not self._at_end_of_text():
            start = self._peek()
            if self._is_relation():
                assumptions += self._relations()
                continue
            if start.text == UNBACKED and self._ends(self._tokens[self._next + 1]):
                unbacked = bool(self._take("word"))
                continue
            path = self._path()
            if path in leaves:
                self._fail(f"{path} appears twice; write its dims once", start)
            self._columns[path, None] = start.column
            leaves[path] = self._dims(path)
        columns = {**self._mentions, **self._columns}
        return Parsed(self._text, leaves, self._bounds, columns, tuple(assumptions), unbacked)

    def _is_relation(self) -> bool:
        """Whether a comparison comes before the `:` of a leaf."""
        for token in self._tokens[self._next :]:
            if token.kind == "comparison" or token.text == ":" or self._ends(token):
                return token.kind == "comparison"
        return False

    def _relations(self) -> list[Relation]:
        """One relation; of `2 <= a <= 9`, two."""
        relations: list[Relation] = []
        start = self._peek()
        left = self._expression()
        while compared := self._take("comparison"):
            right = self._expression()
            relations.append(self._make(start, Relation, compared.text, left, right))
            self._columns.setdefault((str(relations[-1]), None), start.column)
            left = right
        if not relations:
            self._fail("expected a comparison, as in `seq % 16 == 0`")
        if not self._ends(self._peek()):
            self._fail("expected `;` after this relation")
        return relations

    def _expression(self, nested: int = 0) -> Expression:
        """A sum of products."""
        start = self._peek()
        result = self._product(nested)
        while sign := self._take_any(_SUMS):
            result = self._make(start, combine, sign, result, self._product(nested))
        return result

    def _product(self, nested: int) -> Expression:
        start = self._peek()
        result = self._operand(nested)
        while sign := self._take_any(_PRODUCTS):
            result = self._make(start, combine, sign, result, self._operand(nested))
        return result

    def _operand(self, nested: int) -> Expression:
        if nested > _DEEPEST:
            self._fail("this expression is nested too deeply")
        if self._take("mark", "("):
            result = self._expression(nested + 1)
            if not self._take("mark", ")"):
                self._fail("expected `)`")
            return result
        if self._take("mark", "-"):
            return negate(self._operand(nested + 1))
        plain = self._optional_number()
        if plain is not None:
            return number(plain)
        name = self._take("word")
        if name is None:
            self._fail("expected a size name or a number")
        if name.text in _FUNCTIONS and self._take("mark", "("):
            return self._call(name, nested)
        self._mentions.setdefault((name.text, -1), name.column)
        return self._make(name, name_size, name.text)

    def _call(self, function: Token, nested: int) -> Expression:
        """The arguments of `min(a, b, 2)`, joined in pairs."""
        result = self._expression(nested + 1)
        if self._peek().text != ",":
            self._fail(f"expected `,`: {function.text} needs two sizes or more")
        while self._take("mark", ","):
            other = self._expression(nested + 1)
            result = self._make(function, combine, function.text, result, other)
        if not self._take("mark", ")"):
            self._fail("expected `)`")
        return result

    def _take_any(self, signs: tuple[str, ...]) -> str | None:
        token = self._peek()
        return token.text if token.text in signs and self._take("mark") else None

    def _at_end_of_text(self) -> bool:
        while self._take("newline") or self._take("mark", ";"):
            pass
        return self._peek().kind == "end"

    def _path(self) -> str:
        parts = [self._path_part()]
        while self._take("mark", "."):
            parts.append(self._path_part())
        return join_path(parts)

    def _path_part(self) -> str:
        token = self._take("word") or self._take("number") or self._take("quoted")
        if token is None:
            self._fail("expected the name of an input, as in `x: batch, _`")
        return strip_quotes(token.text) if token.kind == "quoted" else token.text

    def _dims(self, path: str) -> tuple[Spec, ...]:
        if self._peek().text == "[":
            self._fail(f"an input in a list or a dict has its own path: `{path}.0: batch, _`")
        if not self._take("mark", ":"):
            if self._peek().text == ",":
                text = self._text[self._columns[path, None] :].partition(";")[0].strip()
                self._fail(f"name the input of these dims first, as in `x: {text}`")
            self._fail(f"expected `:` and the dims of {path}, as in `{path}: batch, _`")
        if self._peek().text == "[":
            self._fail(f"name inputs in a list or a dict one by one: `{path}.0: batch, _`")
        dims: list[Spec] = []
        if self._ends_leaf():
            return ()
        while True:
            self._columns[path, len(dims)] = self._peek().column
            dims.append(self._dim())
            if not self._take("mark", ","):
                break
            while self._take("newline"):
                pass
        if not self._ends_leaf():
            self._fail_after(dims[-1])
        return tuple(dims)

    def _ends_leaf(self) -> bool:
        return self._ends(self._peek())

    def _ends(self, token: Token) -> bool:
        return token.kind in ("newline", "end") or token.text == ";"

    def _dim(self) -> Spec:
        start = self._peek()
        if self._take("word", "_"):
            return Static()
        if self._take("mark", "*"):
            return self._make(self._peek(), Auto, *self._optional_bounds())
        if self._take("mark", "!"):
            return self._make(self._peek(), Dynamic, *self._optional_bounds())
        if self._take("mark", "("):
            computed = self._make(start, Computed, self._expression())
            if not self._take("mark", ")"):
                self._fail("expected `)` after the size")
            return computed
        if self._take("word", "int"):
            return self._make(self._peek(), Int, *self._optional_bounds(signed=True))
        size = self._optional_number()
        if size is None:
            return self._parse_named(1)
        return (
            self._parse_named(size) if self._take("mark", "*") else self._make(start, Pinned, size)
        )

    def _parse_named(self, scale: int) -> Spec:
        start = self._peek()
        name = self._take("word")
        if name is None:
            self._fail(f"expected a dim: {_A_DIM}")
        self._make(start, Named, name.text, scale)
        self._bounds_of(name.text)
        return self._make(start, Named, name.text, scale, self._offset())

    def _bounds_of(self, name: str) -> None:
        opening = self._peek()
        bounds = self._optional_bounds()
        if bounds == Bounds():
            return
        bounds = self._make(opening, normal_bounds, name, bounds)
        known = self._bounds.setdefault(name, bounds)
        if known != bounds:
            text = write_bounds(known) or "[0..]"
            self._fail(f"{name} already has the bounds {text}; write them once", opening)

    def _offset(self) -> int:
        sign = self._take("mark", "+") or self._take("mark", "-")
        if sign is None:
            return 0
        number = self._optional_number()
        if number is None:
            self._fail(f"expected a number after `{sign.text}`; write the name first: `seq + 1`")
        return number if sign.text == "+" else -number

    def _optional_bounds(self, signed: bool = False) -> Bounds:
        if not self._take("mark", "["):
            return Bounds()
        low = self._parse_signed_number() if signed else self._optional_number()
        if not self._take("dots"):
            self._fail("expected `..` between the bounds, as in `[2..512]`, `[2..]` or `[..512]`")
        high = self._parse_signed_number() if signed else self._optional_number()
        if not self._take("mark", "]"):
            self._fail("expected `]` after the bounds")
        return Bounds(low, high)

    def _parse_signed_number(self) -> int | None:
        negative = self._take("mark", "-")
        number = self._optional_number()
        if negative and number is None:
            self._fail("expected a number after `-`")
        return -number if negative and number is not None else number

    def _optional_number(self) -> int | None:
        token = self._take("number")
        if token is None:
            return None
        digits = token.text.lstrip("0") or "0"
        if len(digits) > _DIGITS:
            self._fail("this number is larger than any size", token)
        return int(digits)

    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self, kind: str, text: str | None = None) -> Token | None:
        token = self._tokens[self._next]
        if token.kind != kind or (text is not None and token.text != text):
            return None
        self._next += 1
        return token

    def _make(self, at: Token, make: Callable[..., _T], *parts: object) -> _T:
        """`make(*parts)`; its error points at the token."""
        try:
            return make(*parts)
        except ShapesError as error:
            self._fail(error.message, at)

    def _fail_after(self, dim: Spec) -> NoReturn:
        """Raises an error about what follows a dim, with the right syntax for arithmetic."""
        following = self._peek()
        if following.kind == "comparison":
            self._fail("write a relation by itself, after a `;`: `x: seq; seq <= 512`")
        if following.text in ("//", "%", "("):
            self._fail("write a computed size in parentheses: `(seq // 2)`")
        if isinstance(dim, Named) and following.text == "*":
            self._fail(f"a multiple is written with the number first: `2*{dim.name}`")
        if isinstance(dim, Pinned) and following.kind == "word" and following.text != "_":
            self._fail(
                f"write `{dim.size}*{following.text}` for a multiple, or `,` between two dims"
            )
        if isinstance(dim, Pinned) and following.text == "+":
            self._fail(f"a sum is written with the name first: `seq + {dim.size}`")
        self._fail("expected `,` before another dim or `;` before another input")

    def _fail(self, message: str, at: Token | None = None) -> NoReturn:
        raise ShapesError(message, self._text, (at or self._peek()).column)

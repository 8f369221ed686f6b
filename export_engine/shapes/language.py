"""The short language for shapes: `x: batch, seq[4..512], _; cache.0.key: batch, 2*seq + 1, *`.

shapes := leaf (";" leaf)*            a line end may stand for ";"
leaf   := path ":" [dim ("," dim)*]
path   := part ("." part)*            a part is a word, a number or "a quoted text"
dim    := "_"                         static
        | "*" [bounds]                torch decides (Dim.AUTO)
        | "!" [bounds]                dynamic or an error (Dim.DYNAMIC)
        | number                      pinned
        | [number "*"] name [bounds] [("+" | "-") number]
bounds := "[" [number] ".." [number] "]"
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from export_engine.shapes.spec import (
    Auto,
    Bounds,
    Dynamic,
    Named,
    Pinned,
    Shapes,
    ShapesError,
    Spec,
    Static,
    join_path,
)

_TOKEN = re.compile(
    r'(?P<space>[ \t\r]+)|(?P<end>[;\n])|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<number>\d+)'
    r"|(?P<word>[A-Za-z_]\w*)|(?P<dots>\.\.)|(?P<mark>[:,.*!+\-\[\]])",
    re.ASCII,
)
_ESCAPES = {"n": "\n"}


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def parse(text: str) -> Shapes:
    """The Shapes of a text. Raises ShapesError, which points at the column."""
    return _Parser(text).shapes()


def write(shapes: Shapes) -> str:
    """The canonical text of a Shapes; `parse` reads it. Bounds stand at a Dim's first mention."""
    unwritten = dict(shapes.bounds)
    leaves = []
    for path, specs in shapes.leaves.items():
        dims = ", ".join(write_dim(spec, unwritten) for spec in specs)
        leaves.append(f"{path}: {dims}" if dims else f"{path}:")
    return "; ".join(leaves)


def write_dim(spec: Spec, unwritten: dict[str, Bounds]) -> str:
    """One dim; the bounds of its Dim are taken out of `unwritten` with it."""
    match spec:
        case Static():
            return "_"
        case Auto(low, high):
            return "*" + write_bounds((low, high))
        case Dynamic(low, high):
            return "!" + write_bounds((low, high))
        case Pinned(size):
            return str(size)
        case Named(name, scale, offset):
            head = f"{scale}*{name}" if scale != 1 else name
            head += write_bounds(unwritten.pop(name, (None, None)))
            if offset:
                head += f" {'+' if offset > 0 else '-'} {abs(offset)}"
            return head


def write_bounds(bounds: Bounds) -> str:
    """Bounds in brackets; empty where both sides are open."""
    low, high = ("" if bound is None else str(bound) for bound in bounds)
    return f"[{low}..{high}]" if low or high else ""


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._split()
        self._next = 0
        self._bounds: dict[str, Bounds] = {}

    def shapes(self) -> Shapes:
        leaves: dict[str, tuple[Spec, ...]] = {}
        while True:
            while self._take("end"):
                pass
            if self._peek().kind == "stop":
                return Shapes(leaves, self._bounds)
            start = self._peek()
            path = self._path()
            if path in leaves:
                self._fail(f"{path} stands here a second time; write its dims once", start)
            leaves[path] = self._dims(path)
            if self._peek().kind not in ("end", "stop"):
                self._fail("expected `,` before another dim or `;` before another input")

    def _path(self) -> str:
        parts = [self._path_part()]
        while self._take("mark", "."):
            parts.append(self._path_part())
        return join_path(parts)

    def _path_part(self) -> str:
        token = self._peek()
        if token.kind not in ("word", "number", "string"):
            self._fail("expected the name of an input, as in `x: batch, _`")
        self._next += 1
        return _unquoted(token.text) if token.kind == "string" else token.text

    def _dims(self, path: str) -> tuple[Spec, ...]:
        if not self._take("mark", ":"):
            self._fail(f"expected `:` and the dims of {path}, as in `{path}: batch, _`")
        if self._peek().kind in ("end", "stop"):
            return ()
        dims = [self._dim()]
        while self._take("mark", ","):
            dims.append(self._dim())
        return tuple(dims)

    def _dim(self) -> Spec:
        if self._take("word", "_"):
            return Static()
        if self._take("mark", "*"):
            return Auto(*self._optional_bounds())
        if self._take("mark", "!"):
            return Dynamic(*self._optional_bounds())
        number = self._take("number")
        if number is not None and not self._take("mark", "*"):
            return Pinned(int(number.text))
        return self._named(number)

    def _named(self, number: _Token | None) -> Spec:
        name = self._take("word")
        if name is None or name.text == "_":
            self._fail(
                "expected a dim: a name, a number, `_` (static), `*` (automatic) or `!` (dynamic)"
            )
        if number is not None and int(number.text) == 0:
            self._fail(f"0*{name.text} is no dim; write the size itself", number)
        opening = self._peek()
        bounds = self._optional_bounds()
        if bounds != (None, None):
            known = self._bounds.setdefault(name.text, bounds)
            if known != bounds:
                shown = write_bounds(known)
                self._fail(f"{name.text} has the bounds {shown} already; write them once", opening)
        return Named(name.text, int(number.text) if number else 1, self._offset())

    def _offset(self) -> int:
        sign = self._take("mark", "+") or self._take("mark", "-")
        if sign is None:
            return 0
        number = self._take("number")
        if number is None:
            self._fail(f"expected a number after `{sign.text}`")
        return int(number.text) if sign.text == "+" else -int(number.text)

    def _optional_bounds(self) -> Bounds:
        opening = self._take("mark", "[")
        if opening is None:
            return (None, None)
        low = self._take("number")
        if not self._take("dots"):
            self._fail("expected `..` between the bounds, as in `[2..512]` or `[2..]`")
        high = self._take("number")
        if not self._take("mark", "]"):
            self._fail("expected `]` after the bounds")
        bounds = (int(low.text) if low else None, int(high.text) if high else None)
        if low and high and int(low.text) > int(high.text):
            self._fail(
                f"{low.text} is more than {high.text}; write the smaller bound first", opening
            )
        return bounds

    def _split(self) -> list[_Token]:
        tokens: list[_Token] = []
        column = 0
        while column < len(self._text):
            match = _TOKEN.match(self._text, column)
            if match is None:
                raise ShapesError(self._unknown(column), self._text, column)
            if match.lastgroup != "space":
                tokens.append(_Token(str(match.lastgroup), match.group(), column))
            column = match.end()
        return [*tokens, _Token("stop", "", len(self._text))]

    def _unknown(self, column: int) -> str:
        character = self._text[column]
        if character == '"':
            return "this quote is not closed"
        return f"{character!r} has no meaning here"

    def _peek(self) -> _Token:
        return self._tokens[self._next]

    def _take(self, kind: str, text: str | None = None) -> _Token | None:
        token = self._tokens[self._next]
        if token.kind != kind or (text is not None and token.text != text):
            return None
        self._next += 1
        return token

    def _fail(self, message: str, at: _Token | None = None) -> NoReturn:
        raise ShapesError(message, self._text, (at or self._peek()).column)


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text[1:-1])

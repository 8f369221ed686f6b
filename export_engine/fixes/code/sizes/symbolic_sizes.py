"""Rewrites Python and NumPy around sizes, so that a size stays symbolic where its number is asked.

torch has functions that keep it symbolic, and that are Python's own for plain numbers.
"""

from __future__ import annotations

import ast
import re

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    last_name,
    spans,
)
from export_engine.fixes.rules.factories import by_arange

_FORMAT = re.compile(r"(?<!\{)\{([^{}:!]+):[^{}]*\}")
"""A value of an f-string that has a format: `{n:>4}`."""
_ROUNDED = ("ceil", "floor")
_COMPUTED = ("log", "log2", "log10", "log1p", "exp", "sin", "cos", "tan", "tanh")
_REDUCED = (
    *("all", "amax", "amin", "any", "argmax", "argmin", "max", "mean", "min"),
    *("norm", "prod", "round", "sum"),
)
"""Methods of tensors that give one number: `int` reads it, with or without torch's help."""
LENGTHS = (".shape[0]", ".__len__()")
"""What `len(x)` becomes: of a tensor, and of an object of the user's own, whose size `len` would
make an int."""


def symbolic(text: str, line: int, length: str = LENGTHS[0]) -> Rewritten:
    """The text with sizes kept symbolic at a line.

    Args:
        text: of the file.
        line: of the numbers that are made of sizes.
        length: what takes the place of `len`, behind its argument.

    Raises:
        CannotRewrite: that line needs no concrete size.
    """
    source = Source(text, line)
    idioms = _Idioms(source, length)
    pieces: list[Piece] = []
    names: list[str] = []
    for node in ast.walk(source.function):  # outer ones come first
        if not isinstance(node, ast.Call | ast.JoinedStr) or not spans(node, line):
            continue
        new = idioms.find(node)
        if any(_overlap(one, other) for one in new for other in pieces):
            continue
        pieces += new
        if new:
            names.append(f"`{source.of(node.func if isinstance(node, ast.Call) else node)}`")
    if not pieces:
        raise CannotRewrite("that line needs no concrete size")
    return source.replace(pieces)._replace(what=" and ".join(dict.fromkeys(names)))


def _overlap(one: Piece, other: Piece) -> bool:
    return one.start < other.end and other.start < one.end


class _Idioms:
    """The replacements in one function."""

    def __init__(self, source: Source, length: str) -> None:
        self.source, self.torch, self.length = source, source.torch, length
        self.numpy, self.math = source.names_of("numpy"), source.names_of("math")
        calls = [node for node in ast.walk(source.function) if isinstance(node, ast.Call)]
        self.rounded = {
            part
            for call in calls
            if last_name(call.func) in (*_ROUNDED, "int", "round")
            for part in call.args[:1]
        }
        """What is made an int, which no tensor is."""
        self.looked_up = {
            key for call in calls if last_name(call.func) == "get" for key in call.args[:1]
        }
        """Keys of dicts, which no symbol is."""

    def find(self, node: ast.Call | ast.JoinedStr) -> list[Piece]:
        """What replaces a call, or an f-string without its formats of numbers; none for others."""
        of = self.source.of
        match node:
            case ast.JoinedStr():
                text = _FORMAT.sub(r"{\1!s}", of(node))
                return self._put(node, text) if text != of(node) else []
            case ast.Call() if rounded := self._find_rounded(node):
                return self._put(node, rounded)
            case ast.Call(ast.Name("int" | "float" as name), [inner], []):
                is_int = name == "int" and self._rounds(inner)  # the inner call gives an int
                if is_int or self._is_tensor(inner) or node in self.looked_up:
                    return []
                return self._put(node.func, f"{self.torch}.sym_{name}")
            case ast.Call(ast.Name("map"), [ast.Name("int" | "float" as name) as first, *_]):
                return self._put(first, f"{self.torch}.sym_{name}")
            case ast.Call(ast.Name("len"), [ast.Name()], []):
                return self._wrap(node, "", self.length)
            case ast.Call(ast.Name("isinstance"), [_, ast.Name("int") as kind]):
                return self._put(kind, f"(int, {self.torch}.SymInt)")
            case ast.Call(ast.Attribute(owner, name)):
                return self._of_library(node, of(owner), name)
        return []

    def _of_library(self, node: ast.Call, owner: str, name: str) -> list[Piece]:
        """What replaces a function of torch, NumPy or math."""
        if owner in (self.torch, "F") or owner.endswith((".fft", "functional")):
            text = by_arange(node, name, self.torch, self.source.of)
            if text is not None:
                return self._put(node, text)
        match node.args:
            case [inner] if owner in self.numpy | self.math and not node.keywords:
                if name == "sqrt":
                    return self._put(node.func, f"{self.torch}.sym_sqrt")
                if name in _COMPUTED and node not in self.rounded:
                    double = f", dtype={self.torch}.float64))"
                    return self._wrap(node, f"{self.torch}.{name}({self.torch}.tensor(", double)
                if owner in self.numpy and name in (*_ROUNDED, "prod"):
                    return self._put(node.func, f"{self._math}.{name}")
            case [inner, *_] if owner == self.torch and name == "as_tensor" and _is_shape(inner):
                function = self._put(node.func, f"{self.torch}.tensor")
                if isinstance(inner, ast.List | ast.Tuple):
                    return function
                return [*function, *self._put(inner, f"[*{self.source.of(inner)}]")]
            case [inner] if owner == self.torch and name == "_shape_as_tensor":
                return self._wrap(node, f"{self.torch}.tensor([*", ".shape])")
            case [inner, *_] if owner == "copy" and name in ("copy", "deepcopy"):
                return self._wrap(node, "", "") if _is_shape(inner) else []
        return []

    def _rounds(self, node: ast.expr) -> bool:
        """Whether it is a call of NumPy's that is replaced by Python's, which gives an int."""
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or self.source.of(called.value) in self.math:
            return False
        return called.attr in (*_ROUNDED, "prod")

    def _find_rounded(self, node: ast.Call) -> str:
        """`torch.ceil(torch.tensor(n / 2)).long()`, or `int` of it, by `math`; empty for others.

        The tensor is a float32, so that from 2**24 on it is the less exact of the two.
        """
        match node:
            case ast.Call(ast.Attribute(inner, "long" | "int" | "item"), [], []):
                pass
            case ast.Call(ast.Name("int"), [inner], []):
                pass
            case _:
                return ""
        match inner:
            case ast.Call(
                ast.Attribute(ast.Name(outer), name),
                [ast.Call(ast.Attribute(ast.Name(made), "tensor" | "as_tensor"), [number])],
                [],
            ) if outer == made == self.torch and name in _ROUNDED:
                return f"{self._math}.{name}({self.source.of(number)})"
        return ""

    @property
    def _math(self) -> str:
        return next(iter(sorted(self.math)), "__import__('math')")

    def _is_tensor(self, node: ast.expr) -> bool:
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or called.attr not in _REDUCED:
            return False
        return self.source.of(called.value) not in self.numpy | self.math

    def _put(self, node: ast.expr, text: str) -> list[Piece]:
        return [Piece(self.source.start(node), self.source.end(node), text)]

    def _wrap(self, node: ast.Call, before: str, after: str) -> list[Piece]:
        """The call's argument with other text around it."""
        argument = node.args[0]
        return [
            Piece(self.source.start(node), self.source.start(argument), before),
            Piece(self.source.end(argument), self.source.end(node), after),
        ]


def _is_shape(value: ast.expr) -> bool:
    """Whether a value is a shape, or sizes listed."""
    match value:
        case ast.Subscript(value=ast.Attribute(attr="shape")) | ast.Attribute(attr="shape"):
            return True
        case ast.Subscript(value=ast.Call(ast.Attribute(attr="size"))):
            return True
        case ast.Call(ast.Attribute(attr="size")) | ast.List() | ast.Tuple():
            return True
    return False

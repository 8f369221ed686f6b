"""A number that Python computes of a size, as an op: `int(math.log2(n))`, `math.isqrt(n)`.

No symbol stands for the logarithm, the root or the greatest common divisor of a size. An op
computes it when the program runs, and `.item()` reads it, as a number that is data-dependent. Each
op is of a tensor that holds one number, in 64 bits as Python's; ints stay ints and floats floats.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from export_engine.attempt import Edit, Request
from export_engine.fixes.code.editing.eager_trials import agrees_at
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)
from export_engine.fixes.excluded_calls import resize
from export_engine.traced_sizes import leaf_values

_SIZES = (*range(2, 11), 15, 16, 17, 25, 31, 32, 33, 36, 63, 64, 65)
"""Where a number in floats may be one off: around powers and squares, and others between."""
_MOST_ELEMENTS = 2**20
_RULES: dict[tuple[str, int], tuple[str, str]] = {
    **{
        (name, 1): (f"{{d0}}.{name}()", "float")
        for name in ("log", "log2", "log10", "log1p", "exp", "exp2", "sqrt", "sin", "cos")
    },
    **{(name, 1): (f"{{d0}}.{name}().long()", "int") for name in ("floor", "ceil", "trunc")},
    **{(name, 1): ("{d0}", "float") for name in ("float", "float64")},
    **{(name, 1): ("{d0}.long()", "int") for name in ("int", "int64", "int32")},
    **{(name, 2): ("{torch}.minimum({a0}, {a1})", "") for name in ("min", "minimum")},
    **{(name, 2): ("{torch}.maximum({a0}, {a1})", "") for name in ("max", "maximum")},
    ("fix", 1): ("{d0}.trunc()", "float"),
    ("rint", 1): ("{d0}.round()", "float"),
    ("round", 1): ("{d0}.round().long()", "int"),
    ("isqrt", 1): ("{d0}.sqrt().floor().long()", "int"),
    ("gcd", 2): ("{torch}.gcd({l0}, {l1})", "int"),
    ("log", 2): ("({d0}.log() / {d1}.log())", "float"),
    ("clip", 3): ("{torch}.clamp({a0}, {a1}, {a2})", ""),
    (".bit_length", 1): ("{torch}.frexp({d0}).exponent.long()", "int"),
}
"""By the name of a function, with a dot that of a method, and how many numbers it takes: what
computes it, and the kind of that; empty: floats where one is. Of a number `{d0}` is a float, `{l0}`
an int, and `{a0}` of the kind that all are."""
_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("({a0} + {a1})", ""),
    ast.Sub: ("({a0} - {a1})", ""),
    ast.Mult: ("({a0} * {a1})", ""),
    ast.FloorDiv: ("({a0} // {a1})", ""),
    ast.Mod: ("({a0} % {a1})", ""),
    ast.Pow: ("{torch}.pow({a0}, {a1})", ""),
    ast.Div: ("({d0} / {d1})", "float"),
    ast.LShift: ("({l0} << {l1})", "int"),
}


def agrees_at_many_sizes(request: Request, edit: Edit) -> bool:
    """Whether an edited model answers as it did at sizes where a number in floats may be one off.

    One name's size is changed, to each size that is small enough to run on.
    """
    shapes = request.shapes
    others = [
        resize(request, shapes, name, size)
        for name in (shapes.dims() if shapes is not None else ())
        for size in _SIZES
        if shapes is not None
    ]
    return agrees_at(request, edit, [e for e in others if _elements(e) <= _MOST_ELEMENTS])


def _elements(request: Request) -> int:
    values = leaf_values(request).values()
    return sum(math.prod(value.shape) for value in values if hasattr(value, "shape"))


def by_ops(text: str, line: int, *, all_ints: bool = False) -> Rewritten:
    """The text with each int that a line computes of a size as an op, and its number read back.

    Args:
        text: of the file.
        line: of the numbers, or of what is done with them.
        all_ints: also those that torch keeps symbolic, as `n // 3` and `max(n, 5)`.

    Raises:
        CannotRewrite: that line needs no concrete size, or no op computes this expression.
    """
    source = Source(text, line)
    ops = _Ops(source, all_ints)
    statements = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.stmt) and spans(node, line) and not hasattr(node, "body")
    ]
    read = [node.id for one in statements for node in ast.walk(one) if isinstance(node, ast.Name)]
    for block in (statements, _find_assignments(source, set(read))):
        pieces = [piece for statement in block for piece in ops.find_ints(statement)]
        if pieces:
            return source.replace([*pieces, *_of_powers(source, block)])
    raise CannotRewrite("that line needs no concrete size")


def _find_assignments(source: Source, names: set[str]) -> list[ast.stmt]:
    """Where names get their values that are assigned once."""
    stores: dict[str, list[ast.stmt]] = {}
    for node in ast.walk(source.function):
        match node:
            case ast.Assign([ast.Name(name)]) if name in names:
                stores.setdefault(name, []).append(node)
    return [nodes[0] for nodes in stores.values() if len(nodes) == 1]


def _of_powers(source: Source, statements: list[ast.stmt]) -> Iterator[Piece]:
    """Of a name for a power: a check that says it is at least 1, and the transforms of its length.

    torch cannot know it of a number that is data-dependent. A transform asks whether its length is
    more than there is, to pad or to cut; `pad` by a difference does either, and asks nothing.
    """
    for statement in statements:
        match statement:
            case ast.Assign([ast.Name(name)], ast.BinOp(ast.Constant(int(base)), op, _)):
                if base < 1 or not isinstance(op, ast.Pow | ast.LShift):
                    continue
                after = source.line_after(statement)
                check = f"{source.indent(statement)}{source.torch}._check({name} >= 1)\n"
                yield Piece(after, after, check)
                for call in ast.walk(source.function):
                    yield from _pad_transform(source, call, name)


def _pad_transform(source: Source, call: ast.AST, name: str) -> Iterator[Piece]:
    """`torch.fft.rfft(x, name)` of x that is padded, or cut, to that length."""
    match call:
        case ast.Call(
            ast.Attribute(owner, "fft" | "rfft" | "ifft"),
            [value, ast.Name(length)],
            [] | [ast.keyword("norm")],
        ) if length == name and source.of(owner).endswith("fft"):
            text = source.of(value)
            if re.fullmatch(r"[\w.]+", text):  # it is named twice, and must be computed once
                pad = f"{source.torch}.nn.functional.pad({text}, (0, {name} - {text}.shape[-1]))"
                more = "".join(f", {source.of(keyword)}" for keyword in call.keywords)
                yield Piece(source.start(value), source.end(call) - 1, f"{pad}{more}")


class _Scalar(NamedTuple):
    """An expression, and what it is: `plain` code as the user wrote it, or a tensor."""

    text: str
    kind: Literal["plain", "int", "float"]


class _Ops:
    """Compiles expressions of one function to ops."""

    def __init__(self, source: Source, all_ints: bool) -> None:
        self._source, self._torch, self._all = source, source.torch, all_ints
        self._numpy = source.names_of("numpy")
        self._libraries = self._numpy | source.names_of("math")

    def find_ints(self, node: ast.AST) -> Iterator[Piece]:
        """The outermost expressions that are ints, each read of the ops that compute it."""
        if isinstance(node, ast.expr):
            try:
                scalar = self._compile(node)
            except CannotRewrite:
                scalar = None
            if scalar is not None and scalar.kind == "int":
                start, end = self._source.start(node), self._source.end(node)
                yield Piece(start, end, f"{scalar.text}.item()")
            if scalar is not None and scalar.kind != "float":
                return
        for inner in ast.iter_child_nodes(node):
            yield from self.find_ints(inner)

    def _compile(self, node: ast.expr) -> _Scalar:
        """The expression in ops, where something in it asks a size for its number."""
        if not any(map(self._asks, ast.walk(node))):
            if not all(map(_is_of_sizes, ast.walk(node))):
                raise CannotRewrite("it may be data-dependent")
            return _Scalar(self._source.of(node), "plain")
        match node:
            case ast.UnaryOp(ast.USub(), inner):
                scalar = self._compile(inner)
                return _Scalar(f"(-{scalar.text})", scalar.kind)
            case ast.BinOp(left, operator, right) if type(operator) in _OPERATORS:
                return self._fill(_OPERATORS[type(operator)], [left, right])
            case ast.Call(ast.Name(name), args, []):
                return self._call(name, args)
            case ast.Call(ast.Attribute(owner, name), args, []):
                if self._source.of(owner) in self._libraries:
                    return self._call(name, args, by_numpy=self._source.of(owner) in self._numpy)
                return self._method(owner, name, args)
        raise CannotRewrite("no op computes this expression")

    def _call(self, name: str, args: list[ast.expr], *, by_numpy: bool = False) -> _Scalar:
        rule = _RULES.get((name, len(args)))
        if rule is None:
            raise CannotRewrite(f"no op computes {name}")
        if by_numpy and name in ("floor", "ceil", "trunc"):
            rule = rule[0].removesuffix(".long()"), "float"
        if name.startswith("int") and (scalar := self._compile(args[0])).kind == "int":
            return scalar
        return self._fill(rule, args)

    def _method(self, owner: ast.expr, name: str, args: list[ast.expr]) -> _Scalar:
        scalar = self._compile(owner)
        match name, args:
            case "bit_length", []:
                return self._fill(_RULES[".bit_length", 1], [owner])
            case "item", [] if scalar.kind != "plain":
                return scalar
            case "astype", [kind] if scalar.kind != "plain" and "int" in self._source.of(kind):
                return _Scalar(f"{scalar.text}.long()", "int")
        raise CannotRewrite(f"no op computes {name}")

    def _fill(self, rule: tuple[str, str], args: list[ast.expr]) -> _Scalar:
        template, kind = rule
        parts = [self._compile(argument) for argument in args]
        is_float = any(part.kind == "float" or _may_be_float(part) for part in parts)
        texts = {"torch": self._torch}
        for at, part in enumerate(parts):
            texts[f"d{at}"] = self._as("float", part)
            if f"{{l{at}}}" in template or not is_float:
                texts[f"l{at}"] = self._as("int", part)
            texts[f"a{at}"] = texts[f"d{at}" if is_float else f"l{at}"]
        is_float = kind == "float" if kind else is_float
        return _Scalar(template.format(**texts), "float" if is_float else "int")

    def _as(self, kind: Literal["int", "float"], part: _Scalar) -> str:
        """A number as a tensor of a kind."""
        if part.kind == "plain":
            bits = f"{self._torch}.{kind}64"
            return f"{self._torch}.tensor({part.text}, dtype={bits})"
        if part.kind == "float" and kind == "int":
            raise CannotRewrite("it is a float, but an int is required")
        return part.text if part.kind == kind else f"{part.text}.double()"

    def _asks(self, node: ast.AST) -> bool:
        """Whether code asks a size for its number."""
        match node:
            case ast.BinOp(op=ast.FloorDiv() | ast.Mod()):
                return self._all
            case ast.Call(ast.Name("int" | "round"), args):
                computed = (inner for argument in args for inner in ast.walk(argument))
                return any(isinstance(inner, ast.Call | ast.BinOp) for inner in computed)
            case ast.Call(ast.Name("min" | "max")):
                return self._all
            case ast.Call(ast.Attribute(owner, name)):
                return name == "bit_length" or self._source.of(owner) in self._libraries
        return False


def _is_of_sizes(node: ast.AST) -> bool:
    """Whether code calls nothing, or what gives a size: a method of a tensor may give data."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr in ("size", "numel", "dim")
    return called is None or getattr(called, "id", "") in ("len", "min", "max", "abs")


def _may_be_float(part: _Scalar) -> bool:
    """Whether plain code divides, or has a float in it."""
    return part.kind == "plain" and any(
        isinstance(node, ast.Div)
        or (isinstance(node, ast.Constant) and isinstance(node.value, float))
        for node in ast.walk(ast.parse(part.text, mode="eval"))
    )

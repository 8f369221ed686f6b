"""An expression of numbers as ops of tensors that hold one number each, in 64 bits as Python's.

`2 ** int(math.log2(n))` becomes `2 ** torch.tensor(n, dtype=torch.float64).log2().long()`. Ints
stay ints and floats floats: torch would compute an int and a float in 32 bits.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Literal, NamedTuple

from export_engine.fixes.code.editing.text_edits import CannotRewrite, Source

_FLOAT_OPS = frozenset({"log", "log2", "log10", "log1p", "exp", "exp2", "sqrt", "sin", "cos"})
"""Functions of math and NumPy that are methods of a tensor."""
_ROUNDING = {"floor": "floor", "ceil": "ceil", "trunc": "trunc", "fix": "trunc", "rint": "round"}
_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_PAIRS = {"min": "minimum", "max": "maximum", "minimum": "minimum", "maximum": "maximum"}


class Scalar(NamedTuple):
    """An expression, and what it is: `plain` code as the user wrote it, or a tensor."""

    text: str
    kind: Literal["plain", "int", "float"]


class ScalarOps:
    """Compiles expressions of one function."""

    def __init__(self, source: Source, *, all_ints: bool = False) -> None:
        self._source, self._torch, self._all = source, source.torch, all_ints
        self._math, self._numpy = source.names_of("math"), source.names_of("numpy")

    def compile_expression(self, node: ast.expr) -> Scalar:
        """The expression in ops where something in it asks a size for its number.

        Raises:
            CannotRewrite: it has what no op computes.
        """
        if not any(self._asks(inner) for inner in ast.walk(node)):
            if not all(map(_is_of_sizes, ast.walk(node))):
                raise CannotRewrite("it may be data-dependent")
            return Scalar(self._source.of(node), "plain")
        match node:
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp(op=ast.USub()):
                scalar = self.compile_expression(node.operand)
                return Scalar(f"(-{scalar.text})", scalar.kind)
        raise CannotRewrite("no op computes this expression")

    def _asks(self, node: ast.AST) -> bool:
        if isinstance(node, ast.BinOp):
            return self._all and isinstance(node.op, ast.FloorDiv | ast.Mod)
        if not isinstance(node, ast.Call):
            return False
        owner, name = self._split_name(node)
        if owner == "":
            whole = name in ("int", "round") and not all(map(_is_a_size, node.args))
            return whole or (self._all and name in ("min", "max"))
        return name == "bit_length" or owner in self._math | self._numpy

    def _split_name(self, call: ast.Call) -> tuple[str, str]:
        if isinstance(call.func, ast.Attribute):
            return self._source.of(call.func.value), call.func.attr
        return "", call.func.id if isinstance(call.func, ast.Name) else "?"

    def _call(self, call: ast.Call) -> Scalar:
        owner, name = self._split_name(call)
        if call.keywords or any(isinstance(argument, ast.Starred) for argument in call.args):
            raise CannotRewrite("its arguments are unpacked or passed by keyword")
        if isinstance(call.func, ast.Attribute) and owner not in self._math | self._numpy:
            return self._method(call.func.value, name, call.args)
        by_numpy = owner in self._numpy
        match name, call.args:
            case "int" | "int64" | "int32", [one]:
                scalar = self.compile_expression(one)
                return Scalar(
                    f"{scalar.text if scalar.kind == 'int' else self._double(scalar)}.long()", "int"
                )
            case "float" | "float64", [one]:
                return Scalar(self._double(self.compile_expression(one)), "float")
            case "round", [one]:
                return Scalar(f"{self._double(self.compile_expression(one))}.round().long()", "int")
            case "isqrt", [one]:
                return Scalar(
                    f"{self._double(self.compile_expression(one))}.sqrt().floor().long()", "int"
                )
            case "gcd", [one, other]:
                pair = (
                    f"{self._long(self.compile_expression(one))}, "
                    f"{self._long(self.compile_expression(other))}"
                )
                return Scalar(f"{self._torch}.gcd({pair})", "int")
            case "log", [one, base]:
                by = self._double(self.compile_expression(base))
                return Scalar(
                    f"({self._double(self.compile_expression(one))}.log() / {by}.log())", "float"
                )
            case _, [one] if name in _ROUNDING:
                rounded = f"{self._double(self.compile_expression(one))}.{_ROUNDING[name]}()"
                whole = Scalar(f"{rounded}.long()", "int")
                return Scalar(rounded, "float") if by_numpy else whole
            case _, [one] if name in _FLOAT_OPS:
                return Scalar(f"{self._double(self.compile_expression(one))}.{name}()", "float")
            case _, [one, other] if name in _PAIRS:
                (left, right), kind = self._alike(
                    self.compile_expression(one), self.compile_expression(other)
                )
                return Scalar(f"{self._torch}.{_PAIRS[name]}({left}, {right})", kind)
            case "clip", [one, low, high]:
                parts, kind = self._alike(*map(self.compile_expression, (one, low, high)))
                return Scalar(f"{self._torch}.clamp({', '.join(parts)})", kind)
        raise CannotRewrite(f"no op computes {name}")

    def _method(self, owner: ast.expr, name: str, args: list[ast.expr]) -> Scalar:
        scalar = self.compile_expression(owner)
        match name, args:
            case "bit_length", []:
                return Scalar(f"{self._torch}.frexp({self._double(scalar)}).exponent.long()", "int")
            case "item", [] if scalar.kind != "plain":
                return scalar
            case "astype", [kind] if scalar.kind != "plain" and "int" in self._source.of(kind):
                return Scalar(f"{scalar.text}.long()", "int")
        raise CannotRewrite(f"no op computes {name}")

    def _binary(self, node: ast.BinOp) -> Scalar:
        left, right = self.compile_expression(node.left), self.compile_expression(node.right)
        if isinstance(node.op, ast.Div):
            return Scalar(f"({self._double(left)} / {self._double(right)})", "float")
        (one, other), kind = self._alike(left, right)
        if isinstance(node.op, ast.Pow):
            return Scalar(f"{self._torch}.pow({one}, {other})", kind)
        if isinstance(node.op, ast.LShift) and kind == "int":
            return Scalar(f"({one} << {other})", "int")
        if type(node.op) not in _SIGNS:
            raise CannotRewrite("no op computes this expression")
        return Scalar(f"({one} {_SIGNS[type(node.op)]} {other})", kind)

    def _alike(self, *parts: Scalar) -> tuple[list[str], Literal["int", "float"]]:
        """The parts as tensors of one kind: floats where one is, or may be."""
        is_float = any(scalar.kind == "float" or _may_be_float(scalar) for scalar in parts)
        as_kind: Callable[[Scalar], str] = self._double if is_float else self._long
        return [as_kind(scalar) for scalar in parts], "float" if is_float else "int"

    def _double(self, made: Scalar) -> str:
        if made.kind == "plain":
            return f"{self._torch}.tensor({made.text}, dtype={self._torch}.float64)"
        return made.text if made.kind == "float" else f"{made.text}.double()"

    def _long(self, made: Scalar) -> str:
        if made.kind == "float":
            raise CannotRewrite("it is a float, but an int is required")
        if made.kind == "int":
            return made.text
        return f"{self._torch}.tensor({made.text}, dtype={self._torch}.int64)"


def _is_of_sizes(node: ast.AST) -> bool:
    """Whether code calls nothing, or what gives a size: a method of a tensor may give data."""
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(called, ast.Attribute):
        return called.attr in ("size", "numel", "dim")
    return called is None or getattr(called, "id", "") in ("len", "min", "max", "abs")


def _is_a_size(node: ast.expr) -> bool:
    """Whether code names a value, or computes ints alone: torch keeps an int of it symbolic."""
    return not any(isinstance(inner, ast.Call | ast.BinOp) for inner in ast.walk(node))


def _may_be_float(made: Scalar) -> bool:
    """Whether plain code divides, or has a float in it."""
    if made.kind != "plain":
        return False
    return any(
        isinstance(node, ast.Div)
        or (isinstance(node, ast.Constant) and isinstance(node.value, float))
        for node in ast.walk(ast.parse(made.text, mode="eval"))
    )

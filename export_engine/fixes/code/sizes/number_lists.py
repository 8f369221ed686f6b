"""`torch.tensor([i / n for i in range(n)])` as arithmetic on `torch.arange(n)`.

A list over a dynamic size has as many numbers as the example's size. The same arithmetic on a
tensor of the indices has as many as the size of a call. A list of lists has a dim for each loop.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Set

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_OF_MATH = frozenset({"sin", "cos", "tan", "exp", "log", "log2", "log10", "sqrt"})
_KEPT = frozenset({"dtype", "device"})


def by_indices(
    node: ast.Call, torch: str, math: Set[str], of: Callable[[ast.expr], str]
) -> str | None:
    """What gives the same as a call of `torch.tensor` on a list of computed numbers, or None.

    Args:
        node: the call.
        torch: what torch is called there.
        math: what Python's `math` is called there.
        of: the text of an expression.
    """
    more = {keyword.arg: of(keyword.value) for keyword in node.keywords if keyword.arg}
    loops = _loops(node.args[0]) if len(node.args) == 1 and more.keys() <= _KEPT else None
    if loops is None:
        return None
    inner, counted, flat = loops
    written = _Indices([index for index, _ in counted], math, torch)
    parts = written.row(inner)
    if parts is None or len(written.found) < len(counted):
        return None
    device = f", device={more['device']}" if "device" in more else ""
    double = _DOUBLE if written.whole is False else ""
    for at, (index, limits) in enumerate(counted):
        text = ", ".join(map(of, limits))
        dims = ", ".join([":", *["None"] * (len(counted) - at - 1)])
        for mark, dtype in ((_here(index), double), (_here(index, exact=True), _DOUBLE)):
            steps = f"{torch}.arange({text}{dtype.format(torch=torch)}{device})"
            parts = parts.replace(mark, steps if dims == ":" else f"{steps}[{dims}]")
    message = f"({parts})" + (f".flatten(0, {len(counted) - 1})" if flat else "")
    to = more.get("dtype") or (f"{torch}.get_default_dtype()" if double else "")
    return f"{message}.to({to})" if to else message


def of_whole_numbers(numbers: ast.expr) -> bool:
    """Whether what a list computes is made of its indices and of whole numbers alone."""
    indices = set[str]()
    while isinstance(numbers, ast.ListComp):
        targets = [generator.target for generator in numbers.generators]
        indices |= {target.id for target in targets if isinstance(target, ast.Name)}
        numbers = numbers.elt
    return all(
        node.id in indices
        if isinstance(node, ast.Name)
        else not isinstance(node, ast.Attribute | ast.Div)
        for node in ast.walk(numbers)
    )


_Counted = list[tuple[str, list[ast.expr]]]
"""The index of each loop, the outermost first, with the arguments of its `range`."""


def _loops(node: ast.expr) -> tuple[ast.expr, _Counted, bool] | None:
    """What is computed, the loops around it, and whether one list has several; or None."""
    counted: _Counted = []
    flat = False
    while isinstance(node, ast.ListComp):
        flat = len(node.generators) > 1
        if flat and counted:
            return None
        for generator in node.generators:
            match generator:
                case ast.comprehension(
                    ast.Name(index), ast.Call(ast.Name("range"), [_, *_] as limits, []), [], 0
                ):
                    counted.append((index, limits))
                case _:
                    return None
        node = node.elt
    indices = {index for index, _ in counted}
    read = {
        name.id
        for _, limits in counted
        for limit in limits
        for name in ast.walk(limit)
        if isinstance(name, ast.Name)
    }
    if not counted or read & indices or len(indices) < len(counted):
        return None
    return node, counted, flat


_DOUBLE = ", dtype={torch}.float64"
"""The dtype of indices of which floats are computed, as Python does."""


def _here(index: str, *, exact: bool = False) -> str:
    """Where an index stands in the text; in what is compared, it is as exact as Python's."""
    return f"\0{index}{'!' if exact else ''}\0"


class _Indices:
    """A number that is computed from indices, written for tensors of them."""

    def __init__(self, indices: list[str], math: Set[str], torch: str) -> None:
        self.indices, self.math, self.torch = indices, math, torch
        self.found: set[str] = set()
        self.compares = False
        """Whether what is written is compared, and no part of the result."""
        self.whole: bool | None = None
        """False where it is a float for certain."""

    def row(self, node: ast.expr) -> str | None:
        """The text of a number, or of a list of numbers each with an index, as a last dim."""
        if not isinstance(node, ast.List | ast.Tuple):
            return self.parts(node) if self._has_index(node) else None
        parts = [
            self.parts(expression) if self._has_index(expression) else None
            for expression in node.elts
        ]
        if not parts or None in parts:
            return None
        listed = ", ".join(part for part in parts if part is not None)
        return f"{self.torch}.stack({self.torch}.broadcast_tensors({listed}), -1)"

    def parts(self, node: ast.expr) -> str | None:
        """The text of a part; None where a tensor would not compute the same."""
        match node:
            case ast.Name(name) if name in self.indices:
                self.found.add(name)
                return _here(name, exact=self.compares)
            case ast.BinOp(left, operator, right) if isinstance(operator, _ARITHMETIC):
                if isinstance(operator, ast.Div):
                    self.whole = False
                one, other = self.parts(left), self.parts(right)
                sign = _SIGNS[type(operator)]
                return None if one is None or other is None else f"({one} {sign} {other})"
            case ast.UnaryOp(ast.USub(), inner):
                text = self.parts(inner)
                return None if text is None else f"(-{text})"
            case ast.Compare(left, [compared], [right]) if type(compared) in _COMPARED:
                whole, self.compares = self.whole, True
                one, other = self.parts(left), self.parts(right)
                self.whole, self.compares = whole, False
                sign = _COMPARED[type(compared)]
                is_known = one is not None and other is not None and self._has_index(node)
                return f"({one} {sign} {other})" if is_known else None
            case ast.BoolOp(operator, values) if all(isinstance(e, ast.Compare) for e in values):
                texts = [self.parts(expression) for expression in values]
                sign = " & " if isinstance(operator, ast.And) else " | "
                return None if None in texts else f"({sign.join(filter(None, texts))})"
            case ast.IfExp(ast.Compare() | ast.BoolOp() as test, body, orelse):
                texts = [self.parts(expression) for expression in (test, body, orelse)]
                if None in texts:
                    return None
                return f"{self.torch}.where({', '.join(filter(None, texts))})"
            case ast.Call(ast.Attribute(ast.Name(owner), name), [inner], []):
                if owner not in self.math or name not in _OF_MATH or not self._has_index(inner):
                    return None
                self.whole = False
                text = self.parts(inner)
                return None if text is None else f"{self.torch}.{name}({text})"
            case ast.Call(ast.Attribute(ast.Name(owner), "power"), [left, right], []):
                if owner not in self.math:
                    return None
                return self.parts(ast.BinOp(left, ast.Pow(), right))
            case ast.Call(ast.Name("abs"), [inner], []) if self._has_index(inner):
                text = self.parts(inner)
                return None if text is None else f"{text}.abs()"
            case ast.Call(ast.Name("min" | "max" as name), [one, other], []):
                return self._limit(name, one, other)
            case ast.Call(ast.Name("float"), [ast.Constant(str())], []):
                self.whole = False
                return ast.unparse(node)
            case ast.Constant(int() | float() as value) if not isinstance(value, bool):
                self.whole = False if isinstance(value, float) else self.whole
                return ast.unparse(node)
            case ast.Name() | ast.Attribute() | ast.Subscript() if not self._has_index(node):
                return ast.unparse(node)
        return None

    def _limit(self, name: str, one: ast.expr, other: ast.expr) -> str | None:
        """`min(i, 3)` of a tensor of indices."""
        if not self._has_index(one):
            one, other = other, one
        first, second = self.parts(one), self.parts(other)
        if first is None or second is None or not self._has_index(one):
            return None
        if self._has_index(other):
            return f"{self.torch}.{name}imum({first}, {second})"
        return f"{first}.clamp({'max' if name == 'min' else 'min'}={second})"

    def _has_index(self, node: ast.expr) -> bool:
        return any(isinstance(n, ast.Name) and n.id in self.indices for n in ast.walk(node))


_COMPARED: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}

"""`torch.tensor([i / n for i in range(n)])` as arithmetic on `torch.arange(n)`.

A list over a dynamic size has as many numbers as the example's size. The same arithmetic on a
tensor of the indices has as many as the size of a call.
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
    more = {each.arg: of(each.value) for each in node.keywords if each.arg}
    match node.args:
        case [ast.ListComp(elt, [ast.comprehension(ast.Name(index), ast.Call() as over, [], 0)])]:
            pass
        case _:
            return None
    called = isinstance(over.func, ast.Name) and over.func.id == "range" and not over.keywords
    if not called or not over.args or not more.keys() <= _KEPT:
        return None
    written = _Indices(index, math, torch)
    parts = written.parts(elt)
    if parts is None or not written.found:
        return None
    device = f", device={more['device']}" if "device" in more else ""
    double = f", dtype={torch}.float64" if written.whole is False else ""
    limits = ", ".join(of(each) for each in over.args)
    made = f"({parts.replace(_HERE, f'{torch}.arange({limits}{double}{device})')})"
    to = more.get("dtype") or (f"{torch}.get_default_dtype()" if double else "")
    return f"{made}.to({to})" if to else made


_HERE = "\0"
"""Where the indices stand in the text."""


class _Indices:
    """A number that is computed from an index, written for a tensor of indices."""

    def __init__(self, index: str, math: Set[str], torch: str) -> None:
        self.index, self.math, self.torch = index, math, torch
        self.found = False
        self.whole: bool | None = None
        """False where it is a float for certain."""

    def parts(self, node: ast.expr) -> str | None:
        """The text of a part; None where a tensor would not compute the same."""
        match node:
            case ast.Name(name) if name == self.index:
                self.found = True
                return _HERE
            case ast.BinOp(left, operator, right) if isinstance(operator, _ARITHMETIC):
                if isinstance(operator, ast.Div):
                    self.whole = False
                one, other = self.parts(left), self.parts(right)
                sign = _SIGNS[type(operator)]
                return None if one is None or other is None else f"({one} {sign} {other})"
            case ast.UnaryOp(ast.USub(), inner):
                found = self.parts(inner)
                return None if found is None else f"(-{found})"
            case ast.Call(ast.Attribute(ast.Name(owner), name), [inner], []):
                if owner not in self.math or name not in _OF_MATH or not self._has_index(inner):
                    return None
                self.whole = False
                found = self.parts(inner)
                return None if found is None else f"{self.torch}.{name}({found})"
            case ast.Constant(int() | float() as value) if not isinstance(value, bool):
                self.whole = False if isinstance(value, float) else self.whole
                return ast.unparse(node)
            case ast.Name() | ast.Attribute() | ast.Subscript() if not self._has_index(node):
                return ast.unparse(node)
        return None

    def _has_index(self, node: ast.expr) -> bool:
        return any(isinstance(n, ast.Name) and n.id == self.index for n in ast.walk(node))


_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}

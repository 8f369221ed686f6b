"""`math.erf(x)` of a tensor, for which Python needs its number, as torch's op on a double.

Python's floats are doubles, and so is what `.item()` gives: a number of the program.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_ALIKE = {
    *("sqrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "erf", "erfc", "lgamma"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
    *("atanh", "fabs"),
}
"""Functions of one number that torch has under the same name, but for `fabs`."""


def computed_by_torch(text: str, line: int) -> Rewritten:
    """The text with the functions of `math` at a line computed by torch, of doubles.

    Where Python raises, as for the root of a negative number, torch gives NaN or an infinity.

    Raises:
        Unclear: none is called there, or with more than a number.
    """
    source = Source(text, line)
    modules, pieces = source.names_of("math"), list[Piece]()
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line):
            continue
        called = node.func
        if not isinstance(called, ast.Attribute) or source.of(called.value) not in modules:
            continue
        plain = len(node.args) == 1 and not node.keywords
        if called.attr not in _ALIKE or not plain or _is_constant(node.args[0], modules):
            continue
        name = "abs" if called.attr == "fabs" else called.attr
        torch, given = source.torch, node.args[0]
        pieces += [
            Piece(source.start(node), source.start(given), f"{torch}.{name}({torch}.as_tensor("),
            Piece(source.end(given), source.end(node), f", dtype={torch}.float64)).item()"),
        ]
    if not pieces:
        raise Unclear("no function of `math` is given a number from data there")
    return source.changed(pieces)


def _is_constant(value: ast.expr, modules: frozenset[str]) -> bool:
    """Whether no name stands in it, but for that of `math`."""
    names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
    return names <= modules

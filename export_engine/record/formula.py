"""Formulas: arithmetic on sizes that can be evaluated anywhere, without Python and without torch.

A formula is a list in postfix order. Numbers stand for themselves, `d0`, `d1`, ... for sizes, and
any other text is an operator of `OPERATORS`, which takes as many values as it needs. They are
compiled from the Python text that torch writes for guards and sizes. The text is only parsed, never
run. `widgets/frontend/src/formula.ts` evaluates the same.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from export_engine.record.contract import Formula

OPERATORS: dict[str, tuple[int, Callable[..., Any]]] = {
    "+": (2, operator.add),
    "-": (2, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "//": (2, operator.floordiv),
    "%": (2, operator.mod),
    "**": (2, operator.pow),
    "min": (2, min),
    "max": (2, max),
    "neg": (1, operator.neg),
    "not": (1, operator.not_),
    "abs": (1, abs),
    "floor": (1, math.floor),
    "ceil": (1, math.ceil),
    "trunc": (1, math.trunc),
    "round": (1, round),
    "sqrt": (1, math.sqrt),
    "float": (1, float),
    "==": (2, operator.eq),
    "!=": (2, operator.ne),
    "<": (2, operator.lt),
    "<=": (2, operator.le),
    ">": (2, operator.gt),
    ">=": (2, operator.ge),
    "and": (2, lambda one, other: bool(one) and bool(other)),
    "or": (2, lambda one, other: bool(one) or bool(other)),
}
"""Per operator, how many values it takes and what it makes of them, as in Python."""


_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "and",
    ast.Or: "or",
}
_UNARY: dict[type[ast.AST], str] = {ast.USub: "neg", ast.Not: "not"}
_CALLS = {
    "min": "min",
    "max": "max",
    "abs": "abs",
    "round": "round",
    "float": "float",
    "math.floor": "floor",
    "math.ceil": "ceil",
    "math.trunc": "trunc",
    "math.sqrt": "sqrt",
}
_LARGEST_POWER = 64


class NoFormula(ValueError):
    """A text that is no arithmetic on sizes."""


def compile_formula(text: str, resolve: Callable[[str], Formula | None]) -> Formula:
    """The formula of a Python expression.

    Args:
        text: the expression.
        resolve: takes the text of a name, an attribute, a subscript or a call, and gives what it
            stands for, or None where it means nothing to it.

    Raises:
        NoFormula: something in it is neither a size nor an operator.
    """
    try:
        return _compiled(ast.parse(text.strip(), mode="eval").body, resolve)
    except (SyntaxError, RecursionError) as error:
        raise NoFormula(text) from error


def evaluate(formula: Formula, sizes: Sequence[int]) -> Any:
    """The value of a formula.

    Args:
        formula: not empty.
        sizes: the value of `d0`, of `d1` and so on.

    Raises:
        ArithmeticError, ValueError: it has none for these sizes, as with a division by zero.
    """
    stack: list[Any] = []
    for token in formula:
        if not isinstance(token, str):
            stack.append(token)
        elif token in OPERATORS:
            count, function = OPERATORS[token]
            values = stack[-count:]
            del stack[-count:]
            if token == "**" and abs(values[1]) > _LARGEST_POWER:
                raise OverflowError("a power too large to compute")
            stack.append(function(*values))
        else:
            stack.append(sizes[int(token[1:])])
    return stack[0]


def sizes_in(formula: Formula) -> list[int]:
    """The numbers of the sizes that a formula is about, each once."""
    names = (each for each in formula if isinstance(each, str) and each not in OPERATORS)
    return list(dict.fromkeys(int(name[1:]) for name in names))


def _compiled(node: ast.expr, resolve: Callable[[str], Formula | None]) -> Formula:
    match node:
        case ast.Constant(value=bool(value)):
            return [int(value)]
        case ast.Constant(value=int() | float() as value):
            return [value]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return [*_compiled(left, resolve), *_compiled(right, resolve), _BINARY[type(op)]]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return [*_compiled(operand, resolve), _UNARY[type(op)]]
        case ast.BoolOp(op=op, values=values):
            return _joined([_compiled(each, resolve) for each in values], _BINARY[type(op)])
        case ast.Compare(left=left, ops=ops, comparators=others):
            return _comparison([left, *others], ops, resolve)
    known = resolve(ast.unparse(node))
    if known is not None:
        return known
    if isinstance(node, ast.Call) and not node.keywords and node.args:
        name = _CALLS.get(ast.unparse(node.func))
        parts = [_compiled(each, resolve) for each in node.args]
        if name in ("min", "max"):
            return _joined(parts, name)
        if name and len(parts) == 1:
            return [*parts[0], name]
    raise NoFormula(ast.unparse(node))


def _comparison(
    values: Sequence[ast.expr], ops: Sequence[ast.cmpop], resolve: Callable[[str], Formula | None]
) -> Formula:
    """`2 <= n <= 16` as two comparisons, both of which hold."""
    if any(type(op) not in _BINARY for op in ops):
        raise NoFormula("a comparison without sizes")
    parts = [_compiled(each, resolve) for each in values]
    return _joined(
        [
            [*one, *other, _BINARY[type(op)]]
            for one, op, other in zip(parts, ops, parts[1:], strict=False)
        ],
        "and",
    )


def _joined(parts: Sequence[Formula], name: str) -> Formula:
    found = list(parts[0])
    for part in parts[1:]:
        found += [*part, name]
    return found

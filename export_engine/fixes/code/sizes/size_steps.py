"""`next(s for s in (8, 16, 32) if s >= n)` as a sum of steps, which keeps the size symbolic.

So is a loop that returns such a number. It is the first number, and a step more for each that is
not large enough.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.text_edits import Source


class Steps(NamedTuple):
    """What takes the place of a call, and what must hold before it."""

    made: str
    check: str
    """Empty where another number is taken if none is large enough."""


def first_large_enough(source: Source, call: ast.Call) -> Steps | None:
    """The first number of a row that is as large as a size; None for another `next`."""
    match call:
        case ast.Call(ast.Name("next"), [ast.GeneratorExp(ast.Name(taken), [row]), *other], []):
            pass
        case _:
            return None
    match row:
        case ast.comprehension(ast.Name(name), numbers, [ast.Compare(left, [sign], [right])], 0):
            pass
        case _:
            return None
    if taken != name or len(other) > 1 or not isinstance(numbers, _ROWS):
        return None
    size, least = _asked(name, left, sign, right)
    if size is None or any(getattr(each, "id", "") == name for each in ast.walk(size)):
        return None
    wanted = _whole(source, size, least)
    listed = _in_rising_order(source, numbers)
    if other:
        if not isinstance(other[0], ast.Constant) or type(other[0].value) is not int:
            return None
        listed = f"[*{listed}, {source.of(other[0])}]"
    torch = source.torch
    step = f"(_next - _each) * {torch}.sym_min({torch}.sym_max({wanted} - _each, 0), 1)"
    more = f"sum({step} for _each, _next in zip(_row, _row[1:]))"
    check = "" if other else f"{torch}._check({wanted} <= max({source.of(numbers)}))"
    return Steps(f"(lambda _row: _row[0] + {more})({listed})", check)


_ROWS = (ast.Tuple, ast.List, ast.Name, ast.Attribute)


def _asked(
    name: str, left: ast.expr, sign: ast.cmpop, right: ast.expr
) -> tuple[ast.expr | None, str]:
    """The size that a number must not be below, and what is added to it for `>`."""
    if isinstance(right, ast.Name) and right.id == name:
        left, right = right, left
        turned = {ast.LtE: ast.GtE(), ast.Lt: ast.Gt()}
        sign = turned.get(type(sign), ast.Eq())
    if not isinstance(left, ast.Name) or left.id != name:
        return None, ""
    if isinstance(sign, ast.GtE):
        return right, ""
    return (right, " + 1") if isinstance(sign, ast.Gt) else (None, "")


def _whole(source: Source, node: ast.expr, more: str) -> str:
    """The least whole number that is large enough: rounded up, unless it is a size for certain."""
    text = source.of(node)
    whole = isinstance(node, ast.Subscript | ast.Call) and (".shape[" in text or ".size(" in text)
    if whole and ("/" not in text):
        return f"{text}{more}"
    operand = text if isinstance(node, ast.Name | ast.Attribute) else f"({text})"
    return f"({operand} // 1{more})" if more else f"(-(-{operand} // 1))"


def _in_rising_order(source: Source, numbers: ast.expr) -> str:
    """A row in which a number below an earlier one is that one, which is found before it."""
    if isinstance(numbers, ast.Tuple | ast.List):
        values = [each.value if isinstance(each, ast.Constant) else None for each in numbers.elts]
        whole = [each for each in values if type(each) is int]
        if len(whole) == len(values) and whole == sorted(whole):
            return source.of(numbers)
    row = source.of(numbers)
    return f"[max({row}[: _at + 1]) for _at in range(len({row}))]"


def returned_by_loop(source: Source, loop: ast.For) -> Steps | None:
    """What a loop returns that runs over such a row, and returns what is large enough."""
    match loop:
        case ast.For(ast.Name(name), row, [ast.If(test, [ast.Return(ast.Name(given))], [])], []):
            pass
        case _:
            return None
    behind = source.following(loop)[:1]
    if given != name or not behind:
        return None
    other: list[ast.expr] = []
    if isinstance(behind[0], ast.Return):
        if not isinstance(behind[0].value, ast.Constant):
            return None
        other = [behind[0].value]
    elif not isinstance(behind[0], ast.Raise):
        return None
    taken = ast.comprehension(ast.Name(name), row, [test], 0)
    call = ast.Call(ast.Name("next"), [ast.GeneratorExp(ast.Name(name), [taken]), *other], [])
    return first_large_enough(source, call)

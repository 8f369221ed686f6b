"""A choice between numbers that are computed from data: torch.sym_ite, sym_min and sym_max."""

from __future__ import annotations

import ast
import re

import torch

from export_engine.attempt import Attempt, Exported
from export_engine.fixes.code.branches.select_to_where import chosen_by
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Source
from export_engine.source import parse_stack_trace


def selected_number(text: str, line: int, *, whole: bool = False) -> Rewritten:
    """The text with the choice between numbers at a line as torch.sym_ite, sym_min or sym_max.

    Args:
        text: of the file.
        line: of the test.
        whole: whether the test is about ints. `0 * x` is NaN for some floats, and the smaller of
            two depends on their order where one is NaN.

    Raises:
        Unclear: there is none at that line, it does more than choose, or its test is more than one
            comparison.
    """
    return chosen_by(Source(text, line), line, _whole_number if whole else _sym_ite)


def _sym_ite(source: Source, test: ast.expr, then: str, otherwise: str) -> str:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _sym_ite(source, test.operand, otherwise, then)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        raise Unclear("the test is more than one comparison")
    return f"{source.torch}.sym_ite({source.of(test)}, {then}, {otherwise})"


def _whole_number(source: Source, test: ast.expr, then: str, otherwise: str) -> str:
    """A choice between ints."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return _sym_ite(source, test, then, otherwise)
    clamped = _clamped(source, test, then, otherwise)
    if clamped:
        return f"{source.torch}.{clamped}"
    values = [_of_data(source, test, each) for each in (then, otherwise)]
    return _sym_ite(source, test, *values)


def _clamped(source: Source, test: ast.Compare, then: str, otherwise: str) -> str:
    """The smaller or the larger of two ints: unlike of sym_ite, torch knows its range."""
    left, right = source.of(test.left), source.of(test.comparators[0])
    op = type(test.ops[0])
    if op not in _MIRRORED:
        return ""
    if then == right or otherwise == left:  # of `b if a < b else a`, the other way round
        then, otherwise, op = otherwise, then, _OPPOSITE[op]
    if then == right or otherwise == left:
        left, right, op = right, left, _MIRRORED[op]
    if then != left or not (otherwise == right or _next_to(otherwise, right, op)):
        return ""
    name = "sym_max" if op in (ast.Gt, ast.GtE) else "sym_min"
    return f"{name}({left}, {otherwise})"


def _next_to(value: str, limit: str, op: type[ast.cmpop]) -> bool:
    """Whether a value is the next int behind a limit, which the test then includes or not."""
    step = {ast.Gt: 1, ast.GtE: -1, ast.Lt: -1, ast.LtE: 1}[op]
    numbers = [int(each) for each in (value, limit) if re.fullmatch(r"-?\d+", each)]
    return len(numbers) == 2 and numbers[0] == numbers[1] + step


_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt,
    ast.LtE: ast.GtE,
    ast.Gt: ast.Lt,
    ast.GtE: ast.LtE,
}


def _of_data(source: Source, test: ast.Compare, value: str) -> str:
    """A value as a number of the kind that the test is about: sym_ite takes two of one kind."""
    if source.of(test.left).endswith((".shape[0]", ".numel()")):  # of data, as a value need not be
        return f"{value} + 0 * {source.of(test.left)}"
    tested = {n.id for side in (test.left, *test.comparators) for n in _counted(side)}
    known = {n.id for n in _counted(ast.parse(value, mode="eval").body)}
    if tested & known or not tested:
        return value
    number = test.left if _counted(test.left) else test.comparators[0]
    return f"{value} + 0 * ({source.of(number)})"


def _counted(value: ast.expr) -> list[ast.Name]:
    """The names that are numbers of an expression, and not what a size is asked of."""
    if isinstance(value, ast.BinOp):
        return _counted(value.left) + _counted(value.right)
    if isinstance(value, ast.UnaryOp):
        return _counted(value.operand)
    return [value] if isinstance(value, ast.Name) else []


def numbers_are_whole(found: Attempt, edited_file: str) -> bool:
    """Whether every number that an edited file selects is an int, as the test's are.

    Of an export that failed, none is known not to be.
    """
    if not isinstance(found, Exported):
        return True
    for node in found.program.graph.nodes:
        if getattr(node.target, "__name__", "") not in _SELECTS:
            continue
        stack = parse_stack_trace(node.meta.get("stack_trace") or "")
        here = not stack or stack[-1].file == edited_file
        if here and isinstance(node.meta.get("val"), torch.SymFloat | float):
            return False
    return True


_SELECTS = ("sym_ite", "sym_min", "sym_max")

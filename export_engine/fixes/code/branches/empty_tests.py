"""Tests whether anything is selected: `if mask.any():`, `if idx.numel() == 0: continue`."""

from __future__ import annotations

import ast

from export_engine.fixes.code.branches.no_effect import NoEffect
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import read_again, read_later
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source

_COUNTS = frozenset({"numel", "nelement", "size", "sum", "count_nonzero"})


def asks_empty(test: ast.expr) -> bool | None:
    """Whether a test holds where nothing is selected; None for a test of another kind."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = asks_empty(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        answers = {asks_empty(each) for each in test.values}
        wanted = isinstance(test.op, ast.Or)
        return wanted if answers == {wanted} else None
    if isinstance(test, ast.Compare):
        return _compared(test)
    inner_test = _unwrapped(test)
    if isinstance(inner_test, ast.Call):
        name = getattr(inner_test.func, "attr", "")
        return False if name == "any" or _is_count(inner_test) else None
    return False if _is_count(inner_test) else None


def _compared(test: ast.Compare) -> bool | None:
    if len(test.ops) != 1:
        return None
    left, right, op = _unwrapped(test.left), _unwrapped(test.comparators[0]), test.ops[0]
    number = right.value if isinstance(right, ast.Constant) else None
    if type(number) is not int:
        both = isinstance(left, ast.Name) and isinstance(right, ast.Name)
        return isinstance(op, ast.Eq) if both and isinstance(op, ast.Eq | ast.NotEq) else None
    if not _is_count(left) and not isinstance(left, ast.Name):
        return None
    match op, number:
        case (ast.Eq() | ast.LtE(), 0) | (ast.Lt(), 1):
            return True
        case (ast.NotEq() | ast.Gt(), 0) | (ast.GtE(), 1):
            return False
    return None


def _unwrapped(value: ast.expr) -> ast.expr:
    """A value without `.item()`, `bool(...)` and `int(...)` around it."""
    if isinstance(value, ast.Call):
        if isinstance(value.func, ast.Attribute) and value.func.attr == "item" and not value.args:
            return _unwrapped(value.func.value)
        named = isinstance(value.func, ast.Name) and value.func.id in ("bool", "int")
        if named and len(value.args) == 1:
            return _unwrapped(value.args[0])
    return value


def _is_count(value: ast.expr) -> bool:
    """Whether a value is how many elements there are."""
    if isinstance(value, ast.Subscript):
        return isinstance(value.value, ast.Attribute) and value.value.attr == "shape"
    called = value.func if isinstance(value, ast.Call) else None
    if isinstance(called, ast.Name):
        return called.id == "len"
    return isinstance(called, ast.Attribute) and called.attr in _COUNTS


def without_test(source: Source, branch: ast.If, seeds: set[str]) -> Rewritten:
    """The text without a test whether anything is selected, its block run in any case.

    Args:
        source: the text.
        branch: a branch whose test `asks_empty`.
        seeds: names of what the test is about.

    Raises:
        Unclear: the branch does more than to skip a block that does nothing then.
    """
    if source.text[source.start(branch) :].startswith("elif"):
        raise Unclear("an `elif` is reached only where the tests before it fail")
    indent = source.indent(branch)
    flag = source.of(branch.test)
    if asks_empty(branch.test):
        skipped = source.following(branch)
        loop = _around(source.function, branch)
        if not _only_continues(branch.body) or loop is None:
            raise Unclear("the branch does more than go on with the loop")
        block = [*branch.orelse, *skipped]
        flag = f"{source.torch}.logical_not({flag})"
        later = read_later(source.function, loop) | read_again(loop)
        effect = NoEffect(source, block, seeds, later, flag if _is_tensor(branch.test) else "")
        if branch.orelse:
            raise Unclear("the branch that goes on has an `else`")
        start, end = source.line_start(branch), source.line_after(branch.body[-1])
        return source.changed([*effect.pieces, Piece(start, end, "")])
    if branch.orelse or branch.body[0].lineno == branch.lineno:
        raise Unclear("the branch has an `else`, or is on one line")
    later = read_later(source.function, branch)
    effect = NoEffect(source, branch.body, seeds, later, flag if _is_tensor(branch.test) else "")
    dedented = _dedented(source, branch, indent)
    return source.changed([*effect.pieces, *dedented])


def _is_tensor(test: ast.expr) -> bool:
    """Whether a test is a tensor, which torch.where takes: `mask.any()`, `mask.sum() > 0`."""
    found = [
        node.func.attr
        for node in ast.walk(test)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    return bool(found) and {*found} <= {"any", "sum", "count_nonzero"}


def _dedented(source: Source, branch: ast.If, indent: str) -> list[Piece]:
    """Pieces that drop a branch's own line, and move its block to where it stood."""
    first = branch.body[0]
    lost = first.col_offset - branch.col_offset
    if any(
        isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno
        for each in branch.body
        for node in ast.walk(each)
    ):
        raise Unclear("a string in the branch spans lines")
    head = source.line_start(branch)
    pieces = [Piece(head, source.line_after(branch.test), "")]
    number = (branch.test.end_lineno or branch.lineno) + 1
    for at in range(number, (branch.body[-1].end_lineno or first.lineno) + 1):
        start = source.at_line(at)
        if source.text[start : start + lost].isspace():
            deeper = start + len(indent)
            pieces.append(Piece(deeper, deeper + lost, ""))
    return pieces


def _only_continues(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Continue) and all(
        isinstance(each, ast.Continue | ast.Pass) for each in body
    )


def _around(function: ast.AST, branch: ast.If) -> ast.For | ast.While | None:
    """The loop whose own block a branch is in."""
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.While) and branch in node.body:
            return node
    return None

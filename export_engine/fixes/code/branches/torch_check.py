"""Assumes one branch on a data-dependent number with `torch._check`.

The program then rejects the values of the other branch, which torch.cond would accept.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)

_OPPOSITE: dict[type[ast.cmpop], str] = {
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.Eq: "!=",
    ast.NotEq: "==",
}


def add_check(text: str, line: int, holds: bool) -> tuple[Rewritten, str]:
    """The text with a check before the branch at a line, and the condition that it checks.

    Args:
        text: of the file.
        line: of the branch's test.
        holds: whether the test is to hold.

    Raises:
        CannotRewrite: there is no branch at that line, or its test is more than one comparison.
    """
    source = Source(text, line)
    statement, test = _branch(source, line)
    condition = _condition(source, test, holds)
    indent = source.indent(statement)
    check = f"{source.torch}._check({condition})\n{indent}"
    start = source.start(statement)
    return source.replace([Piece(start, start, check)]), condition


def _branch(source: Source, line: int) -> tuple[ast.stmt, ast.expr]:
    """The statement to check before, and the test of its branch."""
    for statement in ast.walk(source.function):
        if not isinstance(statement, ast.stmt) or statement is source.function:
            continue
        if isinstance(statement, ast.If) and spans(statement.test, line):
            if source.text[source.start(statement) :].startswith("elif"):
                raise CannotRewrite("an `elif` is reached only where the tests before it fail")
            return statement, statement.test
        if isinstance(statement, ast.Assign | ast.Return | ast.Expr | ast.AugAssign):
            for part in ast.walk(statement):
                if isinstance(part, ast.IfExp) and spans(part.test, line):
                    return statement, part.test
    raise CannotRewrite("there is no branch at that line")


def _condition(source: Source, test: ast.expr, holds: bool) -> str:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _condition(source, test.operand, not holds)
    calls = [node for node in ast.walk(test) if isinstance(node, ast.Call | ast.NamedExpr)]
    if calls:
        raise CannotRewrite(f"`{source.of(calls[0])}` in the test would be computed twice")
    if isinstance(test, ast.Name | ast.Attribute):
        return f"{source.of(test)} {'!=' if holds else '=='} 0"
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        raise CannotRewrite("the test is more than one comparison")
    opposite = _OPPOSITE.get(type(test.ops[0]))
    if opposite is None:
        raise CannotRewrite("the test is not a comparison of numbers")
    if holds:
        return source.of(test)
    return f"{source.of(test.left)} {opposite} {source.of(test.comparators[0])}"

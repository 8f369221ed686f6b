"""One way of a branch, without its test."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Rewritten,
    Source,
    branch_at,
    with_way,
)


def one_way(text: str, line: int, taken: bool) -> Rewritten:
    """The text with the `if` at a line replaced by what it guards, or by what its `else` does.

    Args:
        text: of the file.
        line: of the test.
        taken: whether the branch is kept, without its test.

    Raises:
        CannotRewrite: there is none, what is left out raises an error, what is kept leaves the
            block, or a loop might not end without what is left out.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    if any(isinstance(node, ast.NamedExpr | ast.Await) for node in ast.walk(branch.test)):
        raise CannotRewrite("the test binds a name")
    kept, dropped = (branch.body, branch.orelse) if taken else (branch.orelse, branch.body)
    if any(isinstance(node, ast.Raise) for statement in dropped for node in ast.walk(statement)):
        raise CannotRewrite("the other branch raises an error")
    if kept and isinstance(kept[-1], ast.Raise):
        raise CannotRewrite("the branch only raises")
    if _ends_a_loop(source, branch, dropped):
        raise CannotRewrite("the other branch may end a loop")
    leaves = (ast.Return, ast.Break, ast.Continue)
    if any(isinstance(node, leaves) for statement in kept for node in ast.walk(statement)):
        raise CannotRewrite("the branch leaves the block")
    return source.replace([with_way(source, branch, kept)])


def _ends_a_loop(source: Source, branch: ast.If, dropped: list[ast.stmt]) -> bool:
    """Whether a loop around a branch may go on for ever without one of its blocks."""
    around = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.For | ast.While) and branch in ast.walk(node)
    ]
    leaves = any(
        isinstance(n, ast.Break | ast.Return) for statement in dropped for n in ast.walk(statement)
    )
    return any(isinstance(loop, ast.While) for loop in around) or (bool(around) and leaves)

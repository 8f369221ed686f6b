"""The statement that a line of the user's code belongs to."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import CannotRewrite, Source


def statement_at(source: Source, line: int) -> ast.stmt:
    """The innermost statement whose own line, or whose test, is at a line.

    Of `if test: return x` it is the branch, unless what follows chooses, too.

    Raises:
        CannotRewrite: there is none.
    """
    nodes: list[ast.stmt] = []
    for node in ast.walk(source.function):
        if not isinstance(node, ast.stmt) or node is source.function:
            continue
        if isinstance(node, ast.If):
            last = node.test.end_lineno or node.test.lineno
        elif hasattr(node, "body"):
            last = node.lineno
        else:
            last = node.end_lineno or node.lineno
        if node.lineno <= line <= last:
            nodes.append(node)
    if not nodes:
        raise CannotRewrite("there is no statement at that line")
    innermost = max(nodes, key=lambda node: (node.lineno, node.col_offset))
    if any(isinstance(part, ast.IfExp) for part in ast.walk(innermost)):
        return innermost
    around = [
        statement
        for statement in nodes
        if isinstance(statement, ast.If) and innermost in statement.body
    ]
    return around[0] if around else innermost

"""A branch that continues its loop, as an `if` with the rest of the iteration in its `else`."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_DEEPER = "    "


def else_for_continue(text: str, line: int) -> Rewritten:
    """The text without the `continue` of the branch at a line; what it skips is in an `else`.

    A branch that does nothing else becomes `if not ...`. The line of its test stays.

    Raises:
        Unclear: there is none, or the rest of the iteration leaves the loop.
    """
    while True:
        source = Source(text, line)
        loop, branch = _found(source, line)
        after = loop.body[loop.body.index(branch) + 1 :]
        later = [each for each in after if _continues(each)]
        made = _without(source, loop, later[-1] if later else branch)
        if not later:
            return made
        text = made.text


def _found(source: Source, line: int) -> tuple[ast.For | ast.While, ast.If]:
    for loop in ast.walk(source.function):
        for each in loop.body if isinstance(loop, ast.For | ast.While) else ():
            if isinstance(each, ast.If) and spans(each.test, line) and _continues(each):
                assert isinstance(loop, ast.For | ast.While)
                return loop, each
    raise Unclear("no loop is continued at that line")


def _continues(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[-1], ast.Continue)


def _without(source: Source, loop: ast.For | ast.While, branch: ast.stmt) -> Rewritten:
    assert isinstance(branch, ast.If)
    rest = loop.body[loop.body.index(branch) + 1 :]
    for each in [*branch.body[:-1], *rest]:
        for node in ast.walk(each):
            if isinstance(node, ast.Break | ast.Continue | ast.Return):
                raise Unclear(f"the iteration has `{ast.unparse(node).split()[0]}` besides")
    if branch.orelse or not rest or branch.body[-1].lineno == branch.lineno:
        raise Unclear("the branch has an `else`, is on one line, or skips nothing")
    at = source.indent(branch)
    moved = "\n".join(source.block_at(at + _DEEPER, rest))
    if rest[0].lineno <= (branch.end_lineno or 0):
        raise Unclear("the statement does not begin its line")
    end = source.line_end(rest[-1])
    last = branch.body[-1]
    if len(branch.body) == 1:
        test = Piece(source.start(branch.test), source.end(branch.test), _negated(source, branch))
        return source.changed([test, Piece(source.line_start(last), end, moved)])
    return source.changed([Piece(source.line_start(last), end, f"{at}else:\n{moved}")])


def _negated(source: Source, branch: ast.If) -> str:
    test = branch.test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return source.of(test.operand)
    return f"not ({source.of(test)})"

"""The code of a function that runs only in training mode, by the `training` of a module.

In eval mode, `if self.training and random.random() < p` asks for no random number. It reads source
and runs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_SETTINGS = ("args", "cfg", "config")
"""Names of settings, whose `training` may say anything."""
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def only_in_training(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes that eval mode never runs."""
    for node in ast.walk(function):
        for skipped in _iter_skipped(node):
            yield from ast.walk(skipped)


def _iter_skipped(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that eval mode passes over."""
    match node:
        case ast.If() | ast.While():
            yield from _not_taken(node.test, node.body, node.orelse)
        case ast.IfExp():
            yield from _not_taken(node.test, [node.body], [node.orelse])
        case ast.BoolOp():
            yield from _after_the_answer(node)
    for block in ("body", "orelse", "finalbody"):
        statements = getattr(node, block, None)
        if isinstance(statements, list):
            yield from _after_the_end(statements)


def _not_taken(
    test: ast.expr, body: Sequence[ast.AST], orelse: Sequence[ast.AST]
) -> Sequence[ast.AST]:
    answer = _in_eval_mode(test)
    if answer is None:
        return ()
    return orelse if answer else body


def _after_the_answer(node: ast.BoolOp) -> Iterator[ast.expr]:
    """The operands after the one that decides."""
    deciding = isinstance(node.op, ast.Or)
    decided = False
    for expression in node.values:
        if decided:
            yield expression
        decided = decided or _in_eval_mode(expression) is deciding


def _after_the_end(statements: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The statements after an `if` whose way in eval mode leaves the block."""
    for number, statement in enumerate(statements):
        answer = _in_eval_mode(statement.test) if isinstance(statement, ast.If) else None
        if isinstance(statement, ast.If) and answer is not None:
            taken = statement.body if answer else statement.orelse
            if taken and isinstance(taken[-1], _ENDS):
                return statements[number + 1 :]
    return ()


def _in_eval_mode(test: ast.expr) -> bool | None:
    """The value of a condition there; None if it depends on more."""
    match test:
        case ast.Attribute(value=ast.Name(id=owner), attr="training"):
            return None if owner in _SETTINGS else False
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            answer = _in_eval_mode(operand)
            return None if answer is None else not answer
        case ast.BoolOp(op=op, values=values):
            answers = [_in_eval_mode(expression) for expression in values]
            deciding = isinstance(op, ast.Or)
            if deciding in answers:
                return deciding
            return None if None in answers else not deciding
    return None

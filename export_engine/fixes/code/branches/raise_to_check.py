"""A branch that is assumed: one of its ways, behind a check of the program that it is taken.

A number computed from data is checked with `torch._check`; a tensor with a constant message with
`_assert_async`, which keeps the message in the program.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.conditions import predicate
from export_engine.fixes.code.editing.statements import is_elif, statement_at
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Rewritten, Source

_EXACT: dict[type[ast.cmpop], str] = {ast.Eq: "!=", ast.NotEq: "=="}
_ORDERS: dict[type[ast.cmpop], str] = {ast.Lt: ">=", ast.LtE: ">", ast.Gt: "<=", ast.GtE: "<"}
_SIZES = ("size", "numel", "dim", "int", "len")


NO_BRANCH = "there is no branch at that line"


class _Message(NamedTuple):
    """What a check says where it fails."""

    text: str
    """An expression in Python; empty without one."""
    constant: bool


def way_taken(text: str, line: int, holds: bool, *, tensor: bool) -> tuple[Rewritten, str]:
    """The text with a branch replaced by one of its ways, behind a check that it is the right one.

    Returns:
        The text, and the condition that it checks.

    Raises:
        CannotRewrite: there is no branch at that line.
    """
    source = Source(text, line)
    statement = statement_at(source, line)
    message = _Message("", constant=True)
    if isinstance(statement, ast.If):
        if is_elif(source, statement):
            raise CannotRewrite("an `elif` is reached only where the tests before it fail")
        indent = source.indent(statement)
        made = _checks(source, statement.test, message, indent, holds=holds, tensor=tensor)
        kept = statement.body if holds else statement.orelse
        return _follow_with_block(source, statement, made, kept, indent), _condition_text(
            source, statement.test, holds
        )
    for part in ast.walk(statement):
        if isinstance(part, ast.IfExp) and part.test.lineno <= line <= (part.end_lineno or 0):
            indent = source.indent(statement)
            made = _checks(source, part.test, message, indent, holds=holds, tensor=tensor)
            taken = part.body if holds else part.orelse
            pieces = [
                Piece(source.start(statement), source.start(statement), f"{made}\n{indent}"),
                Piece(source.start(part), source.end(part), f"({source.of(taken)})"),
            ]
            return source.replace(pieces), _condition_text(source, part.test, holds)
    raise CannotRewrite(NO_BRANCH)


def only_raises(text: str, line: int) -> bool:
    """Whether the branch at a line does nothing but raise: assuming the other way loses nothing."""
    try:
        source = Source(text, line)
        statement = statement_at(source, line)
    except CannotRewrite:
        return False
    return isinstance(statement, ast.If) and _find_message(source, statement.body) is not None


def _follow_with_block(
    source: Source, statement: ast.If, made: str, kept: list[ast.stmt], indent: str
) -> Rewritten:
    """The check instead of a branch, and behind it one of the branch's blocks."""
    start, end = source.start(statement), source.end(statement)
    if not kept:
        return source.replace([Piece(start, end, made)])
    if len(kept) == 1 and is_elif(source, kept[0]):
        at = source.start(kept[0])
        return source.replace([Piece(start, at + len("el"), f"{made}\n{indent}")])
    last = source.line_end(kept[-1])
    lines = source.block_at(indent, kept)
    return source.replace([Piece(start, max(end, last), "\n".join([made, *lines]))])


def _find_message(source: Source, body: list[ast.stmt]) -> _Message | None:
    """What a block that does nothing but raise, or exit, says; None where it does more."""
    if len(body) == 1 and _exits(body[0]):
        return _Message(repr(source.of(body[0])), constant=True)
    if not body or not isinstance(body[-1], ast.Raise) or body[-1].exc is None:
        return None
    named: dict[str, ast.expr] = {}
    for statement in body[:-1]:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or named:
            return None
        named[target.id] = statement.value
    raised = body[-1].exc
    if not isinstance(raised, ast.Call):
        return None if named else _Message(f'"{source.of(raised)}"', constant=True)
    if len(raised.args) != 1 or raised.keywords:
        return _Message(f'"{ast.unparse(raised.func)}"', constant=True)
    expression = raised.args[0]
    expression = (
        named.get(expression.id, expression) if isinstance(expression, ast.Name) else expression
    )
    return _Message(source.of(expression), _is_text(expression))


def _exits(statement: ast.stmt) -> bool:
    """`sys.exit(1)`, `exit()`, `quit()`: the model gives no answer there, either."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return False
    return ast.unparse(statement.value.func) in ("sys.exit", "exit", "quit")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _checks(
    source: Source, test: ast.expr, said: _Message, indent: str, *, holds: bool, tensor: bool
) -> str:
    """The checks that a test holds, or does not; one statement a line."""
    torch = source.torch
    if tensor:
        plain, asked = _plain_first(test) if not holds else ([], test)
        wanted = _predicate(source, asked, holds)
        if said.constant:
            text = f"{torch}.ops.aten._assert_async.msg({wanted}, {_literal(said)})"
        else:
            text = f"{torch}._check(({wanted}).item(), lambda: {said.text})"
        if plain:
            asks = " and ".join(source.of(expression) for expression in plain)
            return f"if {asks}:\n{indent}    {text}"
        return text
    message = f", lambda: {said.text}" if said.text else ""
    return f"\n{indent}".join(
        f"{torch}._check({condition}{message})" for condition in _conditions(source, test, holds)
    )


def _literal(said: _Message) -> str:
    return said.text or '"the example takes the other branch"'


def _plain_first(test: ast.expr) -> tuple[list[ast.expr], ast.expr]:
    """Of `a and b and c`, the leading tests that Python answers while tracing, and the rest."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return [], test
    values = list(test.values)
    plain = []
    while len(values) > 1 and _is_plain(values[0]):
        plain.append(values.pop(0))
    return plain, values[0] if len(values) == 1 else ast.copy_location(
        ast.BoolOp(ast.And(), values), values[0]
    )


def _is_plain(test: ast.expr) -> bool:
    """Whether Python answers a test without a tensor's values: flags, `is None`, isinstance."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_plain(test.operand)
    if isinstance(test, ast.Attribute):
        return isinstance(test.value, ast.Name | ast.Attribute)
    if isinstance(test, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops)
    called = test.func if isinstance(test, ast.Call) else None
    return isinstance(called, ast.Name) and called.id in ("isinstance", "hasattr", "callable")


def _predicate(source: Source, test: ast.expr, holds: bool) -> str:
    """A test as a tensor, or its opposite."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _predicate(source, test.operand, not holds)
    wanted = predicate(source, test)
    return wanted if holds else f"{source.torch}.logical_not({wanted})"


def _conditions(source: Source, test: ast.expr, holds: bool) -> list[str]:
    """A test on numbers as conditions, all of which are to hold."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _conditions(source, test.operand, not holds)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And if holds else ast.Or):
        return [
            condition for value in test.values for condition in _conditions(source, value, holds)
        ]
    if isinstance(test, ast.BoolOp):
        joint = " & " if isinstance(test.op, ast.And) else " | "
        both = joint.join(f"({source.of(expression)})" for expression in test.values)
        return [both if holds else f"{source.torch}.sym_not({both})"]
    if not isinstance(test, ast.Compare):
        return [f"{source.of(test)} {'!=' if holds else '=='} 0"]
    sides = [test.left, *test.comparators]
    single = [
        _comparison_text(source, left, op, right)
        for left, op, right in zip(sides, test.ops, sides[1:], strict=False)
    ]
    if holds:
        return single
    if len(single) > 1:
        both = " & ".join(f"({text})" for text in single)
        return [f"{source.torch}.sym_not({both})"]
    (op,) = test.ops
    exact = _EXACT | (_ORDERS if any(map(_is_whole, sides)) else {})
    if type(op) not in exact:
        return [f"{source.torch}.sym_not({single[0]})"]
    return [f"{source.of(sides[0])} {exact[type(op)]} {source.of(sides[1])}"]


def _comparison_text(source: Source, left: ast.expr, op: ast.cmpop, right: ast.expr) -> str:
    if type(op) not in _EXACT and type(op) not in _ORDERS:
        raise CannotRewrite("the test is not a comparison of numbers")
    between = source.text[source.end(left) : source.start(right)]
    return f"{source.of(left)}{between}{source.of(right)}"


def _is_whole(side: ast.expr) -> bool:
    """Whether a side of a comparison can only be a whole number: it is a size."""
    if isinstance(side, ast.Subscript):
        return isinstance(side.value, ast.Attribute) and side.value.attr == "shape"
    called = side.func if isinstance(side, ast.Call) else None
    name = getattr(called, "attr", getattr(called, "id", ""))
    return bool(called) and name in _SIZES


def _condition_text(source: Source, test: ast.expr, holds: bool) -> str:
    text = " ".join(source.of(test).split())
    return text if holds else f"not ({text})" if " " in text else f"not {text}"

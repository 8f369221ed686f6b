"""Whether the two ways of a branch compute the same, read from the source; nothing is run.

Numbers that names stand for are put in, and what adds nothing is left out: `x * factor` with a
`factor` of 2.0 is `x * 2`. Ways that are more than assignments and a `return` are not compared.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from types import FunctionType
from typing import Any, Literal

import torch

from export_engine.source import Code, closure_of, code_of

Arms = Literal["same", "other", "unknown", "raises"]
"""Whether both ways compute the same, surely do not, or one raises and nothing catches it."""

_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_RESULT = "return"


def compare_arms(
    file: str, line: int, function: FunctionType | None, module: torch.nn.Module
) -> Arms:
    """What is known of the branch at a line.

    Args:
        file: of the line.
        line: that asks for the condition.
        function: that the line is in, for the values of its names; None where it is unknown.
        module: the model, for those of attributes.
    """
    code = code_of(file)
    statement = code.statement(line) if code is not None else None
    if code is None or statement is None:
        return "unknown"
    arms = _find_arms(code, statement, line)
    if arms is None:
        return "raises" if isinstance(statement, ast.Assert) else "unknown"
    if any(_raises(arm) for arm in arms) and not _is_caught(code, statement):
        return "raises"
    values = _find_numbers(function, module)
    results = [_evaluate(arm, values) for arm in arms]
    if None in results:
        return "unknown"
    one, other = results
    assert one is not None
    assert other is not None
    return _compare(one, other)


def _find_arms(code: Code, statement: ast.stmt, line: int) -> tuple[list[ast.stmt], ...] | None:
    """The statements of both ways, those after the branch too; None where there are no two."""
    if isinstance(statement, ast.If):
        rest = _find_following(code, statement)
        return [*statement.body, *rest], [*statement.orelse, *rest]
    choices = [
        node
        for node in ast.walk(statement)
        if isinstance(node, ast.IfExp) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    if len(choices) != 1:
        return None
    (choice,) = choices
    return [ast.Return(choice.body)], [ast.Return(choice.orelse)]


def _find_following(code: Code, statement: ast.stmt) -> list[ast.stmt]:
    """The statements after one in its block."""
    for parent in code.ancestors(statement):
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(parent, block, None)
            if isinstance(statements, list) and statement in statements:
                return statements[statements.index(statement) + 1 :]
        break
    return []


def _raises(arm: Sequence[ast.stmt]) -> bool:
    return bool(arm) and isinstance(arm[0], ast.Raise)


def _is_caught(code: Code, statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Try) and node.handlers for node in code.ancestors(statement))


def _find_numbers(
    function: FunctionType | None, module: torch.nn.Module
) -> Callable[[ast.expr], ast.expr | None]:
    """Gives the number that a name or an attribute stands for."""
    names = dict(closure_of(function)) if function is not None else {}
    outside = {**function.__globals__, **names} if function is not None else {}

    def look(node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Name):
            own = function is None or node.id in function.__code__.co_varnames
            value = None if own else outside.get(node.id, node)
            return _constant(value) if node.id in outside and not own else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            values = [vars(part)[node.attr] for part in module.modules() if node.attr in vars(part)]
            alike = values and all(_is_number(value) and value == values[0] for value in values)
            return _constant(values[0]) if alike and node.value.id == "self" else None
        return None

    return look


def _is_number(value: Any) -> bool:
    return value is None or type(value) in (int, float)


def _constant(value: Any) -> ast.expr | None:
    return (
        ast.Constant(float(value) if type(value) is int else value) if _is_number(value) else None
    )


def _evaluate(
    statements: Iterable[ast.stmt], values: Callable[[ast.expr], ast.expr | None]
) -> dict[str, ast.expr] | None:
    """New values of names, or the returned one, as expressions of earlier values."""
    names: dict[str, ast.expr] = {}
    for statement in statements:
        if isinstance(statement, ast.Return) and statement.value is not None:
            return {_RESULT: _simplify(statement.value, names, values)}
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AugAssign):
            target = statement.target
            value = ast.BinOp(deepcopy(target), statement.op, statement.value)
        else:
            return None
        if not isinstance(target, ast.Name):
            return None
        names[target.id] = _simplify(value, names, values)
    return names


def _simplify(
    value: ast.expr,
    names: Mapping[str, ast.expr],
    values: Callable[[ast.expr], ast.expr | None],
) -> ast.expr:
    folded = _Folded(names, values).visit(deepcopy(value))
    assert isinstance(folded, ast.expr)
    return folded


class _Folded(ast.NodeTransformer):
    """An expression with names and numbers put in."""

    def __init__(
        self, names: Mapping[str, ast.expr], values: Callable[[ast.expr], ast.expr | None]
    ) -> None:
        self._names = names
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._names:
            return self._names[node.id]
        return self._values(node) or ast.Name(node.id, ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._values(node) or self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return _constant(node.value) or node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.Constant) and len(node.values) == 2:
            goes_on = bool(first.value) == isinstance(node.op, ast.And)
            return node.values[1] if goes_on else first
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        left, right = _number_of(node.left), _number_of(node.right)
        calculate = _OPERATIONS.get(type(node.op))
        if left is not None and right is not None and calculate is not None:
            return (
                ast.Constant(calculate(left, right))
                if right or calculate != operator.truediv
                else node
            )
        if isinstance(node.op, ast.Mult | ast.Div) and right == 1:
            return node.left
        if isinstance(node.op, ast.Add | ast.Sub) and right == 0:
            return node.left
        if (isinstance(node.op, ast.Mult) and left == 1) or (
            isinstance(node.op, ast.Add) and left == 0
        ):
            return node.right
        return node


def _number_of(node: ast.expr) -> float | None:
    is_number = isinstance(node, ast.Constant) and type(node.value) is float
    return node.value if is_number else None  # type: ignore[attr-defined]


def _compare(one: Mapping[str, ast.expr], other: Mapping[str, ast.expr]) -> Arms:
    if (_RESULT in one) != (_RESULT in other):
        return "unknown"
    names = {*one, *other}
    pairs = [
        tuple(arm.get(name, ast.Name(name, ast.Load())) for arm in (one, other)) for name in names
    ]
    unlike = [pair for pair in pairs if ast.dump(pair[0]) != ast.dump(pair[1])]
    if not unlike:
        return "same"
    return "other" if all(_differ_by_numbers(*pair) for pair in unlike) else "unknown"


def _differ_by_numbers(one: ast.expr, other: ast.expr) -> bool:
    """Whether two unlike expressions are alike but for numbers in them, or around them."""
    if ast.dump(_without_numbers(one)) == ast.dump(_without_numbers(other)):
        return True
    return bool({*_iter_peeled(one)} & {*_iter_peeled(other)})


def _without_numbers(node: ast.expr) -> ast.expr:
    copy = deepcopy(node)
    for part in ast.walk(copy):
        if isinstance(part, ast.Constant) and type(part.value) is float:
            part.value = 0.0
    return copy


def _iter_peeled(node: ast.expr) -> Iterator[str]:
    """An expression without the numbers that it is multiplied with or added to, step by step."""
    while True:
        yield ast.dump(node)
        if not isinstance(node, ast.BinOp):
            return
        if _number_of(node.right) is not None:
            node = node.left
        elif _number_of(node.left) is not None:
            node = node.right
        else:
            return

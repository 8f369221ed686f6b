"""Expressions of staged code: what Python would ask a tensor for, as an op."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from export_engine.fixes.rewrite.facts import Facts
from export_engine.fixes.rewrite.form import (
    as_collected,
    call,
    find_site,
    let,
    load,
    map_children,
    mark,
    method,
    parse_expression,
)

_JOINED = {ast.And: ast.BitAnd, ast.Or: ast.BitOr}


class Answers:
    """Replaces the expressions of which a run noted something; others stay the user's."""

    def __init__(self, facts: Facts, masks: Callable[[str], str | None]) -> None:
        self.facts, self.masks = facts, masks
        self.first_of: Callable[[], str] = lambda: ""
        """The name that says of the loop around whether it is the first iteration."""
        self.rows_of: Callable[[ast.Subscript, int], ast.expr | None] = lambda *_: None
        """A row that the loop around takes, of `x[:, t]`."""

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        note = (
            self.facts.notes.get(find_site(node))
            if isinstance(node, ast.expr | ast.Assign)
            else None
        )
        answer = getattr(self, f"answer_{type(node).__name__.lower()}", None)
        made = map_children(node, self.visit)
        return made if note is None or answer is None else answer(made, note)

    def answer_boolop(self, node: ast.BoolOp, note: tuple[str, ...]) -> ast.expr:
        """`a and b` as `(a) & (b)`; what Python decides is asked first."""
        plain = [part for part, kind in zip(node.values, note, strict=False) if kind == "plain"]
        parts = [
            ast.Compare(part, [ast.NotEq()], [ast.Constant(0)]) if kind == "zero" else part
            for part, kind in zip(node.values, note, strict=False)
            if kind != "plain"
        ]
        made = _fold(parts, _JOINED[type(node.op)]())
        return ast.BoolOp(node.op, [*plain, made]) if plain else made

    def answer_compare(self, node: ast.Compare, note: object) -> ast.expr:
        """`a < b < c` as both; whether a carried value is None as whether it is the first time."""
        if note == "first":
            made: ast.expr = load(self.first_of())
            return made if isinstance(node.ops[0], ast.Is) else negate(made)
        lefts = [node.left, *node.comparators]
        parts: list[ast.expr] = [
            ast.Compare(a, [how], [b])
            for a, how, b in zip(lefts, node.ops, node.comparators, strict=False)
        ]
        return _fold(parts, ast.BitAnd())

    def answer_unaryop(self, node: ast.UnaryOp, note: str) -> ast.expr:
        """`not a`."""
        return negate(node.operand, note)

    def answer_subscript(
        self, node: ast.Subscript, note: tuple[str, tuple[int, ...], int]
    ) -> ast.expr:
        """A row at a place that the program knows."""
        places, of, index = note[1], node.value, node.slice
        if note[0] == "cut":
            return node
        if note[0] == "turned":
            return method(of, "flip", ast.Constant(0))
        if note[0] == "row" and (row := self.rows_of(node, places[0])) is not None:
            if not isinstance(index, ast.Tuple) or len(index.elts) == 1:
                return row
            parts = [each for n, each in enumerate(index.elts) if n != places[0]]
            of, places = row, tuple(each - 1 for each in places[1:])
            index = ast.Tuple(parts, ast.Load()) if len(parts) > 1 else parts[0]
            if not any(not _is_full(each) for each in parts):
                return row
            if not places:
                return ast.Subscript(row, index, ast.Load())
        index, at = index_as_rows(index, places)
        return method(ast.Subscript(of, index, ast.Load()), "squeeze", ast.Constant(at))

    def answer_assign(self, node: ast.Assign, note: tuple[str, object]) -> ast.stmt:
        """`rows.append(value)` of a list that is a tensor now."""
        collected = as_collected(node)
        if collected is None or note[0] == "masked":
            return node
        name, value, _mask = collected
        row = method(value, "unsqueeze", ast.Constant(0))
        both = ast.List([load(name), row], ast.Load())
        return mark(let(name, call("torch.cat", both)), node)

    def answer_call(self, node: ast.Call, note: tuple[str, object]) -> ast.expr:
        """A number, or a list that became a tensor."""
        kind, detail = note[:2]
        given = node.func.value if isinstance(node.func, ast.Attribute) else None
        first = node.args[0] if node.args else given
        assert first is not None
        match kind:
            case "number":
                made = {"same": first, "bool": ast.Compare(first, [ast.NotEq()], [ast.Constant(0)])}
                whole = method(first, "long")
                known = {**made, "int": whole, "whole": method(whole, "item")}
                return known[str(detail)]
            case "rows":
                return first
            case "math":
                return call(f"torch.{detail}", first)
            case "extreme":
                return call(f"torch.{detail}", *node.args)
            case "clamp":
                return _clamped(node, str(detail))
            case "length":
                return parse_expression(f"{ast.unparse(self._rows(first))}.shape[0]")
            case "stack" | "tensor":
                return _turned(self._rows(first), int(str(detail)))
            case "cat":
                dim = int(str(detail))
                turned = _turned(self._rows(first), dim)
                return method(turned, "flatten", ast.Constant(dim), ast.Constant(dim + 1))
            case "sum":
                return method(self._rows(first), "sum", ast.Constant(0))
        return node

    def _rows(self, node: ast.expr) -> ast.expr:
        """A list that is a tensor now; of one that stays a list, those of its pieces that count."""
        mask = self.masks(node.id) if isinstance(node, ast.Name) else None
        if mask is None:
            return node
        return ast.Subscript(call("torch.stack", node), call("torch.stack", load(mask)), ast.Load())


def _is_full(index: ast.expr) -> bool:
    return isinstance(index, ast.Slice) and not (index.lower or index.upper or index.step)


def negate(test: ast.expr, note: str = "not") -> ast.expr:
    """A test's opposite, of a bool tensor, another tensor, or a symbol."""
    if note == "zero":
        return ast.Compare(test, [ast.Eq()], [ast.Constant(0)])
    if note == "symbol":
        return call("torch.sym_not", test)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Invert):
        return test.operand
    return ast.UnaryOp(ast.Invert(), test)


def index_as_rows(index: ast.expr, places: tuple[int, ...]) -> tuple[ast.expr, int]:
    """An index whose scalars are tensors of one element, and the dim that they leave behind."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    made = [
        method(e, "reshape", ast.Constant(1)) if n in places else e for n, e in enumerate(parts)
    ]
    before = [each for each in parts[: places[0]] if isinstance(each, ast.Slice)]
    new = ast.Tuple(made, ast.Load()) if isinstance(index, ast.Tuple) else made[0]
    return new, len(before)


def _fold(parts: list[ast.expr], how: ast.operator) -> ast.expr:
    made = parts[0]
    for each in parts[1:]:
        made = ast.BinOp(made, how, each)
    return made


def _turned(rows: ast.expr, dim: int) -> ast.expr:
    return method(rows, "movedim", ast.Constant(0), ast.Constant(dim)) if dim else rows


def _clamped(node: ast.Call, which: str) -> ast.expr:
    """`max(tensor, number)` and `min`."""
    end, at = which.split()
    tensor, number = node.args[int(at)], node.args[1 - int(at)]
    return ast.Call(ast.Attribute(tensor, "clamp", ast.Load()), [], [ast.keyword(end, number)])

"""Statements of a lowering, simplified: no name for what is read once, no value that none reads."""

from __future__ import annotations

import ast
from collections import Counter
from functools import partial
from typing import Any

from export_engine.fixes.rewrite.analysis import Liveness
from export_engine.fixes.rewrite.form import (
    Block,
    find_loaded,
    find_stored,
    is_own,
    map_blocks,
    map_children,
    mark,
    replace_nodes,
    without_last_name,
)

_PURE = (ast.Assign, ast.Return, ast.Expr)


def simplify(body: Block, synthetic: set[str]) -> Block:
    """A function's body with what no reader needs gone."""
    return _tidy(_inline(body, synthetic))


def _tidy(body: Block) -> Block:
    """A function's body without starts of names, or a last name, that are read once."""
    return without_last_name(_without_dead(_with_starts(body), set()))


def _with_starts(body: Block) -> Block:
    """A body whose operators take the constants that names begin with."""
    statements = list(body)
    for at, statement in enumerate(body):
        match statement:
            case ast.Assign([ast.Name(id=name)], ast.Constant() | ast.Call() as value):
                if isinstance(value, ast.Call) and ast.unparse(value.func) != "torch.tensor":
                    continue
                place = next(
                    (
                        n
                        for n in range(at + 1, len(statements))
                        if name in Liveness.before(statements[n], set())
                    ),
                    0,
                )
                reader = statements[place]
                later = Liveness.of(statements[place + 1 :], set())
                is_last = name in find_stored(reader) or name not in later
                if place and is_last and isinstance(reader, ast.Assign):
                    start = partial(_put_start, name, value)
                    statements[place] = replace_nodes(reader, start)
    return statements


def _put_start(name: str, value: ast.Call | ast.Constant, node: ast.AST) -> ast.AST | None:
    """A constant that takes the place of `torch.tensor(name)`; None for another node."""
    match node:
        case ast.Call(ast.Attribute(ast.Name(id="torch"), "tensor"), [ast.Name(id=own)]):
            if own == name and isinstance(value, ast.Call):
                return value
            return ast.Call(node.func, [value], node.keywords) if own == name else None
    return None


def _inline(body: Block, synthetic: set[str]) -> Block:
    """A block whose synthetic names that are read once, soon after, are the values themselves."""
    body = [_within(statement, synthetic) for statement in body]
    reads = Counter(
        node.id
        for statement in body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    )
    at = len(body) - 1
    while at >= 0:
        statement = body[at]
        match statement:
            case ast.Assign([ast.Name(id=name)], value) if name in synthetic and reads[name] == 1:
                place = _find_reader(body, at, name, value)
                if place:
                    result = _Replacing({name: value}).visit(body[place])
                    body = [*body[:at], *body[at + 1 : place], result, *body[place + 1 :]]
        at -= 1
    return body


def _within(node: ast.stmt, synthetic: set[str]) -> ast.stmt:
    is_function = isinstance(node, ast.FunctionDef)

    def change(block: Block) -> Block:
        inner = _inline(block, synthetic)
        return _tidy(inner) if is_function else inner

    return map_blocks(node, change)


def _find_reader(body: Block, at: int, name: str, value: ast.expr) -> int:
    """Where a name is read, if nothing before that changes its value; else 0."""
    needed = find_loaded(value)
    for place in range(at + 1, len(body)):
        statement = body[place]
        if not isinstance(statement, _PURE) or is_own(statement):
            return 0
        if name in find_loaded(statement):
            return place
        if find_stored(statement) & needed:
            return 0
    return 0


def _without_dead(body: Block, live: set[str]) -> Block:
    """A block without constants and empty lists that nothing reads."""
    statements: Block = []
    for statement in reversed(body):
        match statement:
            case ast.Assign([ast.Name(id=name)], ast.Constant() | ast.List(elts=[])):
                if name not in live:
                    continue
            case ast.Assign([ast.Name(id=name)], value) if not is_own(statement):
                is_start = hasattr(statement, "is_start") or ast.unparse(value).startswith(
                    "torch.tensor("
                )
                if is_start and name not in live:
                    continue
        statements.insert(0, statement)
        live = Liveness.before(statement, live)
    return statements


class _Replacing:
    """Puts expressions in the place of names, in a copy."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            return self.values.get(node.id, node)
        result = map_children(node, self.visit)
        return node if result is node else mark(_join_choices(result), node)


def _join_choices(node: ast.AST) -> ast.AST:
    """Two nested choices with the same else value, as one choice on both tests."""
    match node:
        case ast.Call(function, [test, ast.Call(inner, [other, value, ast.Name(id=a)]), kept]):
            same = isinstance(kept, ast.Name) and kept.id == a
            if same and ast.unparse(function) == ast.unparse(inner) == "torch.where":
                both = ast.BinOp(test, ast.BitAnd(), other)
                return ast.Call(function, [both, value, kept], [])
    return node

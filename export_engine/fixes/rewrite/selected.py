"""A loop over the indices at which a mask holds, as one over all of them, each asking the mask.

`for i in mask.nonzero()` has a data-dependent length; `for i in range(len(mask))` does not, and
what an iteration does where the mask does not hold is dropped as that of any other branch.
"""

from __future__ import annotations

import ast
from typing import Any

from export_engine.fixes.rewrite.form import (
    Block,
    Function,
    call,
    change_children,
    find_stored,
    let,
    load,
    mark,
    parse_expression,
)


def loop_over_all(function: Function) -> Function:
    """A function whose loops over `nonzero()` ask the mask; the same one where there is none."""
    changed: dict[int, Block] = {}
    body = function.node.body
    for node in body:
        if isinstance(node, ast.For) and not node.orelse and isinstance(node.target, ast.Name):
            changed |= _find_changes(body, node, node.target.id)
    return function.with_body(
        [new for statement in body for new in changed.get(id(statement), [statement])]
    )


def _find_changes(body: Block, loop: ast.For, name: str) -> dict[int, Block]:
    """The replacement of a loop and of the statement that creates its iterable."""
    rows, maker = loop.iter, None
    if isinstance(rows, ast.Name):
        makers = [statement for statement in body if rows.id in find_stored(statement)]
        uses = [n for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name)]
        uses = [n for n in uses if n.id == rows.id and isinstance(n.ctx, ast.Load)]
        maker = makers[0] if len(makers) == 1 else None
        if not isinstance(maker, ast.Assign) or len(maker.targets) != 1 or len(uses) != 1:
            return {}
        rows = maker.value
    pair = find_mask(rows)
    is_read = any(
        isinstance(n, ast.Name) and n.id == name
        for statement in body[body.index(loop) + 1 :]
        for n in ast.walk(statement)
    )
    if pair is None or is_read or (maker is None and not isinstance(pair[0], ast.Name)):
        return {}
    mask, is_number = pair
    taken = loop.body
    if not is_number:
        uses_of = _Indices(name)
        taken = [uses_of.visit(statement) for statement in loop.body]
        if uses_of.left:
            return {}
    held: ast.expr = load(loop.iter.id) if isinstance(loop.iter, ast.Name) else mask
    count = parse_expression(f"{ast.unparse(held)}.shape[0]")
    branch = ast.If(ast.Subscript(held, load(name), ast.Load()), taken, [])
    branch = mark(ast.copy_location(branch, loop), loop, "selected")
    whole = ast.For(loop.target, call("range", count), [branch], [])
    whole = mark(ast.copy_location(whole, loop), loop)
    groups: dict[int, Block] = {id(loop): [whole]}
    if isinstance(maker, ast.Assign):
        groups[id(maker)] = [mark(ast.copy_location(let(maker.targets[0], mask), maker), maker)]
    return groups


def find_mask(rows: ast.expr) -> tuple[ast.expr, bool] | None:
    """The mask whose indices are gone through, and whether each is a number and not a row of it."""
    match rows:
        case ast.Call(
            ast.Attribute(of, "flatten" | "tolist" | "squeeze" | "view" | "reshape"),
            [] | [ast.UnaryOp()] | [ast.Constant(value=1)],
        ):
            mask = find_mask(of)
            return (mask[0], True) if mask else None
        case ast.Subscript(
            ast.Call(ast.Attribute(ast.Name("torch"), "where"), [of], [])
            | ast.Call(ast.Attribute(of, "nonzero"), [], [ast.keyword(arg="as_tuple")]),
            ast.Constant(0),
        ):
            return of, True
        case ast.Call(ast.Attribute(ast.Name("torch"), "nonzero"), [of], []) | ast.Call(
            ast.Attribute(of, "nonzero"), [], []
        ):
            return of, False
    return None


class _Indices:
    """The uses of a tensor of one index, in a copy, as those of the index."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.left = False
        """Whether there is a use of another kind."""

    def _is_it(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and node.id == self.name

    def visit(self, node: ast.AST) -> Any:
        """A node: the same object where nothing in it changes."""
        match node:
            case ast.Call(ast.Attribute(of, "squeeze" | "item"), _) if self._is_it(of):
                return of
            case ast.Call(ast.Name(id="int"), [of]) | ast.Subscript(of, _) if self._is_it(of):
                return of
            case ast.Call(ast.Attribute(ast.Subscript(of, at), "squeeze"), [ast.Constant(value=0)]):
                if self._is_it(at):
                    return mark(ast.Subscript(self.visit(of), at, ast.Load()), node)
            case ast.Subscript(ast.Attribute(), at) if self._is_it(at):
                return node
            case ast.Subscript(of, at) if self._is_it(at):
                end = ast.BinOp(load(self.name), ast.Add(), ast.Constant(1))
                part = ast.Slice(load(self.name), end)
                return mark(ast.Subscript(self.visit(of), part, node.ctx), node)
        self.left |= self._is_it(node)
        return change_children(node, self.visit)

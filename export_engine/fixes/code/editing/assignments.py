"""Assignments: the only one of a name, and those in place written out of place."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import CannotRewrite
from export_engine.fixes.code.editing.liveness import nodes_about
from export_engine.fixes.code.editing.text_edits import Piece, Source

_OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.BitOr: "|",
    ast.BitAnd: "&",
}


def out_of_place(source: Source, node: ast.AST) -> list[Piece]:
    """`h += y` as `h = h + (y)`: an iteration must not change what it got.

    Raises:
        Unclear: there is no operator that computes the same out of place.
    """
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
        return []
    operator = _OPERATORS.get(type(node.op))
    if operator is None:
        raise CannotRewrite(f"`{source.of(node)}` changes a value in place")
    name = node.target.id
    return [
        Piece(source.start(node), source.start(node.value), f"{name} = {name} {operator} ("),
        Piece(source.end(node.value), source.end(node.value), ")"),
    ]


def find_assignment(function: ast.AST, name: str) -> ast.Assign | None:
    """The only assignment of a name in a function; None where there are several or none."""
    nodes = [
        node
        for node in nodes_about(function, name)
        if isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    ]
    return nodes[0] if len(nodes) == 1 and len(nodes[0].targets) == 1 else None


def is_number(value: ast.expr | None) -> bool:
    """Whether a number stands there, with a sign or without."""
    inner = value.operand if isinstance(value, ast.UnaryOp) else value
    return isinstance(inner, ast.Constant) and isinstance(inner.value, int | float)

"""Uses of a loop's element that was a tensor, and is a number: `e[0]`, `mask[e]`, `e.item()`."""

from __future__ import annotations

import ast
from enum import Enum

from export_engine.fixes.code.editing.text_edits import Piece, Source


class Way(Enum):
    """What `x[e]` becomes, where `e` was a row of one index."""

    MODULES = "modules"
    """Tensors `x[e : e + 1]`, which keeps the dim; what is called, or is `self`'s, `x[e]`."""
    KEPT = "kept"
    """`x[e : e + 1]` for all."""
    PLAIN = "plain"
    """`x[e]` for all."""


def as_index(source: Source, loop: ast.For, index: str, rows: bool, way: Way) -> list[Piece]:
    """The pieces that make an element a number in a loop's body.

    Args:
        source: the text.
        loop: whose element it is.
        index: its name.
        rows: whether it was a tensor of one element, and not a tensor without dims.
        way: what `x[e]` becomes.
    """
    pieces: list[Piece] = []
    taken: set[ast.AST] = set()
    called = _called(loop)
    for statement in loop.body:
        if _only_unwraps(source, statement, index) and len(loop.body) > 1:
            pieces.append(Piece(source.line_start(statement), source.line_after(statement), ""))
            taken |= set(ast.walk(statement))
            rows = False
    for statement in loop.body:
        for node in ast.walk(statement):
            if node in taken:
                continue
            if isinstance(node, ast.JoinedStr):
                pieces += _in_text(source, node, index)
                taken |= set(ast.walk(node))
            elif isinstance(node, ast.Subscript | ast.Call) and _unwraps(source, node, index):
                pieces.append(Piece(source.start(node), source.end(node), index))
                taken |= set(ast.walk(node))
            elif rows and isinstance(node, ast.Subscript) and _is(node.slice, index):
                own = isinstance(node.value, ast.Attribute) or node in called
                plain = way is Way.PLAIN or (way is Way.MODULES and own)
                if not plain and node.slice not in taken:
                    start, end = source.start(node.slice), source.end(node.slice)
                    pieces.append(Piece(start, end, f"{index} : {index} + 1"))
    return pieces


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _unwraps(source: Source, node: ast.expr, index: str) -> bool:
    """Whether an expression is an element as a number, or as a tensor without dims."""
    return source.of(node) in _unwrapped(index)


def _unwrapped(index: str) -> tuple[str, ...]:
    """Ways to write an element as a number, or as a tensor without dims; the longest first."""
    return (
        *(f"int({index}.item())", f"{index}.tolist()[0]", f"{index}.squeeze(-1)"),
        *(f"{index}[0].item()", f"int({index}[0])", f"{index}.squeeze(0)", f"{index}.squeeze()"),
        *(f"{index}.item()", f"int({index})", f"{index}[0]"),
    )


def _in_text(source: Source, node: ast.JoinedStr, index: str) -> list[Piece]:
    """`f"expert_{e[0]}"` as `f"expert_{e}"`; before Python 3.12 its parts have no positions."""
    text = made = source.of(node)
    for each in _unwrapped(index):
        made = made.replace(f"{{{each}", f"{{{index}")
    return [Piece(source.start(node), source.end(node), made)] if made != text else []


def _only_unwraps(source: Source, statement: ast.stmt, index: str) -> bool:
    """Whether a statement does nothing but make the element a number: `e = e[0]`."""
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and _is(statement.targets[0], index)
        and _unwraps(source, statement.value, index)
    )


def _called(loop: ast.For) -> set[ast.AST]:
    """Expressions of a loop that are called."""
    return {
        node.func for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Call)
    }

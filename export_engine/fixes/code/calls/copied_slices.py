"""A slice of a tensor as a copy by index: torch asks of a view whether it is contiguous.

`padded[:, :n]` is the whole of `padded` where nothing was missing, and contiguous only then, so
that torch guards on which of the two the example has. What `index_select` returns is contiguous.
A slice that is written, `padded[:, :n] = x`, is written by its indices.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def copied_slices(text: str, line: int) -> Rewritten:
    """The text with the slices of tensors that a line reads as index_select, or writes by index.

    Args:
        text: of the file.
        line: of the slices.

    Raises:
        Unclear: there is none at that line.
    """
    source = Source(text, line)
    found = [
        Piece(source.start(node), source.end(node), made)
        for node in _outermost(source, line)
        if (made := _indexed(source, node))
    ]
    found = found or _written(source, line)
    if not found:
        raise Unclear("no tensor is sliced there")
    return source.changed(found)


def _outermost(source: Source, line: int) -> list[ast.Subscript]:
    """The subscripts that are read at a line, none of them within another."""
    found: list[ast.Subscript] = []
    for node in ast.walk(source.function):  # outer ones come first
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        within = any(node in ast.walk(each) for each in found)
        if spans(node, line) and not within and _indexed(source, node):
            found.append(node)
    return found


def _indexed(source: Source, node: ast.Subscript) -> str:
    """A slice as index_select, empty where it is something else.

    The index is a slice of all indices, so that the bounds mean what they do in the slice.
    """
    made, torch = source.of(node.value), source.torch
    tensor = made
    if any(not isinstance(each, ast.Name | ast.Attribute) for each in _chain(node.value)):
        tensor = free_name("sliced", source.names)  # it is named twice, and must be computed once
        made = f"({tensor} := {made})"
    whole = made
    for dim, each in _dims(node.slice):
        if not isinstance(each, ast.Slice) or each.step is not None:
            return ""
        if each.lower is None and each.upper is None:
            continue
        every = f"{torch}.arange({tensor}.shape[{dim}], device={tensor}.device)"
        made += f".index_select({dim}, {every}[{source.of(each)}])"
    return made if made != whole else ""


def _written(source: Source, line: int) -> list[Piece]:
    """`padded[:, :n] = x` with the indices of its one slice; empty for other lines."""
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Assign) or not spans(node, line) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            continue
        tensor, dims = target.value.id, _dims(target.slice)
        cut = [(n, each) for n, each in dims if ast.unparse(each) != ":"]
        if len(cut) != 1 or not isinstance(cut[0][1], ast.Slice) or cut[0][1].step is not None:
            continue
        dim, entry = cut[0]
        every = f"{source.torch}.arange({tensor}.shape[{dim}], device={tensor}.device)"
        made = f"{every}[{source.of(entry)}]"
        return [Piece(source.start(entry), source.end(entry), made)]
    return []


def _dims(index: ast.expr) -> list[tuple[int, ast.expr]]:
    """What a subscript says of each dim; of those after `...`, counted from the last."""
    given = index.elts if isinstance(index, ast.Tuple) else [index]
    first = next((n for n, each in enumerate(given) if ast.unparse(each) == "..."), len(given))
    before = list(enumerate(given[:first]))
    return before + [(n - len(given), given[n]) for n in range(first + 1, len(given))]


def _chain(value: ast.expr) -> list[ast.expr]:
    """A value, and what its attributes are read of."""
    return [value, *_chain(value.value)] if isinstance(value, ast.Attribute) else [value]

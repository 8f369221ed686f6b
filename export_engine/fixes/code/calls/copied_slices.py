"""A slice of a tensor as a copy by index: torch asks of a view whether it is contiguous.

`padded[:, :n]` is the whole of `padded` where nothing was missing, and contiguous only then, so
that torch guards on which of the two the example has. What `index_select` returns is contiguous.
A slice that is written, `padded[:, :n] = x`, is written by its indices.
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    free_name,
    spans,
)


def copy_slices(text: str, line: int) -> Rewritten:
    """The text with the slices of tensors that a line reads as index_select, or writes by index.

    Args:
        text: of the file.
        line: of the slices.

    Raises:
        CannotRewrite: there is none at that line.
    """
    source = Source(text, line)
    nodes = list(ast.walk(source.function))  # outer ones come first
    in_place = [
        node.value
        for node in nodes
        if isinstance(node, ast.Attribute) and node.attr.endswith("_") and node.attr[-2:] != "__"
    ]
    pieces: list[Piece] = []
    for node in nodes:
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        if not spans(node, line) or node in in_place:
            continue  # what is written to a copy is lost
        start, end = source.start(node), source.end(node)
        is_inside = any(piece.start <= start and end <= piece.end for piece in pieces)
        if not is_inside and (message := _use_index_select(source, node)):
            pieces.append(Piece(start, end, message))
    pieces = pieces or _write_by_index(source, line)
    if not pieces:
        raise CannotRewrite("that line slices no tensor")
    return source.replace(pieces)


def copy_in_branches(text: str, line: int) -> Rewritten:
    """The text with the slices of a line copied; of a torch.cond, those that its branches read.

    Args:
        text: of the file.
        line: of the slices, or of a call whose functions stand in the same block.

    Raises:
        CannotRewrite: there is none.
    """
    try:
        return copy_slices(text, line)
    except CannotRewrite as reason:
        rewritten: Rewritten | None = None
        for number in _lines_of_branches(Source(text, line), line):
            with suppress(CannotRewrite):
                rewritten = copy_slices(rewritten.text if rewritten else text, number)
        if rewritten is None:
            raise reason
        return rewritten


def _lines_of_branches(source: Source, line: int) -> list[int]:
    """The lines of the functions that a call at a line names, and that its function defines."""
    named = {
        argument.id
        for node in ast.walk(source.function)
        if isinstance(node, ast.Call) and spans(node, line)
        for argument in node.args
        if isinstance(argument, ast.Name)
    }
    return [
        statement.lineno
        for node in ast.walk(source.function)
        if isinstance(node, ast.FunctionDef) and node.name in named
        for statement in node.body
    ]


def _use_index_select(source: Source, node: ast.Subscript) -> str:
    """A slice as index_select, empty where it is something else.

    The index is a slice of all indices, so that the bounds mean what they do in the slice.
    """
    tensor = text = source.of(node.value)
    if text.startswith(f"{source.torch}.arange("):
        return ""  # the indices of a copy
    if not re.fullmatch(r"[\w.]+", text):
        tensor = free_name("sliced", source.names)  # it is named twice, and must be computed once
        text = f"({tensor} := {text})"
    whole = text
    for dim, expression in dims_of(node.slice):
        if not isinstance(expression, ast.Slice) or expression.step is not None:
            return ""
        if expression.lower is None and expression.upper is None:
            continue
        text += f".index_select({dim}, {_indices(source, tensor, dim, expression)})"
    return text if text != whole else ""


def _write_by_index(source: Source, line: int) -> list[Piece]:
    """`padded[:, :n] = x`, or `padded[:, :n].copy_(x)`, by indices; empty for other lines."""
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Assign | ast.Expr) or not spans(node, line):
            continue
        target, value = _slice_and_value(node)
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            continue
        text = _by_indices(source, target)
        if not text or value is None:
            continue
        if isinstance(node, ast.Assign):
            return [Piece(source.start(target), source.end(target), text)]
        return [Piece(source.start(node), source.end(node), f"{text} = {source.of(value)}")]
    return []


def _slice_and_value(node: ast.Assign | ast.Expr) -> tuple[ast.expr | None, ast.expr | None]:
    """What a statement writes to, and what it writes."""
    if isinstance(node, ast.Assign):
        return (node.targets[0], node.value) if len(node.targets) == 1 else (None, None)
    match node.value:
        case ast.Call(ast.Attribute(written, "copy_"), [value], []):
            return written, value
    return None, None


def _by_indices(source: Source, target: ast.Subscript) -> str:
    """A subscript whose slices of neighbouring dims are indices that broadcast; else empty."""
    tensor, dims = source.of(target.value), dims_of(target.slice)
    cut = [(dim, e) for dim, e in dims if ast.unparse(e) != ":"]
    last = cut[-1][0] if cut else 0
    if [dim for dim, _ in cut] != list(range(last - len(cut) + 1, last + 1)):
        return ""
    text = source.of(target)
    for dim, expression in reversed(cut):
        if not isinstance(expression, ast.Slice) or expression.step is not None:
            return ""
        across = f"[{', '.join([':', *['None'] * (last - dim)])}]" if dim != last else ""
        start = source.start(target)
        before, after = source.start(expression) - start, source.end(expression) - start
        text = f"{text[:before]}{_indices(source, tensor, dim, expression)}{across}{text[after:]}"
    return text if cut else ""


def _indices(source: Source, tensor: str, dim: int, cut: ast.Slice) -> str:
    """The indices that a slice takes of a dim.

    Bounds that are constants are clamped to the size here: a slice clamps them, too, and torch
    guards on whether it has to. Others are those of a slice of all indices, so that they mean what
    they do in the slice.
    """
    size, torch = f"{tensor}.shape[{dim}]", source.torch
    low, high = (_constant(expression) for expression in (cut.lower, cut.upper))
    if low is None or high is None:
        return f"{torch}.arange({size}, device={tensor}.device)[{source.of(cut)}]"
    start = _clamp(torch, size, low, "0")
    end = _clamp(torch, size, high, size)
    if start != "0" and end != size:
        end = f"{torch}.sym_max({start}, {end})"
    return f"{torch}.arange({start}, {end}, device={tensor}.device)"


def _constant(bound: ast.expr | None) -> int | str | None:
    """A bound that is a constant; the empty text where there is none, None for other code."""
    if bound is None:
        return ""
    negative = isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub)
    number = bound.operand if isinstance(bound, ast.UnaryOp) and negative else bound
    if not isinstance(number, ast.Constant) or type(number.value) is not int:
        return None
    return -number.value if negative else number.value


def _clamp(torch: str, size: str, bound: int | str, default: str) -> str:
    if isinstance(bound, str) or bound == 0:
        return "0" if bound == 0 else default
    if bound < 0:
        return f"{torch}.sym_max({size} - {-bound}, 0)"
    return f"{torch}.sym_min({bound}, {size})"


def dims_of(index: ast.expr) -> list[tuple[int, ast.expr]]:
    """What a subscript says of each dim; of those after `...`, counted from the last."""
    elts = index.elts if isinstance(index, ast.Tuple) else [index]
    first = next(
        (n for n, expression in enumerate(elts) if ast.unparse(expression) == "..."), len(elts)
    )
    before = list(enumerate(elts[:first]))
    return before + [(n - len(elts), elts[n]) for n in range(first + 1, len(elts))]

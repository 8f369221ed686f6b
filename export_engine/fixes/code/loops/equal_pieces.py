"""A loop over `x.split(2)` as one over the first dim of a tensor: pieces of one length.

They are where the size is a multiple of the length, which `unflatten` asks.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.attempt import Failed
from export_engine.diagnose import UnbackedSize
from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.blocks import with_blocks
from export_engine.fixes.code.sizes.size_pieces import cut_of
from export_engine.shapes import Shapes, ShapesError, shapes_of, unbacked_places


class OfPieces(NamedTuple):
    """A text in which a loop takes the rows of a tensor instead of pieces."""

    text: str
    line: int
    """Of the loop."""
    length: str
    """That of a piece, as an expression."""


def with_equal_pieces(text: str, line: int) -> OfPieces | None:
    """The text with the pieces that a loop at a line takes as a tensor; None for other loops.

    Args:
        text: of the file.
        line: of the loop, or where the pieces that it takes get a name.
    """
    text = with_blocks(text, line)
    try:
        source = Source(text, line)
    except Unclear:
        return None
    for node in ast.walk(source.function):
        if not isinstance(node, ast.For | ast.comprehension):
            continue
        made = _made_by(source, node.iter)
        cut = cut_of(source, made) if made is not None and spans(made, line) else None
        dim = _number(cut.dim) if cut is not None else None
        if made is None or cut is None or dim is None or cut.called != "split" or cut.number == "1":
            continue
        tensor = source.of(cut.tensor)
        tensor = tensor if isinstance(cut.tensor, ast.Name | ast.Call) else f"({tensor})"
        stacked = Piece(source.start(made), source.end(made), _stacked(tensor, dim, cut.number))
        return OfPieces(source.changed([stacked]).text, node.iter.lineno, cut.number)
    return None


def equal_lengths(attempt: Failed, length: str) -> Shapes | None:
    """The shapes of a failed attempt with the assumption that a size is a multiple of a length.

    None where they are Dims, or what is cut has no name there.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    shapes = shapes_of(request) if request else None
    facts = diagnosis.facts if diagnosis else None
    if shapes is None or not shapes.unbacked or not isinstance(facts, UnbackedSize):
        return None
    symbols = [str(each) for each in facts.asked.free_symbols]
    place = unbacked_places(attempt).get(symbols[0]) if len(symbols) == 1 else None
    name = shapes.size_name(place.path, max(place.position, 0)) if place else None
    if not name or not length.isdigit():
        return None
    try:
        return Shapes.parse(f"{shapes}; {name} % {length} == 0")
    except ShapesError:
        return None


def _made_by(source: Source, iterated: ast.expr) -> ast.expr | None:
    """The call behind what is iterated: itself, inside of `enumerate`, or what its name is."""
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
        alone = iterated.func.id == "enumerate" and len(iterated.args) == 1
        return iterated.args[0] if alone else None
    if not isinstance(iterated, ast.Name):
        return iterated
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == iterated.id and isinstance(node.ctx, ast.Load)
    ]
    made = assigned(source.function, iterated.id)
    return made.value if made is not None and len(uses) == 1 else None


def _stacked(tensor: str, dim: int, length: str) -> str:
    """The pieces as a tensor whose first dim counts them."""
    cut_up = f"{tensor}.unflatten({dim}, (-1, {length}))"
    pieces_at = dim if dim >= 0 else dim - 1
    return cut_up if pieces_at == 0 else f"{cut_up}.movedim({pieces_at}, 0)"


def _number(text: str) -> int | None:
    try:
        return int(text)
    except ValueError:
        return None

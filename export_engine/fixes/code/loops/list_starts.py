"""The line where a list begins, `outs = []`, once nothing is collected in it any longer."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.liveness import nodes_about
from export_engine.fixes.code.editing.text_edits import Piece, Source


def start_dropped(source: Source, loop: ast.For | ast.While, name: str) -> Piece | None:
    """What drops the start of a list that a rewritten loop no longer fills, and nothing reads.

    None where that is not a line of its own before the loop in its block, or something reads the
    list above the loop.
    """
    reads = (
        node
        for node in nodes_about(source.function, name)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    )
    if any(node.lineno < loop.lineno for node in reads):
        return None
    for block in _blocks(source.function):
        starts = [each for each in block if _begins(each, name) and each.lineno < loop.lineno]
        if loop not in block or not starts or len(block) < 2:
            continue
        start = starts[-1]
        line = source.text[source.line_start(start) : source.line_end(start)]
        if line.strip() == source.of(start):
            return Piece(source.line_start(start), source.line_after(start), "")
    return None


def _blocks(function: ast.AST) -> list[list[ast.stmt]]:
    parts = (getattr(node, part, 0) for node in ast.walk(function) for part in ("body", "orelse"))
    return [each for each in parts if isinstance(each, list)]


def _begins(statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.List(elts=[])):
            return target == name
    return False

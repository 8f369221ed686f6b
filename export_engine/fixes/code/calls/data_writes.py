"""`x.data` at a line as `x.detach()`: a write that tracing sees."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)


def write_in_the_open(text: str, line: int) -> Rewritten:
    """The text with `.data` at a line as `.detach()`, a write that tracing sees.

    Raises:
        CannotRewrite: there is no `.data` at that line.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if isinstance(node, ast.Attribute) and node.attr == "data" and spans(node, line):
            end = source.end(node)
            return source.replace([Piece(end - len("data"), end, "detach()")])
    raise CannotRewrite("there is no `.data` at that line")

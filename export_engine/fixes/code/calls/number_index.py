"""`x[0, n]` with a number from data among several indices, as `x.select(1, n)[0]`."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def selected_by_number(text: str, line: int) -> Rewritten:
    """The text with the number that indexes at a line taken by `select`, and the rest as it was.

    Raises:
        Unclear: no subscript there has plain numbers and slices, and one that is computed.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Subscript) or not spans(node, line):
            continue
        if not isinstance(node.slice, ast.Tuple):
            continue
        entries = node.slice.elts
        computed = [n for n, each in enumerate(entries) if not is_plain(each)]
        if len(computed) != 1 or len(entries) < 2:
            continue
        (dim,) = computed
        rest = ", ".join(source.of(each) for each in entries if each is not entries[dim])
        made = f"{source.of(node.value)}.select({dim}, {source.of(entries[dim])})[{rest}]"
        return source.changed([Piece(source.start(node), source.end(node), made)])
    raise Unclear("no number is among several indices at that line")


def is_plain(entry: ast.expr) -> bool:
    """Whether an index is a number or a slice; `None` and `...` change which dim is meant."""
    if isinstance(entry, ast.UnaryOp):
        return is_plain(entry.operand)
    if isinstance(entry, ast.Constant):
        if type(entry.value) is not int:
            raise Unclear("an index adds a dim, or stands for several")
        return True
    return isinstance(entry, ast.Slice)

"""`outs = [None] * n`, filled by `outs[t] = y`, as a list that grows by `append`.

Python needs the number of a size for such a list, so the size is fixed there, not in the loop.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.comprehensions import Form
from export_engine.fixes.code.editing.liveness import nodes_about
from export_engine.fixes.code.editing.text_edits import Piece, Source


class _Filled(NamedTuple):
    """A list that a loop fills, once at each index."""

    start: ast.Assign
    loop: ast.For
    write: ast.Assign
    length: str
    backwards: bool


def appended(text: str, line: int) -> Form:
    """The text with the list that is sized, or filled by the loop, at a line appended to.

    The line of the form is the loop's; text and line are as they were where there is no such list.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.For):
            continue
        found = _filled(source, node)
        if found is not None and line in (found.loop.lineno, found.start.lineno):
            return Form(source.changed(_pieces(source, found)).text, found.loop.lineno)
    return Form(text, line)


def _filled(source: Source, loop: ast.For) -> _Filled | None:
    """The list that a loop fills; None where it is read in it, or before it."""
    for write in loop.body:
        match write:
            case ast.Assign([ast.Subscript(ast.Name(name), ast.Name(index))]):
                pass
            case _:
                continue
        start = _start(source, name)
        uses = [n for n in nodes_about(source.function, name) if isinstance(n, ast.Name)]
        uses = [each for each in uses if each.id == name]
        head = {id(each) for each in ast.walk(loop.iter)}
        early = [
            each for each in uses if each.lineno <= (loop.end_lineno or 0) and id(each) not in head
        ]
        if start is None or len(early) != 2 or source.of(loop.target) != index:
            continue
        length = _length(source, start.value)
        forwards = {f"range({length})", f"range(len({name}))"}
        backwards = {f"reversed({each})" for each in forwards}
        backwards |= {f"range({length} - 1, -1, -1)", f"range({length}-1, -1, -1)"}
        over = ast.unparse(loop.iter)
        if over in forwards | backwards:
            return _Filled(start, loop, write, length, over in backwards)
    return None


def _start(source: Source, name: str) -> ast.Assign | None:
    """The only assignment of a name, where it is a list of one element times a number."""
    starts = [
        node
        for node in nodes_about(source.function, name)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    if len(starts) != 1 or len(starts[0].targets) != 1:
        return None
    return starts[0] if _length(source, starts[0].value) else None


def _length(source: Source, value: ast.expr) -> str:
    """What a list of one element is multiplied with; empty for another value."""
    match value:
        case ast.BinOp(ast.List([_]), ast.Mult(), length) | ast.BinOp(
            length, ast.Mult(), ast.List([_])
        ):
            return ast.unparse(length)
    return ""


def _pieces(source: Source, found: _Filled) -> list[Piece]:
    start, loop, write = found.start, found.loop, found.write
    name = source.of(start.targets[0])
    made = f"{name}.append({source.of(write.value)})"
    pieces = [
        Piece(source.start(start.value), source.end(start.value), "[]"),
        Piece(source.start(write), source.end(write), made),
    ]
    order = f"reversed(range({found.length}))" if found.backwards else f"range({found.length})"
    pieces.append(Piece(source.start(loop.iter), source.end(loop.iter), order))
    if found.backwards:
        after = source.line_after(loop.body[-1])
        pieces.append(Piece(after, after, f"{source.indent(loop)}{name}.reverse()\n"))
    return pieces

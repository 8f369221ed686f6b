"""`outs = [None] * n`, filled by `outs[t] = y`, as a list that grows by `append`.

Python needs the number of a size for such a list, so the size is fixed there, not in the loop.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.assignments import assigned
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
    leaves = (ast.Break, ast.Continue, ast.Return)
    if loop.orelse or any(isinstance(each, leaves) for each in ast.walk(loop)):
        return None
    for write in loop.body:
        match write:
            case ast.Assign([ast.Subscript(ast.Name(name), ast.Name(index))]):
                pass
            case _:
                continue
        start = assigned(source.function, name)
        length = _length(start.value) if start is not None else ""
        if start is None or not length or source.of(loop.target) != index:
            continue
        if not _is_beside(source, start, loop) or _uses_before_its_end(source, loop, name) != 2:
            continue
        forwards = {f"range({length})", f"range(len({name}))"}
        backwards = {f"reversed({each})" for each in forwards} | {f"range({length} - 1, -1, -1)"}
        over = ast.unparse(loop.iter)
        if over in forwards | backwards:
            return _Filled(start, loop, write, length, over in backwards)
    return None


def _is_beside(source: Source, start: ast.stmt, loop: ast.stmt) -> bool:
    """Whether two statements are of one block, so that each runs as often as the other."""
    blocks = (
        getattr(node, part, None)
        for node in ast.walk(source.function)
        for part in ("body", "orelse", "finalbody")
    )
    return any(isinstance(each, list) and start in each and loop in each for each in blocks)


def _uses_before_its_end(source: Source, loop: ast.For, name: str) -> int:
    """How often a name stands before the end of a loop, what is said of its length left out."""
    head = {id(each) for each in ast.walk(loop.iter)}
    names = (each for each in nodes_about(source.function, name) if isinstance(each, ast.Name))
    return sum(
        each.id == name and id(each) not in head and each.lineno <= (loop.end_lineno or 0)
        for each in names
    )


def _length(value: ast.expr) -> str:
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

"""Counts computed from data that Python loops over: as many as there can be, as numbers."""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.selections import traced


def counted(text: str, loop_line: int, line: int) -> Rewritten | None:
    """The text with counts of a fixed number, and as numbers instead of a NumPy array.

    Args:
        text: of the file.
        loop_line: of the loop over them, or where there is none, of what fails.
        line: of what fails.
    """
    source = Source(text, loop_line)
    loop = loop_of_line(source, loop_line)
    pieces: list[Piece] = []
    statements = _statements(source, loop, line)
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and _is_bincount(node):
                pieces += _of_fixed_length(source, statement, node, _length(source, node, loop))
    pieces += _listed(source, loop) if loop is not None else []
    return source.changed(pieces) if pieces else None


def loop_of_line(source: Source, line: int) -> ast.For | None:
    """The loop that begins at a line."""
    for node in ast.walk(source.function):
        if isinstance(node, ast.For) and node.lineno == line:
            return node
    return None


def _statements(source: Source, loop: ast.For | None, line: int) -> list[ast.stmt]:
    """The statements that compute what a loop iterates, or what is asked for at a line."""
    values: list[ast.expr] = []
    found: list[ast.stmt] = []
    if loop is not None:
        values += [loop.iter, *(loop.iter.args if isinstance(loop.iter, ast.Call) else [])]
    for node in ast.walk(source.function):
        simple = isinstance(node, ast.Assign | ast.Expr | ast.Return | ast.AnnAssign)
        if simple and isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            found.append(node)
            values += [
                each.func.value
                for each in ast.walk(node)
                if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
                if each.func.attr in ("tolist", "numpy")
            ]
    for value in values:
        found += traced(source, value).made
    return list(dict.fromkeys(found))


def _is_bincount(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "bincount"


def _length(source: Source, node: ast.Call, loop: ast.For | None) -> str | None:
    """How many counts there are: `minlength`, or the length of what the loop's number indexes."""
    for each in node.keywords:
        if each.arg == "minlength":
            return source.of(each.value)
    if loop is None or not isinstance(loop.iter, ast.Call):
        return None
    name = getattr(loop.iter.func, "id", "")
    if name == "zip":
        others = [each for each in loop.iter.args if isinstance(each, ast.Attribute)]
        return f"len({source.of(others[0])})" if others else None
    if name != "enumerate" or not isinstance(loop.target, ast.Tuple):
        return None
    index = source.of(loop.target.elts[0])
    for statement in loop.body:
        for inner in ast.walk(statement):
            if not isinstance(inner, ast.Subscript) or source.of(inner.slice) != index:
                continue
            if isinstance(inner.value, ast.Attribute):
                return f"len({source.of(inner.value)})"
    return None


def _of_fixed_length(
    source: Source, statement: ast.stmt, node: ast.Call, length: str | None
) -> list[Piece]:
    """A check behind the counts that there are just as many."""
    if length is None:
        return []
    indent = source.indent(statement)
    call = source.of(node)
    given = any(each.arg == "minlength" for each in node.keywords)
    if not given:
        call = f"{call[:-1]}{', ' if node.args or node.keywords else ''}minlength={length})"
    name = "_counts"
    used = source.names
    while name in used:
        name += "_"
    whole = isinstance(statement, ast.Assign) and statement.value is node
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if whole and isinstance(target, ast.Name):
        check = f"{source.torch}._check({target.id}.shape[0] == {length})"
        if f"{check}\n" in source.text:
            return []
        end = source.end(statement)
        return [
            Piece(source.start(node), source.end(node), call),
            Piece(end, end, f"\n{indent}{check}"),
        ]
    at = source.start(statement)
    check = f"{source.torch}._check({name}.shape[0] == {length})"
    before = f"{name} = {call}\n{indent}{check}\n{indent}"
    return [Piece(at, at, before), Piece(source.start(node), source.end(node), name)]


def _listed(source: Source, loop: ast.For) -> list[Piece]:
    """`counts.cpu().numpy()` that the loop iterates as `counts.tolist()`."""
    values = [loop.iter, *(loop.iter.args if isinstance(loop.iter, ast.Call) else [])]
    ends = [made.value for value in values for made in traced_ends(source, value)]
    pieces: list[Piece] = []
    for end in dict.fromkeys([*values, *ends]):
        chain = [
            node
            for node in ast.walk(end)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("numpy", "cpu")
            and not node.args
            and not node.keywords
        ]
        if not any(
            node.func.attr == "numpy" for node in chain if isinstance(node.func, ast.Attribute)
        ):
            continue
        for node in chain:
            assert isinstance(node.func, ast.Attribute)
            pieces.append(Piece(source.end(node.func.value), source.end(node), ""))
        pieces.append(Piece(source.end(end), source.end(end), ".tolist()"))
    return pieces


def traced_ends(source: Source, value: ast.expr) -> list[ast.Assign]:
    """The last assignment of a name that is iterated."""
    return traced(source, value).made[:1] if isinstance(value, ast.Name) else []

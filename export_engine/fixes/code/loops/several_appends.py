"""A loop that adds several tensors at a time to a list as one that adds them as one tensor.

`outs += [a, b]` and two appends in a row, of a list that is stacked: `torch.stack(outs, 1)` is then
`torch.cat` of what each iteration stacked. A list that is concatenated stays so.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.loop_parts import loop_at


def with_one_append(text: str, line: int) -> str:
    """The text with one append in each iteration of the loop at a line; itself for other loops."""
    try:
        source = Source(text, line)
        loop = loop_at(source, line)
    except Unclear:
        return text
    for name, statements, values in _added(loop):
        joined = _joined(source, name, statements)
        if joined is None or any(_reads(each, name) for each in values):
            continue
        called, dim = joined
        how, at = source.of(called.func), source.of(dim) if dim is not None else "0"
        listed = ", ".join(map(source.of, values))
        first, last = source.start(statements[0]), source.end(statements[-1])
        pieces = [Piece(first, last, f"{name}.append({how}([{listed}], {at}))")]
        if how.endswith("stack"):
            function = f"{how.removesuffix('stack')}cat"
            pieces.append(Piece(source.start(called.func), source.end(called.func), function))
        return source.changed(pieces).text
    return text


def _added(loop: ast.For) -> list[tuple[str, list[ast.stmt], list[ast.expr]]]:
    """Lists to which an iteration adds several values at once: by which statements, and which."""
    found = []
    run: list[tuple[str, ast.stmt, list[ast.expr]]] = []
    for statement in loop.body:
        added = _adds(statement)
        if added is None or (run and run[-1][0] != added[0]):
            run = []
        if added is None:
            continue
        run.append((added[0], statement, added[1]))
        values = [value for _, _, each in run for value in each]
        if len(values) > 1:
            found.append((added[0], [each for _, each, _ in run], values))
    return found[::-1]  # the most of a row first


def _adds(statement: ast.stmt) -> tuple[str, list[ast.expr]] | None:
    """The list and what a statement adds to it."""
    match statement:
        case ast.AugAssign(ast.Name(name), ast.Add(), ast.List() | ast.Tuple() as listed):
            values = listed.elts
        case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [value], [])):
            values = [value]
        case ast.Expr(
            ast.Call(ast.Attribute(ast.Name(name), "extend"), [ast.List() | ast.Tuple() as new], [])
        ):
            values = new.elts
        case _:
            return None
    plain = values and not any(isinstance(each, ast.Starred) for each in values)
    return (name, values) if plain else None


def _joined(
    source: Source, name: str, statements: list[ast.stmt]
) -> tuple[ast.Call, ast.expr | None] | None:
    """The call that stacks or concatenates a list, with its dim; None if it has another use."""
    known = {id(node) for each in statements for node in ast.walk(each)}
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == name and id(node) not in known
    ]
    made = [node for node in ast.walk(source.function) if _is_start(node, name)]
    calls = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Call) and node.args and getattr(node.args[0], "id", "") == name
        if source.of(node.func) in (f"{source.torch}.stack", f"{source.torch}.cat")
    ]
    if len(uses) != 2 or len(made) != 1 or len(calls) != 1:
        return None
    named = {each.arg: each.value for each in calls[0].keywords}
    if len(calls[0].args) > 2 or not named.keys() <= {"dim"}:
        return None
    dim = calls[0].args[1] if len(calls[0].args) == 2 else named.get("dim")
    return calls[0], dim


def _reads(value: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(value))


def _is_start(node: ast.AST, name: str) -> bool:
    """Whether it is `outs = []`."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return False
    empty = isinstance(node.value, ast.List) and not node.value.elts
    return empty and getattr(node.targets[0], "id", "") == name

"""`a, b = x.chunk(2)` as a split into symbolic sizes, behind a check that eager makes, too.

How many pieces `chunk` gives depends on the size. Where that many names take them, eager raises for
all sizes that give another number.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.text_edits import Piece, Source


def in_pieces(source: Source, statement: ast.Assign) -> list[Piece]:
    """The pieces of text that replace a `chunk` whose pieces are unpacked; none for another."""
    target, call = statement.targets[0], statement.value
    names = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if len(names) < 2 or any(isinstance(each, ast.Starred) for each in names):
        return []
    asked = _chunked(source, call)
    if asked is None or asked[1] != str(len(names)):
        return []
    tensor, _, dim = asked
    rest = len(names) - 1
    size = f"{tensor}.shape[{dim}]"
    each = f"({size} + {rest}) // {len(names)}"
    last = f"{size} - {each}" if rest == 1 else f"{size} - {rest} * ({each})"
    sizes = f"[{each}, {last}]" if rest == 1 else f"[{each}] * {rest} + [{last}]"
    try:
        indent = source.indent(statement)
    except Unclear:
        return []
    start = source.start(statement)
    check = f"{source.torch}._check({size} > {rest} * ({each}))\n{indent}"
    made = f"{tensor}.split({sizes}, {dim})"
    return [Piece(start, start, check), Piece(source.start(call), source.end(call), made)]


def _chunked(source: Source, call: ast.expr) -> tuple[str, str, str] | None:
    """The tensor, the number of pieces and the dim of `x.chunk(2, 1)` and `torch.chunk(x, 2)`."""
    called = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(called, ast.Attribute):
        return None
    of_torch = source.of(called.value) == source.torch
    given = list(call.args) if of_torch else [called.value, *call.args]
    named = {each.arg: each.value for each in call.keywords}
    for name in ("input", "chunks", "dim")[len(given) :]:
        given.append(named.get(name) or ast.Constant(0))
    if called.attr != "chunk" or len(given) != 3 or not isinstance(given[0], ast.Name):
        return None
    number, dim = given[1:]
    texts = [ast.unparse(number), ast.unparse(dim)]
    return given[0].id, texts[0], texts[1]

"""A list of an int of each row, `ids.append(int(row.argmax()))`, made a tensor behind its loop.

`torch.tensor(ids)` takes numbers; `torch.stack` of what they are read of computes the same.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import Form
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.loop_parts import loop_at

_LONG = ("long", "int64")


def of_tensors_listed(form: Form) -> Form:
    """A form whose loop lists tensors of one number, where it lists ints; else as it is."""
    source = Source(form.text, form.line)
    loop = loop_at(source, form.line)
    pieces: list[Piece] = []
    for each in loop.body:
        call = each.value if isinstance(each, ast.Expr) else None
        if not isinstance(call, ast.Call) or getattr(call.func, "attr", "") != "append":
            continue
        assert isinstance(call.func, ast.Attribute)
        into = call.func.value
        read = _read(source, call.args[0]) if len(call.args) == 1 else ""
        uses = _made_tensors(source, loop, into.id) if isinstance(into, ast.Name) else []
        if not read or not uses:
            continue
        given = call.args[0]
        pieces.append(Piece(source.start(given), source.end(given), f"{read}.long()"))
        pieces += [
            Piece(source.start(use), source.end(use), f"{source.torch}.stack({ast.unparse(into)})")
            for use in uses
        ]
    return Form(source.changed(pieces).text, form.line) if pieces else form


def _read(source: Source, value: ast.expr) -> str:
    """The tensor of which `int(x)` reads a number; empty for another value."""
    if not isinstance(value, ast.Call) or getattr(value.func, "id", "") != "int":
        return ""
    inner = value.args[0] if len(value.args) == 1 and not value.keywords else None
    if isinstance(inner, ast.Call) and getattr(inner.func, "attr", "") == "item":
        assert isinstance(inner.func, ast.Attribute)
        inner = inner.func.value
    if isinstance(inner, ast.Call | ast.Subscript | ast.Name | ast.Attribute):
        return source.of(inner)
    return f"({source.of(inner)})" if isinstance(inner, ast.BinOp) else ""


def _made_tensors(source: Source, loop: ast.For, name: str) -> list[ast.Call]:
    """The calls that make a tensor of ints of a list, if it is used in no other way behind."""
    last, found = loop.end_lineno or 0, list[ast.Call]()
    for node in ast.walk(source.function):
        if isinstance(node, ast.Call) and node.lineno > last and _makes_long(source, node, name):
            found.append(node)
    used = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == name and node.lineno > last
    ]
    return found if len(used) == len(found) else []


def _makes_long(source: Source, node: ast.Call, name: str) -> bool:
    given = node.args[0] if len(node.args) == 1 else None
    if not isinstance(given, ast.Name) or given.id != name:
        return False
    called = source.of(node.func).removeprefix(f"{source.torch}.")
    if called == "LongTensor":
        return not node.keywords
    dtypes = [source.of(each.value).rpartition(".")[2] for each in node.keywords]
    known = all(each.arg == "dtype" for each in node.keywords) and set(dtypes) <= set(_LONG)
    return called in ("tensor", "as_tensor") and known

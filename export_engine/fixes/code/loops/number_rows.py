"""A loop over the numbers of a tensor, `for a, b in spans.tolist()`, as one over its rows.

Each iteration then reads the numbers of its own row, and a scan has as many of them as the tensor.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.comprehensions import Form, free_name
from export_engine.fixes.code.editing.text_edits import Piece, Source


def in_the_head(text: str, line: int) -> Form:
    """The text with `numbers = n.tolist()` at a line in the head of the loop through `numbers`.

    Returns:
        The text, and the line of the loop, or of the comprehension; as they are where there is
        none, or the list is used elsewhere besides.
    """
    source = Source(text, line)
    for made in ast.walk(source.function):
        target = made.targets[0] if isinstance(made, ast.Assign) else None
        if not isinstance(made, ast.Assign) or not isinstance(target, ast.Name):
            continue
        rows = rows_in(made.value)
        if rows is None or not made.lineno <= line <= (made.end_lineno or 0):
            continue
        uses = [n for n in ast.walk(source.function) if isinstance(n, ast.Name)]
        uses = [n for n in uses if n.id == target.id and n is not target]
        heads = [
            (each.lineno if isinstance(each, ast.For) else over.lineno)
            for each in ast.walk(source.function)
            if isinstance(each, ast.For | ast.comprehension)
            for over in ast.walk(each.iter)
            if isinstance(over, ast.Name) and over in uses
        ]
        read = {n.id for n in ast.walk(rows) if isinstance(n, ast.Name)}
        kept = not any(is_written(source, each) for each in read)
        if kept and len(uses) == 1 and len(heads) == 1 and heads[0] > line:
            whole = Piece(source.start(made.value), source.end(made.value), source.of(rows))
            called = Piece(source.end(uses[0]), source.end(uses[0]), ".tolist()")
            grown = source.of(made.value).count("\n") - source.of(rows).count("\n")
            return Form(source.changed([whole, called]).text, heads[0] - grown)
    return Form(text, line)


def over_rows(form: Form, *, numbers: bool = False) -> Form:
    """A form whose loop takes rows of tensors, and unpacks them in its body; as it is for others.

    Args:
        form: a text, and the line of its loop.
        numbers: whether what is taken of `n.tolist()` is read as numbers, and not left tensors of
            one number each.
    """
    source = Source(form.text, form.line)
    loop = next(
        (
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.For)
            and node.lineno <= form.line <= (node.iter.end_lineno or 0) < node.body[0].lineno
        ),
        None,
    )
    if loop is None:
        return form
    taken, pieces, reads = source.names, list[Piece](), list[str]()
    for target, value, alone in _parts(loop):
        rows = rows_of(source, loop, value)
        unpacked = isinstance(target, ast.Tuple | ast.List)
        if rows is None:
            if not unpacked or not isinstance(value, ast.Name | ast.Attribute):
                continue
            read = "unbind"
        elif unpacked or numbers:
            read = "tolist"
            pieces += as_tensor(source, value, rows)
        elif alone and not _is_range(source, rows):
            pieces += as_tensor(source, value, rows)
            continue
        else:
            continue
        row = free_name("_row", taken)
        taken.add(row)
        pieces.append(Piece(source.start(target), source.end(target), row))
        reads.append(f"{source.of(target)} = {row}.{read}()\n")
    if not pieces:
        return form
    first = loop.body[0]
    at = source.start(first)
    pieces.append(Piece(at, at, "".join(f"{each}{source.indent(first)}" for each in reads)))
    return Form(source.changed(pieces).text, form.line)


def as_tensor(source: Source, value: ast.expr, rows: ast.expr) -> list[Piece]:
    """What makes a loop go through the rows of a tensor, of which it had the numbers.

    Args:
        source: the text.
        value: what the loop goes through, in its head.
        rows: the tensor, as `rows_of` has it.
    """
    if isinstance(value, ast.Name):
        named = [each for each in ast.walk(source.function) if isinstance(each, ast.Name)]
        uses = [each for each in named if each.id == value.id]
        made = assigned(source.function, value.id)
        if len(uses) == 2 and made is not None and rows_in(made.value) is rows:
            return [Piece(source.start(made.value), source.end(made.value), source.of(rows))]
    return [Piece(source.start(value), source.end(value), _text(source, rows))]


def _parts(loop: ast.For) -> list[tuple[ast.expr, ast.expr, bool]]:
    """What a loop binds, and of what; whether that is all that it goes through."""
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    name = called.id if isinstance(called, ast.Name) else ""
    if not isinstance(loop.iter, ast.Call) or name not in ("zip", "enumerate"):
        return [(loop.target, loop.iter, True)]
    if not isinstance(loop.target, ast.Tuple):
        return []
    if name == "enumerate":
        count, given = loop.target.elts, loop.iter.args
        return [(count[1], given[0], False)] if (len(count), len(given)) == (2, 1) else []
    if len(loop.target.elts) != len(loop.iter.args):
        return []
    pairs = zip(loop.target.elts, loop.iter.args, strict=True)
    return [(target, value, False) for target, value in pairs]


def rows_of(source: Source, loop: ast.For, value: ast.expr) -> ast.expr | None:
    """The tensor of `n.tolist()`, also of a name for that; None for something else."""
    if isinstance(value, ast.Name):
        made = assigned(source.function, value.id)
        if made is None or made.lineno > loop.lineno:
            return None
        read = {n.id for n in ast.walk(made.value) if isinstance(n, ast.Name)}
        between = {
            node.id
            for node in ast.walk(source.function)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            if made.lineno < node.lineno <= (loop.end_lineno or 0)
        }
        changed = _is_changed(source, value.id) or any(is_written(source, each) for each in read)
        return None if read & between or changed else rows_of(source, loop, made.value)
    return rows_in(value)


def rows_in(value: ast.expr) -> ast.expr | None:
    """The tensor of `n.tolist()`; None for something else."""
    called = value.func if isinstance(value, ast.Call) and not value.args else None
    listed = isinstance(called, ast.Attribute) and called.attr == "tolist"
    return called.value if listed and isinstance(called, ast.Attribute) else None


def is_written(source: Source, name: str) -> bool:
    """Whether a tensor is written to somewhere: `n[0] = 1`, `n.add_(1)`, `n += 1`."""
    return any(
        isinstance(node, ast.Attribute | ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and (not isinstance(node.ctx, ast.Load) or getattr(node, "attr", "").endswith("_"))
        for node in ast.walk(source.function)
    )


def _is_changed(source: Source, name: str) -> bool:
    """Whether a list may be changed: it has a method called, or an element written."""
    return any(
        isinstance(node, ast.Attribute | ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and (isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Load))
        for node in ast.walk(source.function)
    )


def _is_range(source: Source, rows: ast.expr) -> bool:
    return isinstance(rows, ast.Call) and source.of(rows.func) == f"{source.torch}.arange"


def _text(source: Source, rows: ast.expr) -> str:
    """A tensor's text, in brackets where something may follow."""
    whole = ast.Name | ast.Attribute | ast.Call | ast.Subscript
    return source.of(rows) if isinstance(rows, whole) else f"({source.of(rows)})"

"""A loop over pieces whose lengths a tensor has, `torch.split(x, lengths.tolist())`, as slices.

Each iteration takes its own slice of the whole, from where the piece before it ends.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.comprehensions import Form, free_name
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.loop_parts import bracketed
from export_engine.fixes.code.loops.number_rows import is_written, rows_of


def named_in_the_head(text: str, line: int) -> Form:
    """The text with `parts = x.split(lengths.tolist())` at a line in the head of its one loop.

    Returns:
        The text, and the line of the loop, or of the comprehension; as they are for others.
    """
    source = Source(text, line)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.For | ast.comprehension) or not isinstance(node.iter, ast.Name):
            continue
        made = assigned(source.function, node.iter.id)
        if made is None or not made.lineno <= line <= (made.end_lineno or 0):
            continue
        names = [n for n in ast.walk(source.function) if isinstance(n, ast.Name)]
        uses = [n for n in names if n.id == node.iter.id]
        read = {n.id for n in ast.walk(made.value) if isinstance(n, ast.Name)}
        between = {
            n.id
            for n in names
            if isinstance(n.ctx, ast.Store) and made.lineno < n.lineno <= node.iter.lineno
        }
        changed = read & between or any(is_written(source, each) for each in read)
        whole = source.text[source.line_start(made) : source.line_end(made)].strip()
        alone = whole == source.of(made) and made.lineno == made.end_lineno
        if len(uses) != 2 or changed or not alone or _split(source, made.value) is None:
            continue
        pieces = [
            Piece(source.line_start(made), source.line_after(made), ""),
            Piece(source.start(node.iter), source.end(node.iter), source.of(made.value)),
        ]
        return Form(source.changed(pieces).text, node.iter.lineno - 1)
    return Form(text, line)


def as_slices(form: Form) -> Form:
    """A form whose loop takes slices instead of pieces; as it is for others."""
    source = Source(form.text, form.line)
    for loop in ast.walk(source.function):
        if not isinstance(loop, ast.For) or loop.body[0].lineno <= loop.iter.lineno:
            continue
        if not loop.lineno <= form.line <= (loop.iter.end_lineno or 0):
            continue
        counted = isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == (
            "enumerate"
        )
        value, target = loop.iter, loop.target
        if counted and isinstance(value, ast.Call) and isinstance(target, ast.Tuple):
            value, target = value.args[0], target.elts[-1]
        cut = _split(source, value)
        lengths = rows_of(source, loop, cut[1]) if cut is not None else None
        if cut is None or lengths is None or not isinstance(target, ast.Name):
            continue
        return _sliced(source, loop, value, target, cut[0], lengths, cut[2])
    return form


def _sliced(
    source: Source,
    loop: ast.For,
    value: ast.expr,
    target: ast.Name,
    whole: ast.expr,
    lengths: ast.expr,
    dim: int,
) -> Form:
    taken = source.names
    wanted = ("_whole", "_lengths", "_ends", "_spans", "_span", "_start", "_end")
    names = []
    for each in wanted:
        names.append(free_name(each, taken))
        taken.add(names[-1])
    all_, sizes, ends, spans, span, start, end = names
    torch, indent = source.torch, source.indent(loop)
    asserted = f"{torch}.ops.aten._assert_async.msg"
    lines = [
        f"{all_} = {source.of(whole)}",
        f"{sizes} = {bracketed(source.of(lengths))}",
        f'{asserted}(({sizes} >= 0).all(), "a length is negative")',
        f'{asserted}({sizes}.sum() == {all_}.shape[{dim}], "the lengths are not those of all")',
        f"{ends} = {sizes}.cumsum(0)",
        f"{spans} = {torch}.stack([{ends} - {sizes}, {ends}], 1)",
    ]
    first = loop.body[0]
    inner = source.indent(first)
    part = f"{all_}[{':, ' * dim}{start}:{end}]"
    read = f"{start}, {end} = {span}.tolist()\n{inner}{target.id} = {part}\n{inner}"
    at = source.start(loop)
    pieces = [
        Piece(at, at, "".join(f"{each}\n{indent}" for each in lines)),
        Piece(source.start(value), source.end(value), spans),
        Piece(source.start(target), source.end(target), span),
        Piece(source.start(first), source.start(first), read),
    ]
    return Form(source.changed(pieces).text, loop.lineno + len(lines))


def _split(source: Source, value: ast.expr) -> tuple[ast.expr, ast.expr, int] | None:
    """The whole, the lengths and the dim of a split by a list; None for another value."""
    called = value.func if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or not isinstance(called, ast.Attribute):
        return None
    if called.attr not in ("split", "split_with_sizes"):
        return None
    of_torch = source.of(called.value) == source.torch
    given = [*([] if of_torch else [called.value]), *value.args]
    for each in value.keywords:
        if each.arg not in ("split_size_or_sections", "split_sizes", "dim"):
            return None
        given.append(each.value)
    if len(given) not in (2, 3) or [each.arg for each in value.keywords[1:]] not in ([], ["dim"]):
        return None
    dim = given[2].value if len(given) == 3 and isinstance(given[2], ast.Constant) else 0
    known = len(given) == 2 or isinstance(given[2], ast.Constant)
    return (given[0], given[1], dim) if known and type(dim) is int and dim >= 0 else None

"""A loop that compares each element with the last one: `if b != prev: out.append(b)`, `prev = b`.

What it carries is the element before, so the loop goes through both at once, and carries nothing.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.assignments import is_number
from export_engine.fixes.code.editing.comprehensions import Form, free_name
from export_engine.fixes.code.editing.liveness import read_later
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.loops.loop_state import assigned_before
from export_engine.fixes.code.loops.number_rows import as_tensor, rows_of


def beside_the_last(text: str, line: int) -> Form:
    """The text with the loop around the test at a line going through pairs; else as it is."""
    form = _tests_joined(Form(text, line))
    source = Source(form.text, form.line)
    for loop in ast.walk(source.function):
        if not isinstance(loop, ast.For) or not spans(loop, form.line):
            continue
        if loop.body[0].lineno > loop.lineno and len(loop.body) > 1:
            made = _paired(source, loop, form.line)
            if made is not None:
                return made
    return form


def over_tensor(form: Form) -> Form:
    """A form whose loop goes through a tensor, where it goes through the numbers of one."""
    source = Source(form.text, form.line)
    for loop in ast.walk(source.function):
        if isinstance(loop, ast.For) and spans(loop, form.line):
            rows = rows_of(source, loop, loop.iter)
            if rows is not None and isinstance(loop.target, ast.Name):
                return Form(source.changed(as_tensor(source, loop.iter, rows)).text, form.line)
    return form


def _paired(source: Source, loop: ast.For, line: int) -> Form | None:
    """The text with one loop going through pairs; None where it does not carry its element."""
    last, element = loop.body[-1], loop.target
    carried = last.targets[0] if isinstance(last, ast.Assign) and len(last.targets) == 1 else None
    if not isinstance(element, ast.Name) or not isinstance(carried, ast.Name):
        return None
    assert isinstance(last, ast.Assign)
    if not isinstance(last.value, ast.Name) or last.value.id != element.id:
        return None
    name = carried.id
    bound = [
        node.id
        for each in loop.body
        for node in ast.walk(each)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]
    leaves = any(isinstance(n, ast.Continue | ast.Break | ast.Return) for n in ast.walk(loop))
    later = read_later(source.function, loop)
    if leaves or bound.count(name) > 1 or element.id in bound or {name, element.id} & later:
        return None
    values = rows_of(source, loop, loop.iter)
    if values is None and isinstance(loop.iter, ast.Call):
        return None
    taken = source.names
    before, given = free_name("_before", taken), free_name("_values", taken)
    first = _first(source, loop, name, element.id, given)
    if first is None:
        return None
    indent, torch = source.indent(loop), source.torch
    over = as_tensor(source, loop.iter, values) if values is not None else []
    named = isinstance(loop.iter, ast.Name) and (not over or over[0].start < source.start(loop))
    rows = source.of(loop.iter) if named or not over else over[0].text
    lines = [
        f"{given} = {rows}",
        f"{before} = {torch}.cat([{first}, {given}])[:{given}.shape[0]]",
    ]
    at, end = source.start(loop), source.line_end(loop.body[-2])
    head = f"for {element.id}, {name} in zip({given}, {before})"
    return Form(
        source.changed(
            [
                Piece(at, at, "".join(f"{each}\n{indent}" for each in lines)),
                Piece(at, source.end(loop.iter), head),
                Piece(end, source.line_end(last), ""),
                *(over if named else []),
            ]
        ).text,
        line + len(lines),
    )


def _first(source: Source, loop: ast.For, name: str, element: str, given: str) -> str | None:
    """The tensor of what is carried into the first iteration; None where it is not known."""
    start = assigned_before(source, loop, name)
    if start is not None and is_number(start) and source.of(start).lstrip("-").isdigit():
        return f"{given}.new_full((1,), {source.of(start)})"
    if not isinstance(start, ast.Constant) or start.value is not None:
        return None
    compared = [
        side
        for node in ast.walk(loop)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotEq | ast.Eq)
        if len(node.ops) == 1
        and {ast.unparse(node.left), ast.unparse(node.comparators[0])} == {name, element}
        for side in (node.left, node.comparators[0])
    ]
    read = [
        node
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    if any(node not in compared for node in read):
        return None
    # no element is None; 0 is not the first one, unless that is 0, which is not 1
    return f"({given}[:1] == 0).to({given}.dtype)"


def _tests_joined(form: Form) -> Form:
    """A form with `if a: if b: ...` as `if (a) and (b): ...`, around a line."""
    source = Source(form.text, form.line)
    for outer in ast.walk(source.function):
        if not isinstance(outer, ast.If) or not spans(outer, form.line) or outer.orelse:
            continue
        inner = outer.body[0] if len(outer.body) == 1 else None
        if not isinstance(inner, ast.If) or inner.orelse or inner.lineno == outer.lineno:
            continue
        if inner.body[0].lineno == inner.lineno:
            continue
        test = f"({source.of(outer.test)}) and ({source.of(inner.test)})"
        deeper = source.indent(inner)
        body = source.block_at(deeper, inner.body)
        start, end = source.start(outer.test), source.line_end(inner.body[-1])
        text = f"{test}:\n" + "\n".join(body)
        return _tests_joined(
            Form(source.changed([Piece(start, end, text)]).text, outer.test.lineno)
        )
    return form

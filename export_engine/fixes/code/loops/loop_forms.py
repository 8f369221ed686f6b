"""Loops in the form that a scan takes: a list comprehension as a loop, its own output as a state.

`[f(row) for row in x]` appends to a list; `out[t] = f(out[t - 1])` and `outs.append(f(outs[-1]))`
keep the last results in names, which the loop then carries.
"""

from __future__ import annotations

import ast
from contextlib import suppress

from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.comprehensions import Form, comprehension_as_loop, free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.frames import with_frames
from export_engine.fixes.code.loops.loop_indexing import Indexed, asked_for_kind, indexed
from export_engine.fixes.code.loops.loop_parts import Range, iterated, loop_at
from export_engine.fixes.code.loops.loop_state import begins
from export_engine.fixes.code.loops.number_rows import in_the_head, over_rows
from export_engine.fixes.code.loops.numbers_listed import of_tensors_listed
from export_engine.fixes.code.loops.ragged_pieces import as_slices, named_in_the_head
from export_engine.fixes.code.loops.several_appends import with_one_append
from export_engine.fixes.code.loops.sized_lists import appended

_ITERATED = ("range", "reversed", "enumerate", "zip")
"""What a loop may go through by a name, once."""
_FURTHEST = 4
"""How many results back a loop may read."""


def scannable(text: str, line: int, *, numbers: bool = False) -> Form:
    """The text with the loop, or the list comprehension, at a line in the form that a scan takes.

    Args:
        text: of the file.
        line: of the loop.
        numbers: whether an iteration reads what it takes of `n.tolist()` as numbers.

    Raises:
        Unclear: it reads its own output in a way that has no such form.
    """
    text, line = named_in_the_head(*in_the_head(*appended(text, line)))
    text = with_one_append(with_frames(text, line), line)
    form = _over_lines(text, line) or comprehension_as_loop(text, line) or Form(text, line)
    form = over_rows(_in_its_head(as_slices(form)), numbers=numbers)
    with suppress(Unclear):
        form = of_tensors_listed(form)
    source = Source(form.text, form.line)
    try:
        loop = loop_at(source, form.line)
        count, _ = iterated(source, loop)
    except Unclear:
        return form  # said better by what makes the scan
    found = _list_so_far(source, loop, count) or (count and _tensor_so_far(source, loop, count))
    if not found:
        return form
    grown = [
        piece.text.count("\n") - source.text[piece.start : piece.end].count("\n")
        for piece in found
        if piece.start <= source.start(loop)
    ]
    return Form(source.changed(found).text, loop.lineno + sum(grown))


def _over_lines(text: str, line: int) -> Form | None:
    """The text with the loop that is all in one line with its body in the next; None for others."""
    source = Source(text, line)
    for loop in ast.walk(source.function):
        if isinstance(loop, ast.For) and loop.lineno == line == loop.body[0].lineno:
            indent = source.indent(loop)
            start = source.start(loop.body[0])
            head = source.text[:start].rstrip()
            return Form(f"{head}\n{indent}    {source.text[start:]}", line)
    return None


def _in_its_head(form: Form) -> Form:
    """A form whose loop goes through a name, `steps = reversed(range(n))`, with what that is."""
    source = Source(form.text, form.line)
    for loop in ast.walk(source.function):
        if not isinstance(loop, ast.For) or not loop.lineno <= form.line <= loop.iter.lineno:
            continue
        name = loop.iter.id if isinstance(loop.iter, ast.Name) else ""
        made = assigned(source.function, name) if name else None
        called = made.value.func if made is not None and isinstance(made.value, ast.Call) else None
        if made is None or getattr(called, "id", "") not in _ITERATED:
            continue
        uses = [n for n in ast.walk(source.function) if isinstance(n, ast.Name) and n.id == name]
        read = {n.id for n in ast.walk(made.value) if isinstance(n, ast.Name)}
        between = {
            n.id
            for n in ast.walk(source.function)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
            if made.lineno < n.lineno <= loop.lineno
        }
        if len(uses) == 2 and not read & between:
            head = Piece(source.start(loop.iter), source.end(loop.iter), source.of(made.value))
            return Form(source.changed([head]).text, form.line)
    return form


def _list_so_far(source: Source, loop: ast.For, count: Range | None) -> list[Piece] | None:
    """`outs.append(f(outs[-1]))`, with the last element in a name; None if it is not that.

    So is `outs.append(f(outs[t - 1]))` where an index that counts from 1 finds one there already.
    """
    appended = [
        (each, each.value)
        for each in loop.body
        if isinstance(each, ast.Expr)
        and isinstance(each.value, ast.Call)
        and isinstance(each.value.func, ast.Attribute)
        and each.value.func.attr == "append"
        and isinstance(each.value.func.value, ast.Name)
        and len(each.value.args) == 1
    ]
    for statement, call in appended:
        assert isinstance(call.func, ast.Attribute)
        assert isinstance(call.func.value, ast.Name)
        name, value = call.func.value.id, call.args[0]
        reads = _reads_in(loop, name, call.func.value)
        if not reads:
            continue
        begun = begins(source, loop, name)
        if not begun:
            raise Unclear(f"`{name}` is read while it is collected")
        once = sum(source.of(each.func) == f"{name}.append" for _, each in appended) == 1
        last = {f"{name}[{each}]" for each in ("-1", _last_index(count, begun) if once else "-1")}
        if not all(source.of(each).replace(" ", "") in last for each in reads):
            raise Unclear(f"`{name}` is read in another way than its last element")
        return _carried_last(source, loop, name, statement, value, reads)
    return None


def _carried_last(
    source: Source,
    loop: ast.For,
    name: str,
    statement: ast.stmt,
    value: ast.expr,
    reads: list[ast.expr],
) -> list[Piece]:
    last = free_name(f"_{name}_last", source.names)
    if any(each.lineno > statement.lineno for each in reads):
        raise Unclear(f"`{name}` is read after it is collected")
    begin, at = source.indent(loop), source.indent(statement)
    within = {id(each) for each in ast.walk(value)}
    inside = [each for each in reads if id(each) in within]
    text = _with(source, value, {id(each): last for each in inside})
    collected = f"{last} = {text}\n{at}{name}.append({last})"
    return [
        Piece(source.start(loop), source.start(loop), f"{last} = {name}[-1]\n{begin}"),
        Piece(source.start(statement), source.end(statement), collected),
        *(
            Piece(source.start(each), source.end(each), last)
            for each in reads
            if each not in inside
        ),
    ]


def _tensor_so_far(source: Source, loop: ast.For, count: Range) -> list[Piece] | None:
    """`out[t] = f(out[t - 1])`, with what is read in names; None if it is not that."""
    for statement in loop.body:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            continue
        place = indexed(source, target, count.name)
        name = target.value.id
        reads = _reads_in(loop, name, target.value)
        if place is None or not reads:
            continue
        return _carried_back(source, loop, count, statement, target, place, reads)
    return None


def _carried_back(
    source: Source,
    loop: ast.For,
    count: Range,
    statement: ast.Assign,
    target: ast.Subscript,
    place: Indexed,
    reads: list[ast.expr],
) -> list[Piece]:
    name = source.of(target.value)
    taken = source.names
    sign = -1 if count.reverse else 1
    back: dict[int, int] = {}
    for each in reads:
        found = indexed(source, each, count.name) if isinstance(each, ast.Subscript) else None
        if found is None or (found.before, found.after) != (place.before, place.after):
            raise Unclear(f"`{name}` is read while it is written")
        back[id(each)] = sign * (place.offset - found.offset)
        late = (each.lineno, each.col_offset) > (target.lineno, target.col_offset)
        after = late and each.lineno > (statement.end_lineno or 0)
        if found.wide or place.wide or (back[id(each)] > 0) == after:
            raise Unclear(f"`{source.of(each)}` is read while `{name}` is written")
    furthest = max(back.values())
    if min(back.values()) < 0 or furthest > _FURTHEST or count.first is None:
        raise Unclear(f"`{name}` is read before it is written")
    names = {n: free_name(f"_{name}_back{n or ''}", taken) for n in range(furthest + 1)}
    begin = source.indent(loop)
    lines = [
        f"{names[n]} = {name}[{place.before}{_first(count, place.offset - sign * n)}{place.after}]"
        for n in range(1, furthest + 1)
    ]
    pieces = [
        Piece(source.start(loop), source.start(loop), "".join(f"{each}\n{begin}" for each in lines))
    ]
    within = {id(node) for node in ast.walk(statement.value)}
    texts = {id(each): names[back[id(each)]] for each in reads}
    value = _with(source, statement.value, {k: v for k, v in texts.items() if k in within})
    at = source.indent(statement)
    shifts = [f"{names[n]} = {names[n - 1]}" for n in range(furthest, 0, -1)]
    now = [f"{names[0]} = {value}", f"{source.of(target)} = {names[0]}"]
    pieces.append(Piece(source.start(statement), source.end(statement), f"\n{at}".join(now)))
    if shifts:
        end = source.line_end(loop.body[-1])
        pieces.append(Piece(end, end, "".join(f"\n{at}{each}" for each in shifts)))
    pieces += [
        Piece(source.start(each), source.end(each), texts[id(each)])
        for each in reads
        if id(each) not in within
    ]
    if loop.body[-1] is statement and shifts:
        joined = "".join(f"\n{at}{each}" for each in [*now[1:], *shifts])
        pieces = [each for each in pieces if each.start < source.start(statement)]
        whole = f"{now[0]}{joined}"
        pieces.append(Piece(source.start(statement), source.end(statement), whole))
    return pieces


def _first(count: Range, offset: int) -> str:
    """The index of the first iteration, moved by an offset."""
    if count.reverse:
        moved = offset - 1
        return f"{count.stop} {'+' if moved > 0 else '-'} {abs(moved)}" if moved else count.stop
    assert count.first is not None
    return str(count.first + offset)


def _reads_in(loop: ast.For, name: str, written: ast.Name) -> list[ast.expr]:
    """What reads the values of a name in a loop: a subscript of it, or itself."""
    found: list[ast.expr] = []
    covered = {id(written), *map(id, asked_for_kind(loop.body))}
    for node in (node for each in loop.body for node in ast.walk(each)):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        if isinstance(node.value, ast.Name) and node.value.id == name:
            covered.add(id(node.value))
            found.append(node)
    return found + [
        node
        for each in loop.body
        for node in ast.walk(each)
        if isinstance(node, ast.Name) and node.id == name and id(node) not in covered
    ]


def _last_index(count: Range | None, begun: int) -> str:
    """The index of the last element of a list that grows by one in each iteration of a loop.

    Args:
        count: the loop's numbers.
        begun: how many elements there are before it.
    """
    if count is None or count.reverse or count.first is None:
        return "-1"
    beyond = begun - count.first - 1
    return count.name if not beyond else f"{count.name}{beyond:+d}"


def _with(source: Source, node: ast.expr, texts: dict[int, str]) -> str:
    """An expression's text with parts of it replaced."""
    start, end, made = source.start(node), source.end(node), source.text
    parts = [each for each in ast.walk(node) if id(each) in texts and isinstance(each, ast.expr)]
    for each in sorted(parts, key=source.start, reverse=True):
        at, stop = source.start(each), source.end(each)
        made = made[:at] + texts[id(each)] + made[stop:]
        end += len(texts[id(each)]) - (stop - at)
    return made[start:end]

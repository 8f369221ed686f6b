"""A loop over what data select as one over all there is, as experts of a mixture are looped over.

The iterations that the loop skips run on empty tensors and do nothing. Three steps, each where the
loop has it: what it iterates becomes a fixed number of indices; a test whether anything is selected
is dropped; counts become numbers.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.branches.empty_tests import asks_empty, without_test
from export_engine.fixes.code.branches.no_effect import NoEffect, selection_names
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import REACHED
from export_engine.fixes.code.editing.liveness import read_again, read_later
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.variables import stored_names
from export_engine.fixes.code.loops.counts import counted, loop_of_line
from export_engine.fixes.code.loops.element_uses import Way, as_index
from export_engine.fixes.code.loops.selections import selected, traced


class Unskipped(NamedTuple):
    """A text whose loop runs every iteration."""

    made: Rewritten
    probes: tuple[str, ...]
    """Texts that raise an error where the loop skips one."""
    title: str


def unskipped(text: str, line: int, way: Way) -> Unskipped:
    """The text with the loop, or the `if`, at a line run for what is not selected, too.

    Args:
        text: of the file.
        line: of the failure: the loop's, one in it, or one at which what it iterates is computed.
        way: how an element is used as an index.

    Raises:
        Unclear: there is none at that line, or it would do something for what is not selected.
    """
    source = Source(text, line)
    loop = _loop(source, line)
    function, title, probes = "", "", list[str]()
    at = loop.lineno if loop is not None else line
    if loop is not None and (found := _over_all(source, loop, line, way)) is not None:
        (text, function), probe, moved, each = found
        at += moved
        probes.append(probe)
        title = f"Run the loop in line {loop.lineno} for every {each}"
    now, tests = _without_tests(text, line, at if loop is not None else None)
    if now is not None:
        text, function = now.text, now.function
        probes = probes or tests  # a loop over all runs what the tests skip
        title = title or (
            f"Drop the test in line {line}, which only skips empty tensors"
            if loop is None or loop.lineno < line
            else f"Run the loop in line {loop.lineno} for empty selections, too"
        )
    counts = counted(text, at, line)
    if counts is not None:
        text, function = counts.text, counts.function
        title = title or f"Fix the number of counts in line {line}"
    if not title:
        raise Unclear("nothing at that line is skipped where nothing is selected")
    return Unskipped(Rewritten(text, function), tuple(probes), title)


def _loop(source: Source, line: int) -> ast.For | None:
    """The innermost loop around a line, or the one over what is computed there."""
    loops = [node for node in ast.walk(source.function) if isinstance(node, ast.For)]
    around = [each for each in loops if each.lineno <= line <= (each.end_lineno or 0)]
    if around:
        return max(around, key=lambda node: node.lineno)
    for each in loops:
        values = each.iter.args if isinstance(each.iter, ast.Call) else []
        for value in [each.iter, *values]:
            for made in traced(source, value).made:
                if made.lineno <= line <= (made.end_lineno or 0):
                    return each
    return None


def _over_all(
    source: Source, loop: ast.For, line: int, way: Way
) -> tuple[Rewritten, str, int, str] | None:
    """The text with a loop over all, its probe, how many lines it moved, and what it goes over."""
    found = selected(source, loop, line)
    if found is None:
        return None
    assert isinstance(loop.target, ast.Name)
    if loop.orelse or loop.body[0].lineno == loop.lineno:
        raise Unclear("the loop has an `else`, or is on one line")
    index = loop.target.id
    later = read_later(source.function, loop) | read_again(loop)
    if index in read_later(source.function, loop):
        raise Unclear(f"`{index}` is used behind the loop")
    seeds = selection_names(loop.body, set())
    effect = NoEffect(source, loop.body, seeds, later, found.flag.format(index))
    pieces = [*found.pieces, *effect.pieces, *as_index(source, loop, index, found.rows, way)]
    start, end = source.start(loop.iter), source.end(loop.iter)
    pieces.append(Piece(start, end, found.keys or f"range({found.total})"))
    indent = source.indent(loop)
    if found.check:
        pieces.append(Piece(source.start(loop), source.start(loop), f"{found.check}\n{indent}"))
    moved = sum(
        piece.text.count("\n") - source.text[piece.start : piece.end].count("\n")
        for piece in pieces
        if piece.start <= source.start(loop)
    )
    element = "key" if found.keys else "index"
    return source.changed(pieces), _probe(source, loop, found.skips), moved, element


def _probe(source: Source, statement: ast.stmt, condition: str) -> str:
    """The text with an error before a statement where a condition holds."""
    raised = f"if {condition}: raise LookupError({REACHED!r})\n{source.indent(statement)}"
    at = source.start(statement)
    return source.changed([Piece(at, at, raised)]).text


def _without_tests(
    text: str, line: int, loop_line: int | None
) -> tuple[Rewritten | None, list[str]]:
    """The text without the test at a line, and without those of the same loop, and their probes."""
    made, probes = None, list[str]()
    while True:
        source = Source(made.text if made is not None else text, loop_line or line)
        within = source.function if loop_line is None else loop_of_line(source, loop_line)
        for branch in _tests(source, within, line if loop_line is None else None):
            try:
                changed = _dropped(source, branch)
            except Unclear:
                if branch.test.lineno <= line <= (branch.test.end_lineno or 0):
                    raise
                continue
            asked = source.of(branch.test)
            wanted = asked if asks_empty(branch.test) else f"not ({asked})"
            probes.append(_probe(source, branch, wanted))
            made = changed
            break
        else:
            return made, probes


def _tests(source: Source, within: ast.AST | None, line: int | None) -> list[ast.If]:
    """Tests whether anything is selected; of what is computed in a loop, where there is one."""
    if within is None:
        return []
    bound = stored_names(within)
    found = []
    for node in ast.walk(within):
        if not isinstance(node, ast.If) or asks_empty(node.test) is None:
            continue
        names = {n.id for n in ast.walk(node.test) if isinstance(n, ast.Name)}
        here = line is None or node.test.lineno <= line <= (node.test.end_lineno or 0)
        if here and names & bound and not names & _numbers(within):
            found.append(node)
    return found


def _numbers(within: ast.AST) -> set[str]:
    """The number that a loop counts with, which selects nothing."""
    if not isinstance(within, ast.For):
        return set()
    target = within.target
    called = getattr(getattr(within.iter, "func", None), "id", "")
    if called == "enumerate" and isinstance(target, ast.Tuple):
        target = target.elts[0]
    elif called == "zip" or isinstance(target, ast.Tuple):
        return set()
    return {target.id} if isinstance(target, ast.Name) else set()


def _dropped(source: Source, branch: ast.If) -> Rewritten:
    """The text without a test; raises Unclear where its block would do something."""
    seeds = {n.id for n in ast.walk(branch.test) if isinstance(n, ast.Name)}
    for node in ast.walk(source.function):
        if isinstance(node, ast.Assign) and node.lineno < branch.lineno:
            bound = {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
            if bound & seeds:
                seeds |= bound | _tensors(node.value)
    return without_test(source, branch, seeds)


def _tensors(value: ast.expr) -> set[str]:
    """The names that an emptiness is asked of: of `m.sum()` in `n = m.sum()`."""
    called = value.func if isinstance(value, ast.Call) else None
    owner = called.value if isinstance(called, ast.Attribute) else None
    return {owner.id} if isinstance(owner, ast.Name) else set()

"""Two loops, one in the other, over pairs of a dynamic number: as torch.vmap of one pair.

The inner loop becomes an expression, `torch.vmap(lambda _x_j: x[i] - _x_j)(x)`, and the outer one a
loop over rows. Where the inner one goes on from the outer one's number, a mask selects the pairs.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import Form
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.loops.collected_lists import number
from export_engine.fixes.code.loops.loop_parts import loop_at
from export_engine.fixes.code.loops.loop_to_vmap import LoopAsVmap, as_vmap


def pairs_at_once(text: str, line: int) -> Rewritten:
    """The text with the loop at a line, and the one in it, as calls of `torch.vmap`.

    Raises:
        Unclear: there is none in it, or it does more than to collect.
    """
    source = Source(text, line)
    outer = loop_at(source, line)
    inner = outer.body[-1]
    if not isinstance(inner, ast.For) or inner.orelse or len(inner.body) != 1:
        raise Unclear("there is no loop in it that only collects")
    stop = _upper(source, outer, inner)
    if stop:  # the pairs of all, of which some are kept
        every = f"range({stop})"
        heads = [Piece(source.start(e.iter), source.end(e.iter), every) for e in (outer, inner)]
        source = Source(source.changed(heads).text, line)
        outer = loop_at(source, line)
        inner = outer.body[-1]
        assert isinstance(inner, ast.For)
    form = _over_rows(source, outer, inner, stop)
    return as_vmap(form.text, form.line)


def _over_rows(source: Source, outer: ast.For, inner: ast.For, stop: str) -> Form:
    """The text with the inner loop as an expression of a row.

    Args:
        source: of the loops.
        outer: whose rows they are.
        inner: over each.
        stop: how many there are, where only the pairs `i < j` are wanted; else empty.
    """
    own = {node.id for node in ast.walk(outer) if isinstance(node, ast.Name) and _binds(node)}
    if own & {node.id for node in ast.walk(inner.iter) if isinstance(node, ast.Name)}:
        raise Unclear("how long the inner loop is depends on the outer one")
    made, into = LoopAsVmap(source, inner, unrolled=False).expression()
    pieces = [Piece(source.start(inner), source.end(inner), made)]
    if stop and not into:
        raise Unclear("what the loops do not write to stays as it is")
    pieces += _joined(source, outer, into, stop) if into else []
    return Form(source.changed(pieces).text, outer.lineno)


def _binds(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _joined(source: Source, outer: ast.For, name: str, stop: str) -> list[Piece]:
    """`torch.stack(rows)` of what is now a list of whole rows: `torch.cat`, or some of each."""
    pieces, torch = list[Piece](), source.torch
    last, known = outer.end_lineno or 0, set[ast.AST]()
    for node in ast.walk(source.function):  # a call comes before the names in it
        if isinstance(node, ast.Call) and node.lineno > last and _stacks(source, node, name):
            known |= set(ast.walk(node))
            if stop:
                upper = f"[{torch}.ones({stop}, {stop}, dtype={torch}.bool).triu(1)]"
                pieces.append(Piece(source.end(node), source.end(node), upper))
            else:
                at, end = source.start(node.func), source.end(node.func)
                pieces.append(Piece(at, end, f"{torch}.cat"))
        named = isinstance(node, ast.Name) and node.id == name and _reads(node, last)
        if named and node not in known:
            raise Unclear(f"the list `{name}` is used in another way than to be stacked")
    return pieces


def _stacks(source: Source, node: ast.Call, name: str) -> bool:
    """Whether a call is `torch.stack(name)`, by the first dim."""
    if source.of(node.func) != f"{source.torch}.stack" or not node.args:
        return False
    given, *more = [*node.args, *(each.value for each in node.keywords)]
    first = not more or (len(more) == 1 and number(more[0]) == 0)
    return isinstance(given, ast.Name) and given.id == name and first


def _reads(node: ast.Name, last: int) -> bool:
    return isinstance(node.ctx, ast.Load) and node.lineno > last


def _upper(source: Source, outer: ast.For, inner: ast.For) -> str:
    """How many there are, where the loops are over the pairs `i < j` of them; else empty."""
    i = outer.target
    whole, rest = _range(source, outer.iter), _range(source, inner.iter)
    if not isinstance(i, ast.Name) or len(outer.body) > 1 or len(rest) != 2 or len(whole) != 1:
        return ""
    first, stop = rest
    goes_on = first.replace(" ", "") == f"{i.id}+1" and whole[0] in (stop, f"{stop} - 1")
    return stop if goes_on else ""


def _range(source: Source, node: ast.expr) -> list[str]:
    """The arguments of a `range`; none of something else."""
    called = isinstance(node, ast.Call) and source.of(node.func) == "range"
    return [source.of(each) for each in node.args] if isinstance(node, ast.Call) and called else []

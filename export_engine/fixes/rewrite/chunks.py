"""A loop over chunks of a tensor that only bound how much memory is used: all of it at once.

`for i in range(0, n, k)` over `x[:, i : i + k]`, and over what `x.split(k, 1)` gives, as one chunk.
That no chunk depends on where it ends is for eager to say, on inputs of which there are several.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from export_engine.attempt import Failed, Fix, Kind, text_in_effect
from export_engine.fixes.code.text_edits import CannotRewrite, Piece, Rewritten, Source
from export_engine.fixes.code.try_edit import make_edit, stacks_of, try_and_offer
from export_engine.fixes.try_fixes import read_failure
from export_engine.in_eager import RAISES, agrees
from export_engine.source import Location

_KINDS = (Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE)
_WHY = (
    "The chunks only limit memory use. Without them the size stays dynamic. Checked against "
    "eager on inputs of several chunks."
)
_COSTS = "All chunks are in memory at once."
_NO_CHUNKS = "that line does not split a tensor into chunks"
_MADE = re.compile(r"\.(split|chunk)\(|\brange\(0\b")
"""What is in the text of a function that makes chunks."""


class AtOnce(NamedTuple):
    """A text that takes all chunks at once, and one that raises `REACHED` where there are two."""

    made: Rewritten
    probe: Rewritten


def suggest_chunks(attempt: Failed) -> Iterator[Fix]:
    """The fix of chunks in a function that led to a bound; none if eager differs.

    torch reports the line that checked a size, mostly one that uses a chunk.
    """
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind not in _KINDS:
        return
    for place in _places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        for at, texts in _chunks(text, line):
            edit, probe = (make_edit(place.file, text, t) for t in texts)
            if not agrees(request, edit, (probe,)):
                continue
            title = f"Compute the chunks of line {place.line + at - line} at once"
            fix = try_and_offer(attempt, edit, title, why=_WHY, gives_up=_COSTS)
            if fix is not None:
                yield fix
                return


def _places(attempt: Failed) -> list[Location]:
    """A line of each function that led to a bound, the innermost first."""
    stacks = stacks_of(attempt)
    functions = {(place.file, place.function): place for s in stacks for place in reversed(s)}
    return list(functions.values())


def _chunks(text: str, line: int) -> Iterator[tuple[int, AtOnce]]:
    """The lines of the function around one that make chunks, with the texts of one chunk there."""
    try:
        source = Source(text, line)
    except CannotRewrite:
        return
    if not _MADE.search(
        text, source.at_line(source.function.lineno), source.line_end(source.function)
    ):
        return
    heads = {
        node.iter.lineno if isinstance(node, ast.For | ast.comprehension) else node.lineno
        for node in ast.walk(source.function)
        if isinstance(node, ast.For | ast.comprehension | ast.Assign)
    }
    for at in sorted(heads):
        with suppress(CannotRewrite):
            yield at, without_chunks(text, at)


def without_chunks(text: str, line: int) -> AtOnce:
    """The text with one chunk at a line."""
    source = Source(text, line)
    for node in ast.walk(source.function):
        match node:
            case ast.For(iter=rows) | ast.comprehension(iter=rows) if rows.lineno == line:
                if isinstance(rows, ast.Call) and source.of(rows.func) == "range":
                    return _of_positions(source, node, rows)
                return _of_splits(source, rows)
            case ast.Assign(targets, value) if node.lineno == line:
                if any(not isinstance(target, ast.Name) for target in targets):
                    raise CannotRewrite("each chunk has its own name")
                return _of_splits(source, value)
    raise CannotRewrite(_NO_CHUNKS)


def _of_splits(source: Source, value: ast.expr) -> AtOnce:
    """Every `x.split(k, 1)`, `torch.split(x, k, 1)` and `x.chunk(n // k)` as `(x,)`."""
    cuts = [cut for node in ast.walk(value) if (cut := _split_tensor(source, node))]
    if not cuts:
        raise CannotRewrite(_NO_CHUNKS)
    whole = [source.put(call, f"({source.of(tensor)},)") for call, tensor in cuts]
    return AtOnce(source.replace(whole), _probe(source, [call for call, _ in cuts]))


def _split_tensor(source: Source, node: ast.AST) -> tuple[ast.Call, ast.expr] | None:
    """The call and its tensor, of a call that makes as many chunks as a size says."""
    match node:
        case ast.Call(ast.Attribute(owner, "split" | "chunk" as name), args):
            of, *sizes = args if source.of(owner) == "torch" else [owner, *args]
            if not sizes or isinstance(of, ast.Constant | ast.Starred):
                return None
            is_fixed = name == "chunk" and isinstance(sizes[0], ast.Constant)  # for every size
            return None if is_fixed else (node, of)
    return None


def _of_positions(source: Source, loop: ast.For | ast.comprehension, rows: ast.Call) -> AtOnce:
    """The loop over positions in steps of k as one over 0, with nothing cut off at `i + k`."""
    match loop.target, rows.args:
        case ast.Name(id=name), [ast.Constant(value=0), stop, step]:
            end, width = source.of(stop), _bare(source, step)
        case _:
            raise CannotRewrite(_NO_CHUNKS)
    ends = {f"{name}+{width}", f"{width}+{name}"}
    pieces, clear, uses = [source.put(rows, "(0,)")], set[int](), list[ast.AST]()
    for node in _inside(source, loop):
        match node:
            case ast.Name(id=own) if own == name:
                uses.append(node)
            case ast.Slice(ast.Name(id=own) as lower, upper) if own == name:
                clear.add(id(lower))
                if upper is not None and _bare(source, upper) in ends:
                    clear |= {id(inner) for inner in ast.walk(upper)}
                    pieces.append(Piece(source.end(lower), source.end(upper), ":"))
            case ast.Call(ast.Name("min"), [one, other]):
                texts = {_bare(source, one), _bare(source, other)}
                if texts & ends and _bare(source, stop) in texts:
                    clear |= {id(inner) for inner in ast.walk(node)}
                    pieces.append(source.put(node, end))
    if len(pieces) < 2 or any(id(use) not in clear for use in uses):
        raise CannotRewrite("a position is used for more than slicing")
    return AtOnce(source.replace(pieces), _probe(source, [rows]))


def _inside(source: Source, loop: ast.For | ast.comprehension) -> Iterator[ast.AST]:
    """A loop's body, or a comprehension's element."""
    if isinstance(loop, ast.For):
        for statement in loop.body:
            yield from ast.walk(statement)
        return
    for node in ast.walk(source.function):
        if loop in getattr(node, "generators", ()):
            yield from (inner for inner in ast.walk(node) if inner is not loop.target)


def _bare(source: Source, node: ast.expr) -> str:
    """The text of an expression without spaces."""
    return "".join(source.of(node).split())


def _probe(source: Source, cuts: list[ast.Call]) -> Rewritten:
    """The text that raises where a call gives several chunks, or positions."""
    texts = [f"({own} if len({own}) < 2 else {RAISES})" for own in map(source.of, cuts)]
    return source.replace([source.put(*pair) for pair in zip(cuts, texts, strict=True)])

"""`x[0, i]` with a tensor of one number as an index, as `x[:, i.reshape(1)].select(1, 0)[0]`.

Python asks such a tensor for its number, which is unknown while tracing; an index of one element is
an op.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from export_engine.fixes.code.calls.number_index import is_plain
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def indexed_by_tensors(text: str, line: int, *, everywhere: bool = False) -> Rewritten:
    """The text with what indexes at a line as tensors of one element each.

    Args:
        text: of the file.
        line: of the index.
        everywhere: in all that is read there, not only in the first that has such an index.

    Raises:
        Unclear: nothing there is read by an index that is computed, beside plain ones.
    """
    source = Source(text, line)
    known = counters(source.function)
    pieces: list[Piece] = []
    for node in ast.walk(source.function):  # outer ones come first
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        start, end = source.start(node), source.end(node)
        if not spans(node, line) or any(each.start <= start < each.end for each in pieces):
            continue
        entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        plain = [is_plain(each) or ast.unparse(each) in known for each in entries]
        if all(plain) or any(map(_is_no_number, entries)):
            continue
        made = source.of(node.value) + "".join(_steps(source, entries, plain))
        pieces.append(Piece(start, end, made))
        if not everywhere:
            break
    if not pieces:
        raise Unclear("nothing is read there by an index that is computed")
    return source.changed(pieces)


def indexed_by_list(text: str, line: int, *, how: str = "tensor") -> Rewritten:
    """The text with a list of numbers, `x[steps]`, that indexes at a line as a tensor of them.

    Args:
        text: of the file.
        line: of the index.
        how: torch's function that makes the tensor: `stack`, where tensors of a number are listed.

    Raises:
        Unclear: nothing there is indexed by a list.
    """
    source = Source(text, line)
    lists = {
        target.id
        for node in ast.walk(source.function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.ListComp)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    pieces = [
        Piece(source.start(each), source.end(each), f"{source.torch}.{how}({source.of(each)})")
        for node in ast.walk(source.function)
        if isinstance(node, ast.Subscript) and spans(node, line)
        for each in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
        if isinstance(each, ast.List | ast.ListComp)
        or (isinstance(each, ast.Name) and each.id in lists)
    ]
    if not pieces:
        raise Unclear("nothing is indexed by a list there")
    return source.changed(pieces)


def _steps(source: Source, entries: Sequence[ast.expr], plain: Sequence[bool]) -> Iterator[str]:
    """The subscripts that one with several indices is, one after the other from the left."""
    before = 0
    for is_run, group in groupby(zip(plain, entries, strict=True), key=itemgetter(0)):
        run = [each for _, each in group]
        if is_run:
            yield f"[{':, ' * before}{', '.join(map(source.of, run))}]"
            before += sum(isinstance(each, ast.Slice) for each in run)
            continue
        for each in run:
            index = f"({source.of(each)})" if isinstance(each, ast.BinOp) else source.of(each)
            index += ".reshape(1)"  # a number has none: then the error says that it is one
            yield f"[{':, ' * before}{index}].select({before}, 0)"


def _is_no_number(entry: ast.expr) -> bool:
    """Whether an index is a mask, or of one element already."""
    mask = isinstance(entry, ast.UnaryOp) and isinstance(entry.op, ast.Invert | ast.Not)
    reshaped = isinstance(entry, ast.Call) and ast.unparse(entry).endswith(".reshape(1)")
    return mask or reshaped or isinstance(entry, ast.Compare | ast.BoolOp)


def counters(function: ast.AST) -> set[str]:
    """The variables of loops over a `range`, and those that `enumerate` counts: plain numbers."""
    found: set[str] = set()
    for each in ast.walk(function):
        called = each.iter if isinstance(each, ast.For | ast.comprehension) else None
        if not isinstance(called, ast.Call):
            continue
        assert isinstance(each, ast.For | ast.comprehension)
        if ast.unparse(called.func) == "range":
            found.add(ast.unparse(each.target))
        elif ast.unparse(called.func) == "enumerate" and isinstance(each.target, ast.Tuple):
            found.add(ast.unparse(each.target.elts[0]))
    return found

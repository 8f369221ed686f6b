"""Writes by indices from data: `out[b, at] = v` as a write to what `select` takes of `out`.

An index that is a tensor of one number is read by Python where it is written to; `.item()` reads
it as a number of the program, which `select` and slices take.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.calls.number_index import is_plain
from export_engine.fixes.code.calls.tensor_index import counters
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans


def written_by_number(text: str, line: int) -> Rewritten:
    """The text with the tensors that index what a line writes to as numbers of the program.

    Raises:
        Unclear: nothing is written there by an index, or a bound, that is computed.
    """
    source = Source(text, line)
    function = next(  # the outermost: branches of torch.cond are functions in it
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and spans(node, line)
    )
    known = counters(function)
    targets = [
        target
        for statement in ast.walk(function)
        if isinstance(statement, ast.Assign | ast.AugAssign)
        for target in (
            statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        )
    ]
    here = {source.of(each) for each in targets if spans(each, line)}
    alike = [each for each in targets if source.of(each) in here]  # in another branch, too
    made = [piece for each in alike for piece in _written(source, each, known)]
    if made:
        return source.changed(made)
    raise Unclear("nothing is written there by an index that is computed")


def _written(source: Source, target: ast.expr, known: set[str]) -> list[Piece]:
    """The pieces of what a target writes to; none where all of its indices are plain."""
    if not isinstance(target, ast.Subscript):
        return []
    entries = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    selected: list[tuple[int, str]] = []
    kept, whole = list[str](), True
    for dim, each in enumerate(entries):
        if isinstance(each, ast.Constant) and each.value is Ellipsis:
            whole = False
            kept.append("...")
        elif isinstance(each, ast.Slice):
            kept.append(_slice(source, each, known))
        elif is_plain(each) or ast.unparse(each) in known:
            kept.append(source.of(each))
        elif not whole:
            raise Unclear("which dim is meant is counted from the last")
        else:
            selected.append((dim, _number(source, each)))
    made = source.of(target.value)
    made += "".join(f".select({dim}, {number})" for dim, number in reversed(selected))
    made += f"[{', '.join(kept) or '...'}]"
    if made == source.of(target):
        return []
    return [Piece(source.start(target), source.end(target), made)]


def _slice(source: Source, node: ast.Slice, known: set[str]) -> str:
    """A slice with the bounds that are computed as numbers."""
    if node.step is not None:
        return source.of(node)
    bounds = [
        "" if each is None else source.of(each) if _is_known(each, known) else _number(source, each)
        for each in (node.lower, node.upper)
    ]
    return " : ".join(bounds).strip() if all(bounds) else ":".join(bounds)


def _is_known(node: ast.expr, known: set[str]) -> bool:
    """Whether a bound is a plain number: written out, counted, or a size."""
    if isinstance(node, ast.BinOp):
        return _is_known(node.left, known) and _is_known(node.right, known)
    if isinstance(node, ast.UnaryOp):
        return _is_known(node.operand, known)
    text = ast.unparse(node)
    sized = ".shape[" in text or ".size(" in text or text.startswith("len(")
    return isinstance(node, ast.Constant) or text in known or sized


def _number(source: Source, node: ast.expr) -> str:
    text = source.of(node)
    if text.endswith(".item()"):
        return text
    whole = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return f"{text}.item()" if whole else f"({text}).item()"

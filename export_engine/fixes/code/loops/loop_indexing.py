"""Uses of a loop's number as an index: `x[:, t]` read, `out[:, t] = y` written."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import NamedTuple

from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Source
from export_engine.fixes.code.loops.loop_parts import Range


class Indexed(NamedTuple):
    """A subscript with a loop's number in it."""

    dim: int
    """That the number indexes, from the end where an ellipsis stands before it."""
    kept: int
    """The same among the dims of the result, as where the number's dim is put back."""
    offset: int
    wide: bool
    """Whether it is a slice of width 1, `t:t + 1`."""
    rest: str
    """The index of what is left of the tensor; empty where that is all of it."""
    before: str
    after: str
    """The entries before and after the number, as text with commas."""


def indexed(source: Source, node: ast.Subscript, index: str) -> Indexed | None:
    """How a loop's number indexes; None where it does not stand in the subscript.

    Raises:
        Unclear: it stands there in a way that no scan has.
    """
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    uses = [n for n, each in enumerate(entries) if _uses(each, index)]
    if not uses:
        return None
    if len(uses) > 1:
        raise Unclear(f"`{source.of(node)}` has the loop's number twice")
    place = uses[0]
    found = _offset(entries[place], index)
    if found is None:
        raise Unclear(f"`{source.of(node)}` depends on the loop's number in another way")
    offset, wide = found
    before, after = entries[:place], entries[place + 1 :]
    ellipsis = any(_is_ellipsis(each) for each in before)
    whole = all(_is_whole(each) or _is_ellipsis(each) for each in [*before, *after])
    texts = [source.of(each) for each in before], [source.of(each) for each in after]
    return Indexed(
        -1 - _indexed(after) if ellipsis else _indexed(before),
        -1 - _kept(after) if ellipsis else _kept(before),
        offset,
        wide,
        "" if whole else ", ".join([*texts[0], *texts[1]]),
        "".join(f"{each}, " for each in texts[0]),
        "".join(f", {each}" for each in texts[1]),
    )


def elements(tensor: str, found: Indexed, count: Range, full: bool) -> str:
    """The tensor whose first dim has what a subscript reads in each iteration.

    Args:
        tensor: that is read, as an expression.
        found: the subscript.
        count: the loop's numbers.
        full: whether they are all indices of the dim.

    Raises:
        Unclear: an index may be negative, which counts from the end.
    """
    first = count.first
    if first is None or first + found.offset < 0:
        raise Unclear(f"`{tensor}` is read before its first element")
    start = first + found.offset
    if not full or first or start:
        tensor = f"{tensor}.narrow({found.dim}, {start}, {count.length})"
    moved = tensor if found.dim == 0 else f"{tensor}.movedim({found.dim}, 0)"
    return f"{moved}.flip(0)" if count.reverse else moved


def is_full(source: Source, tensor: str, dim: int, stop: str) -> bool:
    """Whether a length is written as the size of a tensor's dim."""
    sizes = {f"{tensor}.size({dim})", f"{tensor}.shape[{dim}]"}
    if dim == 0:
        sizes.add(f"len({tensor})")
    if stop in sizes:
        return True
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], source.of(node.value)
        if isinstance(target, ast.Name) and target.id == stop and value in sizes:
            return True
        if isinstance(target, ast.Tuple) and value in (f"{tensor}.shape", f"{tensor}.size()"):
            names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
            if dim >= 0 and dim < len(names) and names[dim] == stop:
                return True
    return False


def _uses(node: ast.expr, index: str) -> bool:
    """Whether a number is in an entry of a subscript, other than in a mask.

    That is a comparison with it, or a row of its own: `x[m == i]`, `x[m[i]]`, `x[m[i] > 0]`.
    """
    if isinstance(node, ast.Subscript) and not _uses(node.value, index):
        return False
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        sides = {ast.unparse(left): right, ast.unparse(right): left}
        other = sides.get(index)
        if isinstance(other, ast.Subscript | ast.Name) and not _uses(other, index):
            return False
        return _uses(left, index) or _uses(right, index)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _uses(node.operand, index)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        return _uses(node.left, index) or _uses(node.right, index)
    return any(isinstance(each, ast.Name) and each.id == index for each in ast.walk(node))


def _offset(entry: ast.expr, index: str) -> tuple[int, bool] | None:
    """How far an index is from the loop's number, and whether it is a slice of width 1."""
    if isinstance(entry, ast.Slice):
        if entry.lower is None or entry.upper is None or entry.step is not None:
            return None
        low, high = _offset(entry.lower, index), _offset(entry.upper, index)
        wide = low is not None and high is not None and high[0] - low[0] == 1
        return (low[0], True) if wide and low is not None else None
    if isinstance(entry, ast.Name):
        return 0, False
    if isinstance(entry, ast.BinOp) and isinstance(entry.op, ast.Add | ast.Sub):
        left, right = entry.left, entry.right
        if isinstance(entry.op, ast.Add) and isinstance(left, ast.Constant):
            left, right = right, left
        number = right.value if isinstance(right, ast.Constant) else None
        if isinstance(left, ast.Name) and left.id == index and isinstance(number, int):
            return (number if isinstance(entry.op, ast.Add) else -number), False
    return None


def _indexed(entries: list[ast.expr]) -> int:
    """How many dims of the tensor entries index; `None` indexes none."""
    return sum(not _is_none(each) for each in entries)


def _kept(entries: list[ast.expr]) -> int:
    """How many dims of the result entries give."""
    return sum(
        isinstance(each, ast.Slice) or _is_ellipsis(each) or _is_none(each) for each in entries
    )


def _is_none(entry: ast.expr) -> bool:
    return isinstance(entry, ast.Constant) and entry.value is None


def _is_ellipsis(entry: ast.expr) -> bool:
    return isinstance(entry, ast.Constant) and entry.value is Ellipsis


def _is_whole(entry: ast.expr) -> bool:
    return isinstance(entry, ast.Slice) and not (entry.lower or entry.upper or entry.step)


def asked_for_kind(body: Iterable[ast.stmt]) -> set[ast.expr]:
    """Tensors of which only the dtype or the device is read, which no write changes."""
    return {
        node.value
        for each in body
        for node in ast.walk(each)
        if isinstance(node, ast.Attribute) and node.attr in ("dtype", "device")
    }

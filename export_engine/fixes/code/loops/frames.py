"""A loop over windows that a tensor has in steps, `x[:, i : i + win]`, as one over `x.unfold`.

`range(0, n - win + 1, hop)` counts the windows that are whole, as `unfold` does; where a loop
counts in another way, as many of them are taken. A tensor shorter than a window has none, which
`unfold` refuses.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.variables import stored_names
from export_engine.fixes.code.loops.loop_indexing import is_full
from export_engine.fixes.code.loops.loop_parts import with_head_changed


class _Window(NamedTuple):
    """What a subscript takes of a tensor."""

    tensor: str
    dim: int
    hop: str
    """By how much it moves with the loop's number; empty where that is its start."""
    width: str


def with_frames(text: str, line: int) -> str:
    """The text with the loop at a line over a tensor's windows; the text itself for other loops."""
    return with_head_changed(text, line, _pieces)


def _pieces(source: Source, loop: ast.For | ast.comprehension) -> list[Piece]:
    """The head and the reads of a loop over windows; empty for one that is not."""
    made, target = loop.iter, loop.target
    if not isinstance(made, ast.Call) or source.of(made.func) != "range" or made.keywords:
        return []
    if not isinstance(target, ast.Name):
        return []
    named = _starts(source, loop, target.id)
    starts = {target.id: "", **{name: hop for name, (_, hop) in named.items()}}
    reads = [
        (node, found)
        for node in ast.walk(source.function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if isinstance(node.value, ast.Name)
        if (found := _window(node.value.id, node.slice, target.id, starts)) is not None
    ]
    if len({found for _, found in reads}) != 1 or reads[0][1].tensor in stored_names(loop):
        return []
    window = reads[0][1]
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id in starts and isinstance(node.ctx, ast.Load)
    ]
    kept = {window.tensor, *_names(window.hop), *_names(window.width)} & stored_names(loop)
    if kept or len(uses) != 2 * len(reads) + len(named):
        return []
    frames = _frames(source, window, made.args)
    if frames is None:
        return []
    frame = free_name(f"_{window.tensor}_frame", source.names)
    parts = [Piece(source.start(node), source.end(node), frame) for node, _ in reads]
    parts += [Piece(source.start(each), source.end(each), "pass") for each, _ in named.values()]
    parts.append(Piece(source.start(target), source.end(target), frame))
    parts.append(Piece(source.start(made), source.end(made), frames))
    return parts


def _starts(
    source: Source, loop: ast.For | ast.comprehension, index: str
) -> dict[str, tuple[ast.Assign, str]]:
    """Names that a loop gives to where a window starts, `start = i * hop`, with the hop."""
    found = {}
    for each in loop.body if isinstance(loop, ast.For) else []:
        name = each.targets[0] if isinstance(each, ast.Assign) else None
        if not isinstance(each, ast.Assign) or not isinstance(name, ast.Name):
            continue
        hop = _times(each.value, index)
        if hop and assigned(source.function, name.id) is each:
            found[name.id] = each, hop
    return found


def _window(tensor: str, index: ast.expr, count: str, starts: dict[str, str]) -> _Window | None:
    """What `x[:, i : i + win]` takes; None where it takes something else."""
    entries = index.elts if isinstance(index, ast.Tuple) else [index]
    cut = [n for n, each in enumerate(entries) if ast.unparse(each) not in (":", "...")]
    if len(cut) != 1 or not isinstance(entries[cut[0]], ast.Slice):
        return None
    (at,), entry = cut, entries[cut[0]]
    assert isinstance(entry, ast.Slice)
    low, high = entry.lower, entry.upper
    if low is None or not isinstance(high, ast.BinOp) or not isinstance(high.op, ast.Add):
        return None
    hop = starts.get(low.id) if isinstance(low, ast.Name) else _times(low, count)
    ends = {ast.unparse(high.left): high.right, ast.unparse(high.right): high.left}
    width = ends.get(ast.unparse(low))
    if hop is None or width is None or _names(ast.unparse(width)) & {count, *starts}:
        return None
    before = [ast.unparse(each) for each in entries[:at]]
    dim = at - len(entries) if "..." in before else at
    return _Window(tensor, dim, hop, _bracketed(width))


def _times(node: ast.expr, index: str) -> str | None:
    """What an index is multiplied by: `hop` of `i * hop`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    sides = {ast.unparse(node.left): node.right, ast.unparse(node.right): node.left}
    other = sides.get(index)
    simple = isinstance(other, ast.Name | ast.Attribute | ast.Constant)
    return ast.unparse(other) if other is not None and simple else None


def _frames(source: Source, window: _Window, counted: list[ast.expr]) -> str | None:
    """The windows along the first dim of a tensor; None where a range counts others."""
    if len(counted) > 1 and ast.unparse(counted[0]) != "0":
        return None
    stop = counted[min(len(counted) - 1, 1)]
    made = assigned(source.function, stop.id) if isinstance(stop, ast.Name) else None
    step = _bracketed(counted[2]) if len(counted) == 3 else "1"
    tensor, dim, hop, width = window
    if hop and step != "1":
        return None
    size = _size(made.value if made else stop, width, hop)
    whole = size is not None and is_full(source, tensor, dim, size)
    if not hop and not (isinstance(made.value if made else stop, ast.BinOp)):
        return None  # of all starts, the last windows are shorter
    number = source.of(stop)
    if not hop and step != "1":
        number = f"({number} + {step} - 1) // {step}"
    at = dim if dim >= 0 else dim - 1
    frames = f"{tensor}.unfold({dim}, {width}, {hop or step})"
    frames += "" if whole else f".narrow({at}, 0, {number})"
    if dim == -1:
        return f"{frames}.movedim(-2, 0)"
    return f"{frames}.movedim(({at}, -1), (0, {dim + 1 if dim >= 0 else dim}))"


def _size(stop: ast.expr, width: str, hop: str) -> str | None:
    """The size of which a range's end counts the windows; None where it is written otherwise."""
    for part in ast.walk(stop):
        if not isinstance(part, ast.expr):
            continue
        size = ast.unparse(part)
        rest = f"({size} - {width}) // {hop}"
        forms = [f"{rest} + 1", f"1 + {rest}"]
        if not hop:
            forms = [f"{size} - {width} + 1", f"{size} - ({width} - 1)"]
        if not hop and width.isdigit():
            forms.append(f"{size} - {int(width) - 1}")
        if ast.unparse(stop) in {ast.unparse(ast.parse(each, mode="eval")) for each in forms}:
            return size
    return None


def _bracketed(node: ast.expr) -> str:
    text = ast.unparse(node)
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.Subscript | ast.Call)
    return text if simple else f"({text})"


def _names(text: str) -> set[str]:
    tree = ast.parse(text or "0", mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

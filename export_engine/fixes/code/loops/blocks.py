"""A loop over `x[:, i : i + k]` in steps of k as one over `x.split(k, 1)`.

They differ for a size of 0 alone, of which `split` gives one empty piece and the loop none.
"""

from __future__ import annotations

import ast

from export_engine.fixes.code.editing.comprehensions import free_name
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.variables import stored_names
from export_engine.fixes.code.loops.loop_indexing import is_full
from export_engine.fixes.code.loops.loop_parts import with_head_changed


def with_blocks(text: str, line: int) -> str:
    """The text with the loop at a line over a tensor's pieces; the text itself for other loops."""
    return with_head_changed(text, line, _pieces)


def _pieces(source: Source, loop: ast.For | ast.comprehension) -> list[Piece]:
    """The head and the reads of a loop over blocks; empty for one that is not."""
    made, target = loop.iter, loop.target
    if not isinstance(made, ast.Call) or source.of(made.func) != "range" or len(made.args) != 3:
        return []
    first, stop, step = map(source.of, made.args)
    if first != "0" or not isinstance(target, ast.Name):
        return []
    uses = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == target.id and node is not target
    ]
    reads = [
        (node, dim)
        for node in ast.walk(source.function)
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
        if (dim := _block_dim(source, node, target.id, step)) is not None
    ]
    tensors = {(source.of(node.value), dim) for node, dim in reads}
    if len(tensors) != 1 or len(uses) != 2 * len(reads):
        return []
    ((tensor, dim),) = tensors
    root = reads[0][0].value
    kept = isinstance(root, ast.Name) and tensor not in stored_names(loop)
    if not kept or not is_full(source, tensor, dim, stop):
        return []
    block = free_name(f"_{tensor}_block", source.names)
    parts = [Piece(source.start(node), source.end(node), block) for node, _ in reads]
    parts.append(Piece(source.start(target), source.end(target), block))
    parts.append(Piece(source.start(made), source.end(made), f"{tensor}.split({step}, {dim})"))
    return parts


def _block_dim(source: Source, node: ast.Subscript, index: str, step: str) -> int | None:
    """The dim of which `x[:, i : i + k]` takes a block; None where it takes something else."""
    entries = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for dim, entry in enumerate(entries):
        if not isinstance(entry, ast.Slice) or entry.step is not None:
            return None
        if entry.lower is None and entry.upper is None:
            continue
        low = source.of(entry.lower) if entry.lower is not None else ""
        high = source.of(entry.upper).replace(" ", "") if entry.upper is not None else ""
        rest = entries[dim + 1 :]
        whole = all(isinstance(each, ast.Slice) and ast.unparse(each) == ":" for each in rest)
        return (
            dim if low == index and high == f"{index}+{step}".replace(" ", "") and whole else None
        )
    return None

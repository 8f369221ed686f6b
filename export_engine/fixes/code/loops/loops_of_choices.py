"""A loop whose iterations each choose a value by data: torch.where in one of them.

The loop is then torch.vmap of an iteration, or a scan where one needs what another has left.
"""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

import torch

from export_engine.attempt import Attempt, Exported
from export_engine.fixes.code.branches.branch_appends import append_apart
from export_engine.fixes.code.branches.select_after import kept_where
from export_engine.fixes.code.branches.select_to_where import nodes_within, selected, selects_alike
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Source, spans
from export_engine.fixes.code.loops.loop_continues import else_for_continue
from export_engine.fixes.code.loops.loop_forms import scannable
from export_engine.fixes.code.loops.loop_to_scan import as_scan
from export_engine.fixes.code.loops.loop_to_vmap import as_vmap


def selected_at_once(text: str, line: int) -> Rewritten:
    """The text with the choice at a line as torch.where, and the loop around it run at once.

    Raises:
        Unclear: it is in no loop, or one of the two cannot be rewritten.
    """
    with suppress(Unclear):  # it appends nothing
        text = append_apart(text, line).text
    made = selected(text, line).text
    return as_vmap(*scannable(made, _loop_around(made, line)))


def kept_in_scan(text: str, line: int, *, unrolled: bool = False) -> Rewritten:
    """The text with what the `if` at a line binds by torch.where, and the loop around it a scan.

    Args:
        text: of the file.
        line: of the test.
        unrolled: whether the first iteration stands before the scan.

    Raises:
        Unclear: it is in no loop, or one of the two cannot be rewritten.
    """
    with suppress(Unclear):  # it does not continue the loop
        text = else_for_continue(text, line).text
    try:
        made = kept_where(text, line).text
    except Unclear:
        made = selected(text, line).text
    form = scannable(made, _loop_around(made, line))
    return as_scan(form.text, form.line, unrolled=unrolled)


def scans_symbols(found: Attempt, edited_file: str) -> bool:
    """Whether a program selects as Python does, and scans a dim whose size is symbolic.

    A loop of a fixed length needs no scan, which not every backend has. A number that torch.where
    selects would be a number in eager, and no tensor.
    """
    if not isinstance(found, Exported) or not selects_alike(found, edited_file, within=True):
        return False
    nodes = list(nodes_within(found.program.graph_module))
    numbers = any(str(node.target).startswith("aten.where.Scalar") for node in nodes)
    scans = [node for node in nodes if getattr(node.target, "__name__", "") == "scan"]
    return not numbers and any(len(each.args) > 2 and _is_symbolic(each.args[2]) for each in scans)


def _is_symbolic(scanned: Any) -> bool:
    """Whether tensors have a first dim whose size is symbolic."""
    values = [each.meta.get("val") for each in scanned if isinstance(each, torch.fx.Node)]
    return any(
        isinstance(each, torch.Tensor) and each.dim() and isinstance(each.shape[0], torch.SymInt)
        for each in values
    )


def _loop_around(text: str, line: int) -> int:
    """The line of the innermost loop around a line."""
    loops = [
        node.lineno
        for node in ast.walk(Source(text, line).function)
        if isinstance(node, ast.For) and spans(node, line) and node.lineno < line
    ]
    if not loops:
        raise Unclear("the choice is in no loop")
    return max(loops)

"""A loop whose iterations each choose a value by data: torch.where in torch.vmap of one of them."""

from __future__ import annotations

import ast
from contextlib import suppress

from export_engine.fixes.code.branch_appends import append_apart
from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.loop_forms import scannable
from export_engine.fixes.code.loop_to_vmap import as_vmap
from export_engine.fixes.code.rewrite import Rewritten
from export_engine.fixes.code.select_to_where import selected
from export_engine.fixes.code.text_edits import Source, spans


def selected_at_once(text: str, line: int) -> Rewritten:
    """The text with the choice at a line as torch.where, and the loop around it run at once.

    Raises:
        Unclear: it is in no loop, or one of the two cannot be rewritten.
    """
    with suppress(Unclear):  # it appends nothing
        text = append_apart(text, line).text
    made = selected(text, line).text
    loops = [
        node.lineno
        for node in ast.walk(Source(made, line).function)
        if isinstance(node, ast.For) and spans(node, line) and node.lineno < line
    ]
    if not loops:
        raise Unclear("the choice is in no loop")
    return as_vmap(*scannable(made, max(loops)))

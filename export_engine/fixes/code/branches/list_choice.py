"""A tensor that data choose from a list, `chunks[i]`, as an index of the stacked list.

The list has to hold tensors of one shape and dtype, which the program is checked for: `torch.stack`
takes no others, or converts them.
"""

from __future__ import annotations

import ast

import torch

from export_engine.attempt import Attempt, Exported
from export_engine.fixes.code.branches.module_choice import chosen_element, is_choice
from export_engine.fixes.code.calls.tensor_index import counters
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans

_SPLITS = frozenset(
    {"chunk", "split", "unbind", "tensor_split", "list", "tuple", "hsplit", "vsplit"}
)
"""Functions that return a list or a tuple."""


def in_a_stack(text: str, line: int) -> Rewritten:
    """The text with the element that is chosen at a line taken from the stacked list.

    Raises:
        Unclear: no element is chosen there of what is known to be a list.
    """
    source = Source(text, line)
    known = counters(source.function)
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        if not spans(node, line) or not is_choice(node) or ast.unparse(node.slice) in known:
            continue
        if not isinstance(node.value, ast.Name) or not _is_list(source, node.value.id):
            continue
        stack = f"{source.torch}.stack(tuple({node.value.id}))"
        made = f"{stack}{chosen_element(source, node.slice)}"
        return source.changed([Piece(source.start(node), source.end(node), made)])
    raise Unclear("no element of a list is chosen at that line")


def stacks_alike(found: Attempt, edited_file: str) -> bool:
    """Whether every stack of a program is of tensors of its own dtype.

    Of an export that failed that is not known.
    """
    if not isinstance(found, Exported):
        return False
    for node in found.program.graph.nodes:
        if not str(node.target).startswith("aten.stack."):
            continue
        stacked = [each.meta.get("val") for each in node.args[0]]
        dtypes = {each.dtype for each in stacked if isinstance(each, torch.Tensor)}
        if dtypes != {node.meta["val"].dtype}:
            return False
    return True


def _is_list(source: Source, name: str) -> bool:
    """Whether all that a function binds a name to are lists, or tuples."""
    values = [
        node.value
        for node in ast.walk(source.function)
        if isinstance(node, ast.Assign)
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    bound = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
    ]
    return bool(values) and len(bound) == len(values) and all(map(_makes_a_list, values))


def _makes_a_list(value: ast.expr) -> bool:
    if isinstance(value, ast.List | ast.ListComp | ast.Tuple):
        return True
    called = value.func if isinstance(value, ast.Call) else None
    return getattr(called, "attr", getattr(called, "id", "")) in _SPLITS

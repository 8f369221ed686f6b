"""Effects of contexts around an export on the program, compared with one without them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import torch

from export_engine.attempt import Attempt, Exported, Failed
from export_engine.error_text import error_text
from export_engine.torch_internals import pytree
from export_engine.trace import ContextEffect


def find_context_effect(
    program: torch.export.ExportedProgram, other: Attempt
) -> ContextEffect | None:
    """The first difference between a program and the same call, exported without the contexts.

    Args:
        program: exported with them.
        other: the attempt without them.
    """
    if isinstance(other, Failed):
        return ContextEffect("", f"without it the export fails: {error_text(other.error)}")
    assert isinstance(other, Exported)
    for mine, theirs in zip_longest(_nodes(program), _nodes(other.program)):
        if mine is None or theirs is None:
            extra, where = (theirs, "without it") if mine is None else (mine, "with it")
            return ContextEffect(extra.name, f"`{extra.name}` exists only {where}")
        text = _difference(mine, theirs)
        if text:
            return ContextEffect(mine.name, f"`{mine.name}` {text}")
    return None


def _nodes(program: torch.export.ExportedProgram) -> Iterator[torch.fx.Node]:
    for module in program.graph_module.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from module.graph.nodes


def _difference(mine: torch.fx.Node, theirs: torch.fx.Node) -> str:
    """How two nodes differ, as a phrase about the first; empty if they do not."""
    if (mine.op, str(mine.target)) != (theirs.op, str(theirs.target)):
        return f"is {mine.target} with it, and {theirs.target} without"
    for one, other in zip(_tensors(mine), _tensors(theirs), strict=False):
        if one.dtype != other.dtype:
            dtypes = [str(value.dtype).removeprefix("torch.") for value in (one, other)]
            return f"is {dtypes[0]} with it, and {dtypes[1]} without"
        if one.device != other.device:
            return f"is on {one.device} with it, and on {other.device} without"
    if (str(mine.args), str(mine.kwargs)) != (str(theirs.args), str(theirs.kwargs)):
        return "has different arguments without it"
    return ""


def _tensors(node: torch.fx.Node) -> list[Any]:
    values = pytree.tree_leaves(node.meta.get("val"))
    return [value for value in values if isinstance(value, torch.Tensor)]

"""Buffers and parameters that are one tensor under several names, and that a program writes to.

torch keeps each name as an input of its own, and cannot decompose a program that writes to one of
them (AOTAutograd makes one of both, which `run_decompositions` does not expect, as of torch 2.13).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import torch
from torch.export.graph_signature import InputKind

from export_engine.torch_internals import is_fake, op_schema

_HELD = (InputKind.BUFFER, InputKind.PARAMETER, InputKind.CONSTANT_TENSOR)


class WrittenAlias(NamedTuple):
    """Two names of one memory, and the op that writes to it."""

    one: str
    other: str
    same: bool
    """Whether both are all of it; else they overlap."""
    node: torch.fx.Node

    @property
    def sentence(self) -> str:
        """The two names, and that the program writes to what they share."""
        if self.same:
            both = f"`{self.one}` and `{self.other}` are the same tensor"
            return f"{both}, and the program writes to it."
        return f"`{self.one}` and `{self.other}` overlap in memory, and the program writes to it."


def find_written_aliases(program: torch.export.ExportedProgram) -> Iterator[WrittenAlias]:
    """Pairs of a program's own tensors that share memory, of which an op writes to one."""
    held = {}
    tensors = {**program.state_dict, **program.constants}
    by_storage: defaultdict[int, list[str]] = defaultdict(list)
    for spec in program.graph_signature.input_specs:
        value = tensors.get(spec.target or "")
        if spec.kind in _HELD and isinstance(value, torch.Tensor) and not is_fake(value):
            held[spec.arg.name] = str(spec.target), value
            if _has_extent(value):
                by_storage[value.untyped_storage().data_ptr()].append(spec.arg.name)
    pairs = [
        (one, other)
        for names in by_storage.values()
        for one, other in combinations(names, 2)
        if share_memory(held[one][1], held[other][1])
    ]
    writes = _writes(program) if pairs else {}
    for one, other in pairs:
        node = writes.get(one) or writes.get(other)
        if node is not None:
            (first, value), (second, beside) = held[one], held[other]
            yield WrittenAlias(first, second, _extent(value) == _extent(beside), node)


def share_memory(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether the bytes between the first and the last element of two tensors overlap."""
    if one.device != other.device or not _has_extent(one) or not _has_extent(other):
        return False
    if one.untyped_storage().data_ptr() != other.untyped_storage().data_ptr():
        return False
    (start, end), (begin, stop) = _extent(one), _extent(other)
    return start < stop and begin < end


def _has_extent(tensor: torch.Tensor) -> bool:
    """Whether it has elements, and they lie in one piece of memory."""
    return tensor.layout is torch.strided and not tensor.is_meta and tensor.numel() > 0


def _extent(tensor: torch.Tensor) -> tuple[int, int]:
    steps = zip(tensor.stride(), tensor.shape, strict=True)
    last = sum(int(step) * (int(size) - 1) for step, size in steps)
    start = int(tensor.storage_offset()) * tensor.element_size()
    return start, start + (last + 1) * tensor.element_size()


def _writes(program: torch.export.ExportedProgram) -> dict[str, torch.fx.Node]:
    """Per input that an op writes to, itself or through a view, the first such op."""
    base: dict[torch.fx.Node, str] = {}
    nodes: dict[str, torch.fx.Node] = {}
    for node in program.graph.nodes:
        if node.op == "placeholder":
            base[node] = node.name
        schema = op_schema(node.target) if node.op == "call_function" else None
        for argument, value in zip(schema.arguments if schema else (), node.args, strict=False):
            if argument.alias_info is None or value not in base:
                continue
            base[node] = base[value]
            if argument.is_write:
                nodes.setdefault(base[value], node)
    return nodes

"""A program's run of which a backend gave the values: where it gave none, torch computes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import Node

from export_engine.attempt import Exported, Request
from export_engine.record import Record
from export_engine.run import backends, op_values
from export_engine.torch_internals import OpOverload, writes_to_arguments
from export_engine.values.pair_error import RunOf
from export_engine.values.running import running
from export_engine.values.steps import Steps, bytes_of, is_plain

_FEW = 6


def backend_run(
    exported: Exported, record: Record, request: Request, device: str, name: str
) -> RunOf:
    """The program's run by a backend: it is compiled for this, and called once.

    Args:
        exported: whose program.
        record: the same, described.
        request: the call.
        device: where.
        name: the backend's.

    Raises:
        ValueError: it gives no values, cannot run here, or fails.
        MemoryError: the values do not fit into memory.
        StepFailed: the program raises an error.
    """
    space, ops = 0, []
    with running(exported, record, request, device) as run:
        for _, node, value in run.walk():
            if node.op == "call_function" and is_plain(value):
                space += bytes_of(value)
                ops.append(node.name)
    values = op_values(exported, record, request, (name, device), space)
    title = backends()[name].title
    kind, left_out = with_values(values), _left_out(ops, values, title)
    return RunOf(title, exported, record, request, device, kind, left_out)


def with_values(values: Mapping[str, torch.Tensor]) -> type[Steps]:
    """An interpreter that takes the values of some ops of the main graph from elsewhere.

    Args:
        values: by the node's name.
    """

    class WithValues(Steps):
        known = frozenset(values)

        def run_node(self, n: Node) -> Any:
            tensor = None if self.number else values.get(n.name)
            if tensor is None:
                return super().run_node(n)
            if isinstance(n.target, OpOverload) and writes_to_arguments(n.target):
                super().run_node(n)  # what it writes to is read by others
            return tensor

    return WithValues


def _left_out(ops: list[str], values: Mapping[str, torch.Tensor], title: str) -> tuple[str, ...]:
    absent = [name for name in ops if name not in values]
    if not absent:
        return ()
    listed = ", ".join(f"`{name}`" for name in absent[:_FEW]) + (", …" if absent[_FEW:] else "")
    return (
        f"{title} computes {len(absent):,} of {len(ops):,} ops as parts of others, so they have "
        f"no values: {listed}. Their errors show at the next op with a value.",
    )

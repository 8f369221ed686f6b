"""Writes into constants of the program: they are lost, or stay there from call to call."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from export_engine.attempt import Exported
from export_engine.findings.finding import Finding, Kind
from export_engine.findings.program_ops import Op, ops_of
from export_engine.record import Record
from export_engine.torch_internals import OpOverload, aliased, written


def found(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per constant that an op writes to."""
    program = exported.program
    constants = {
        spec.arg.name: spec.target or ""
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "CONSTANT_TENSOR"
    }
    told: set[str] = set()
    for op in ops_of(program):
        for constant in inputs_written(op):
            if constant in constants and constant not in told:
                told.add(constant)
                yield _finding(op, constants[constant])


def _finding(op: Op, name: str) -> Finding:
    return Finding(
        kind=Kind.WRITTEN_CONSTANT,
        severity="wrong",
        sentence=f"This writes into a constant of the program, `{name}`.",
        why="Tracing captured the tensor as a constant. The write does not reach what the model "
        "computes with, or it is still there at the next call. Write to a tensor that "
        "`forward` creates or receives, without `.data`, or register it as a buffer.",
        stack=op.stack,
        node=op.position,
    )


def inputs_written(op: Op) -> Iterator[str]:
    """Names of the placeholders that an op writes to, itself or through views of them."""
    if not isinstance(op.node.target, OpOverload):
        return
    for name in written(op.node.target):
        value = op.argument(name)
        if isinstance(value, torch.fx.Node):
            root = _root(value)
            if root.op == "placeholder":
                yield root.name


def _root(node: torch.fx.Node) -> torch.fx.Node:
    """The tensor whose memory a view shows."""
    while node.op == "call_function" and isinstance(node.target, OpOverload):
        names = aliased(node.target)
        value = Op(node, -1).argument(names[0]) if names else None
        if not isinstance(value, torch.fx.Node):
            break
        node = value
    return node

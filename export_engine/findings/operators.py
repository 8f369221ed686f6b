"""Ops worth a word: random numbers, waiting for the device, checks at run time, odd predicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from export_engine.attempt import Exported
from export_engine.findings.finding import Finding, Kind
from export_engine.findings.program_ops import Op, ops_of
from export_engine.record import Record
from export_engine.torch_internals import expression_of

_ASSERTS = ("aten._assert_async", "aten._assert_scalar")
_BRANCHING = "cond"


def found(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per kind, at its first place."""
    ops = list(ops_of(exported.program))
    yield from _summed([op for op in ops if _is_random(op)], _random)
    yield from _summed([op for op in ops if _waits(op)], _waiting)
    yield from _summed([op for op in ops if _asserts_data(op)], _checks)
    yield from (_predicate(op) for op in ops if _has_wide_predicate(op))


def _summed(ops: list[Op], make: Any) -> Iterator[Finding]:
    if ops:
        yield make(ops)


def _is_random(op: Op) -> bool:
    """Whether an op draws numbers: those that torch tags so, but for dropouts that drop nothing."""
    tags = getattr(op.node.target, "tags", ())
    if torch.Tag.nondeterministic_seeded not in tags:
        return False
    if "dropout" in op.name or "rrelu" in op.name:
        return bool(op.argument("train", op.argument("training", True)))
    if "scaled_dot_product" in op.name:
        return bool(op.argument("dropout_p", 0.0))
    return True


def _random(ops: list[Op]) -> Finding:
    names = ", ".join(dict.fromkeys(f"`{op.name}`" for op in ops))
    return Finding(
        kind=Kind.RANDOM,
        severity="note",
        sentence=f"The program draws random numbers: {names}.",
        why="Two calls give different outputs, and other backends draw different numbers from "
        "the same seed.",
        stack=ops[0].stack,
        node=ops[0].position,
    )


def _waits(op: Op) -> bool:
    """Whether what an op gives depends on values so that the host has to know them."""
    tags = getattr(op.node.target, "tags", ())
    if op.name.startswith("aten.index.") and not _by_mask(op):
        return False
    return torch.Tag.data_dependent_output in tags or torch.Tag.dynamic_output_shape in tags


def _by_mask(op: Op) -> bool:
    """Whether an index picks by truth values; one by positions has a size known before."""
    indices = op.argument("indices") or ()
    values = [getattr(each, "meta", {}).get("val") for each in indices]
    masks = (torch.bool, torch.uint8)
    return any(isinstance(each, torch.Tensor) and each.dtype in masks for each in values)


def _waiting(ops: list[Op]) -> Finding:
    names = ", ".join(dict.fromkeys(f"`{op.name}`" for op in ops))
    return Finding(
        kind=Kind.SYNCHRONISES,
        severity="note",
        sentence=f"The host waits for the device at {len(ops)} "
        f"{'op' if len(ops) == 1 else 'ops'}: {names}.",
        why="Its output, or its size, depends on tensor values. On a GPU the host blocks until "
        "they are computed, and some backends do not support such ops.",
        stack=ops[0].stack,
        node=ops[0].position,
    )


def _asserts_data(op: Op) -> bool:
    """An assert about values; those about sizes of inputs belong to the contract."""
    if op.name.startswith("aten._assert_async"):
        return True
    if not op.name.startswith("aten._assert_scalar") or not op.node.args:
        return False
    value = getattr(op.node.args[0], "meta", {}).get("val")
    if not isinstance(value, torch.SymBool):
        return False
    return any(str(symbol).startswith("u") for symbol in expression_of(value).free_symbols)


def _checks(ops: list[Op]) -> Finding:
    count = len(ops)
    return Finding(
        kind=Kind.RUNTIME_CHECK,
        severity="note",
        sentence=f"The program has runtime assertions on values: {count} "
        f"{'assert' if count == 1 else 'asserts'}.",
        why="What is unknown while tracing is asserted at run time, and a call that violates it "
        "fails. Some backends drop such assertions.",
        stack=_placed(ops).stack,
        node=ops[0].position,
    )


def _placed(ops: list[Op]) -> Op:
    return next((op for op in ops if op.stack), ops[0])


def _has_wide_predicate(op: Op) -> bool:
    if str(getattr(op.node.target, "name", lambda: "")()) != _BRANCHING or not op.node.args:
        return False
    value = getattr(op.node.args[0], "meta", {}).get("val")
    return isinstance(value, torch.Tensor) and value.numel() != 1


def _predicate(op: Op) -> Finding:
    return Finding(
        kind=Kind.PREDICATE,
        severity="wrong",
        sentence="The predicate of this `torch.cond` has several elements.",
        why="torch.cond takes a one-element predicate. Strict mode accepts this one, and the "
        "program fails when called.",
        stack=op.stack,
        node=op.position,
    )

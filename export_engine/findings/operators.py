"""Notable ops: random numbers, device synchronization, runtime assertions, odd predicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import Op, calls
from export_engine.record import Record, Target, ValueType

if TYPE_CHECKING:
    from export_engine.attempt import Exported

_ASSERT_DATA, _ASSERT_SIZE = "aten._assert_async", "aten._assert_scalar"
_COND = "higher_order.cond"
_WAITING = frozenset({"data_dependent_output", "dynamic_output_shape"})


def check_operators(record: Record, _: Exported | None) -> Iterator[Finding]:
    """One finding per kind, at its first place."""
    drawn = random_ops(record)
    if drawn:
        yield _random(drawn)
    yield from _summarize(calls(record, _may_wait), _waits, _waiting)
    unbacked = _Unbacked(record)
    yield from _summarize(calls(record, _is_assert), unbacked.is_asserted, _checks)
    yield from map(_predicate, filter(_has_wide_predicate, calls(record, _is_cond)))


def random_ops(record: Record) -> list[Op]:
    """The ops of a program that draw random numbers."""
    return [op for op in calls(record, _may_draw) if _draws(op)]


def _summarize(
    ops: list[Op], wanted: Callable[[Op], bool], make: Callable[[list[Op]], Finding]
) -> Iterator[Finding]:
    kept = [op for op in ops if wanted(op)]
    if kept:
        yield make(kept)


def _may_draw(target: Target) -> bool:
    return "nondeterministic_seeded" in target.tags


def _draws(op: Op) -> bool:
    """Whether an op draws numbers: dropout, alone or in a recurrent layer, may drop nothing."""
    flags = (op.argument(name) for name in ("train", "training"))
    if any(flag in ("False", "0") for flag in flags):
        return False
    if "rnn" in op.name or op.name.startswith(("aten.lstm", "aten.gru")):
        return op.argument("num_layers") != "1" and op.argument("dropout") not in _NONE
    if "dropout" in op.name:
        return op.argument("p") not in _NONE
    return "scaled_dot_product" not in op.name or op.argument("dropout_p") not in (None, *_NONE)


_NONE = ("0.", "0.0", "0")
"""Probabilities of an op that drops nothing."""


def _random(ops: list[Op]) -> Finding:
    names = ", ".join(dict.fromkeys(f"`{op.name}`" for op in ops))
    return Finding(
        kind=Kind.RANDOM,
        severity="note",
        sentence=rules.Random.SENTENCE(names=names),
        why=rules.Random.WHY(),
        stack=ops[0].stack,
        node=ops[0].position,
    )


def _may_wait(target: Target) -> bool:
    return not _WAITING.isdisjoint(target.tags)


def _waits(op: Op) -> bool:
    """Whether an op's result depends on values that the host must wait for."""
    return not op.name.startswith("aten.index.") or _by_mask(op)


def _by_mask(op: Op) -> bool:
    """Whether an index is a boolean mask; an integer index has a known output size."""
    return any(op.type_of(node).dtype in ("bool", "uint8") for node in op.reads("indices"))


def _waiting(ops: list[Op]) -> Finding:
    names = ", ".join(dict.fromkeys(f"`{op.name}`" for op in ops))
    return Finding(
        kind=Kind.SYNCHRONISES,
        severity="note",
        sentence=rules.Synchronises.SENTENCE(
            count=len(ops), ops="op" if len(ops) == 1 else "ops", names=names
        ),
        why=rules.Synchronises.WHY(),
        stack=ops[0].stack,
        node=ops[0].position,
    )


def _is_assert(target: Target) -> bool:
    return target.name.startswith((_ASSERT_DATA, _ASSERT_SIZE))


class _Unbacked:
    """Which sizes are about tensor values."""

    def __init__(self, record: Record) -> None:
        self._texts = {
            expression.text
            for expression in record.expressions
            if any(record.symbols[number].kind == "unbacked" for number in expression.symbols)
        }

    def is_asserted(self, op: Op) -> bool:
        """Whether an assert is about values; those about sizes of inputs belong to the contract."""
        if op.name.startswith(_ASSERT_DATA):
            return True
        return any(self._about(op.type_of(node)) for node in op.first())

    def _about(self, value: ValueType) -> bool:
        return value.kind == "bool" and value.value in self._texts


def _checks(ops: list[Op]) -> Finding:
    count = len(ops)
    return Finding(
        kind=Kind.RUNTIME_CHECK,
        severity="note",
        sentence=rules.RuntimeCheck.SENTENCE(
            count=count, asserts="assert" if count == 1 else "asserts"
        ),
        why=rules.RuntimeCheck.WHY(),
        stack=next((op.stack for op in ops if op.stack), ()),
        node=ops[0].position,
    )


def _is_cond(target: Target) -> bool:
    return target.name == _COND


def _has_wide_predicate(op: Op) -> bool:
    for node in op.first():
        value_type = op.type_of(node)
        return value_type.kind == "tensor" and any(size != 1 for size in value_type.shape)
    return False


def _predicate(op: Op) -> Finding:
    return Finding(
        kind=Kind.PREDICATE,
        severity="wrong",
        sentence=rules.Predicate.SENTENCE(),
        why=rules.Predicate.WHY(),
        stack=op.stack,
        node=op.position,
    )

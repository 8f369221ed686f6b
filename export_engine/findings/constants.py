"""Tensors that became part of the program, and that the model did not register."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import place_of, readers
from export_engine.record import InputEntry, Record
from export_engine.source import Stack

if TYPE_CHECKING:
    from export_engine.attempt import Exported

_LIFTED = "lift_fresh"
"""The op that lifts a tensor which `forward` makes from plain numbers:

as in eager, a new one per call.
"""


def check_constants(record: Record, exported: Exported | None) -> Iterator[Finding]:
    """One finding per constant."""
    entries = [entry for entry in record.signature.inputs if entry.kind == "constant_tensor"]
    if not entries or not record.graphs:
        return
    graph = record.graphs[0]
    parameters = _parameters(exported) if exported is not None else {}
    users = readers(record, [entry.node for entry in entries if entry.node >= 0])
    for entry in entries:
        reading = users.get(entry.node, [])
        targets = [graph.target[node] for node in reading]
        if reading and all(
            number >= 0 and _LIFTED in record.targets[number].name for number in targets
        ):
            continue
        stack = place_of(record, reading)
        if entry.target in parameters:
            yield _parameter(entry.target, parameters[entry.target], stack)
        else:
            yield _constant(record, entry, stack)


def _parameters(exported: Exported) -> dict[str, str]:
    from export_engine.findings.weights import constant_parameters

    return constant_parameters(exported)


def _constant(record: Record, entry: InputEntry, stack: Stack) -> Finding:
    value_type = record.types[entry.type]
    shape = (
        f" of shape [{', '.join(map(str, value_type.shape))}]"
        if value_type.kind == "tensor"
        else ""
    )
    return Finding(
        kind=Kind.FROZEN_TENSOR,
        severity="note",
        sentence=rules.FrozenTensor.SENTENCE(shape=shape, name=entry.target or entry.name),
        why=rules.FrozenTensor.WHY(),
        stack=stack,
    )


def _parameter(name: str, parameter: str, stack: Stack) -> Finding:
    return Finding(
        kind=Kind.FROZEN_PARAMETER,
        severity="surprising",
        sentence=rules.FrozenParameter.SENTENCE(parameter=parameter, name=name),
        why=rules.FrozenParameter.WHY(),
        stack=stack,
    )

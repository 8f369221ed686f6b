"""Record → Findings: those that need neither the program nor the model. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from export_engine.attempt import Finding, Kind
from export_engine.findings import (
    constants,
    hidden_conditions,
    operators,
    taken_names,
    training_mode,
    unused_inputs,
    writes,
)
from export_engine.findings.analysis import Analysis, analysis_of
from export_engine.record import Record
from export_engine.rules import kinds_of

if TYPE_CHECKING:
    from export_engine.attempt import Exported

RecordProvider = Callable[[Record, "Exported | None"], Iterable[Finding]]
"""It also receives the attempt, if there is one: only then does a finding have a fix."""

RECORD_PROVIDERS: tuple[tuple[RecordProvider, tuple[Kind, ...]], ...] = (
    (writes.check_writes, (Kind.WRITTEN_INPUT, Kind.WRITTEN_CONSTANT)),
    (constants.check_constants, (Kind.FROZEN_TENSOR,)),
    (unused_inputs.check_unused_inputs, (Kind.BAKED_ARGUMENT, Kind.UNUSED_INPUT)),
    (hidden_conditions.check_hidden_conditions, (Kind.HIDDEN_CONDITION,)),
    (training_mode.check_training_mode, (Kind.TRAINING_MODE,)),
    (taken_names.check_taken_names, (Kind.NAME_TAKEN,)),
    (
        operators.check_operators,
        (Kind.RANDOM, Kind.SYNCHRONISES, Kind.RUNTIME_CHECK, Kind.PREDICATE),
    ),
)
OF_THE_CALL = (
    *(Kind.BAKED_VALUE, Kind.OUTSIDE_VALUE, Kind.STATE_CHANGED, Kind.FIXED_SIZE),
    *(Kind.SHARED_INPUT, Kind.OVERLAPPING_INPUTS, Kind.FROZEN_PARAMETER, Kind.TIED_WEIGHTS),
    *(Kind.DEVICE_BAKED, Kind.DTYPE_BAKED, Kind.CAUGHT_ERROR, Kind.CONTEXT),
    *(Kind.ALIASED_BUFFERS, Kind.UNTRACED_BRANCH),
)
"""Kinds that need the model, its source and the exported call."""


def look_at_record(record: Record) -> Analysis:
    """What is wrong or surprising about a program of which there is the Record alone."""
    return analysis_of(
        [
            *((partial(find, record, None), kinds) for find, kinds in RECORD_PROVIDERS),
            (None, OF_THE_CALL),
        ]
    )


def findings_in(record: Record) -> tuple[Finding, ...]:
    """The findings that a Record has, without fixes."""
    from export_engine.findings.record_ops import stack_of

    kinds = {kind.slug: kind for kind in kinds_of("finding")}
    return tuple(
        Finding(
            kind=kinds[row.kind],
            severity=row.severity,
            sentence=row.sentence,
            why=row.why,
            stack=stack_of(record, row.stack),
            node=row.node,
            guard=row.guard,
        )
        for row in record.findings
        if row.kind in kinds
    )

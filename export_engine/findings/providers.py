"""Exported attempt → Findings. One module per family; each reads the program and its Record.

Nothing is run and nothing is exported, so findings are cheap. Those that need no
more than the Record are in `record_providers.py`; here are those that need the model and the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings import (
    aliased_buffers,
    baked_values,
    caught_errors,
    contexts,
    devices,
    outside_values,
    overlapping_inputs,
    shared_inputs,
    side_effects,
    specialized_sizes,
    untraced_branches,
    weights,
)
from export_engine.findings.analysis import Analysis, analysis_of
from export_engine.findings.record_providers import OF_THE_CALL, RECORD_PROVIDERS
from export_engine.record import Record

__all__ = ["find_findings", "look"]

Provider = Callable[[Exported, Record], Iterable[Finding]]

PROVIDERS: tuple[tuple[Provider, tuple[Kind, ...]], ...] = (
    (caught_errors.check_caught_errors, (Kind.CAUGHT_ERROR,)),
    (contexts.check_contexts, (Kind.CONTEXT,)),
    (shared_inputs.check_shared_inputs, (Kind.SHARED_INPUT,)),
    (overlapping_inputs.check_overlapping_inputs, (Kind.OVERLAPPING_INPUTS,)),
    (aliased_buffers.check_aliased_buffers, (Kind.ALIASED_BUFFERS,)),
    (weights.check_weights, (Kind.FROZEN_PARAMETER, Kind.TIED_WEIGHTS)),
    (baked_values.check_baked_values, (Kind.BAKED_VALUE,)),
    (outside_values.check_outside_values, (Kind.OUTSIDE_VALUE,)),
    (side_effects.check_side_effects, (Kind.STATE_CHANGED,)),
    (specialized_sizes.check_specialized_sizes, (Kind.FIXED_SIZE,)),
    (untraced_branches.check_untraced_branches, (Kind.UNTRACED_BRANCH,)),
    (devices.check_devices, (Kind.DEVICE_BAKED, Kind.DTYPE_BAKED)),
)


def look(exported: Exported, record: Record) -> Analysis:
    """What is wrong or surprising about an attempt, and what was not looked for.

    Args:
        exported: an attempt. For a program from a file, the model and the call are not known: only
            the lines that it names are used.
        record: the attempt, described.
    """
    families = [
        *((partial(find, record, exported), kinds) for find, kinds in RECORD_PROVIDERS),
        *((partial(find, exported, record), kinds) for find, kinds in PROVIDERS),
    ]
    return analysis_of([*families, (None, OF_THE_CALL)] if exported.request is None else families)


def find_findings(exported: Exported, record: Record) -> tuple[Finding, ...]:
    """What is wrong or surprising about an attempt, most severe first; see `look`."""
    return look(exported, record).findings

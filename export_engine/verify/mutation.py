"""Mutation of buffers and inputs, over repeated calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any, NamedTuple

import torch

from export_engine import rules
from export_engine.attempt import Request, as_module
from export_engine.defects import log_internal_error
from export_engine.error_text import format_with_type
from export_engine.findings import state_written
from export_engine.listing import join_names
from export_engine.source import user_error
from export_engine.torch_internals import to_strided
from export_engine.traced_sizes import with_leaves
from export_engine.verify.compare_outputs import compare, compare_named
from export_engine.verify.guarantee import Guarantee, verdict_of, without_eager, without_weights
from export_engine.verify.isolated_run import Call, call, call_with_gradients_if_needed
from export_engine.verify.known_causes import find_known_cause
from export_engine.verify.program_under_test import Subject

_CALLS = 3
_Held = Callable[[], dict[str, torch.Tensor]]
"""Reads what a model holds now: a call may put another tensor there."""


def check_state(subject: Subject) -> Guarantee:
    """Calls both several times without restoring in between, and compares after each."""
    if subject.eager is None:
        return without_eager(rules.GuaranteeState)
    if subject.without_values:
        return without_weights(rules.GuaranteeState, subject.without_values)
    held = _held_tensors(subject)
    requests = [_fresh(subject.request, seed) for seed in range(_CALLS)]
    try:
        theirs = call_with_gradients_if_needed(
            lambda grad: _call_repeatedly(subject, subject.eager, requests, held, grad),
            subject.restore,
        )
    except Exception as error:  # noqa: BLE001 - the model raises what it likes
        log_internal_error(error, "calling the model several times")
        sentence = user_error(error)
        sentence = sentence or rules.GuaranteeState.EAGER_FAILS(error=format_with_type(error))
        return Guarantee(rule=rules.GuaranteeState, verdict="not checked", sentence=sentence)
    ours = _call_repeatedly(subject, subject.module, requests, held)
    problems: list[str] = []
    changed: set[str] = set()
    before = _copy_held(held)
    for number, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        problems += _find_problems(number, mine, other)
        changed |= {
            name for name, value in other.held.items() if not _equal(value, before.get(name))
        }
    names = ", ".join(sorted(changed)) or "nothing"
    instead = dict.fromkeys(path for after in theirs for path in after.call.refilled.paths)
    more = rules.GuaranteeState.RETURNED(names=join_names(list(instead))) if instead else ""
    sentence = rules.GuaranteeState.HOLDS(calls=_CALLS, names=names, more=more)
    if problems:
        cause = find_known_cause(subject, subject.request, 0)
        sentence = rules.GuaranteeState.BROKEN(
            call=problems[0].partition(":")[0], calls=_CALLS, cause=f" {cause}" if cause else ""
        )
    return Guarantee(
        rule=rules.GuaranteeState,
        verdict=verdict_of(problems),
        sentence=sentence,
        evidence=tuple(problems),
    )


class _After(NamedTuple):
    """The state after a call."""

    call: Call
    held: dict[str, torch.Tensor]
    """State of the model that a call may write to, by name."""


def _find_problems(number: int, ours: _After, theirs: _After) -> Iterator[str]:
    """How what there is after a call differs.

    Args:
        number: of the call, from 1.
        ours: of the program.
        theirs: of eager.
    """
    for what, difference in (
        ("results", compare(ours.call.result, theirs.call.result, loose=1.0)),
        ("inputs", compare_named(ours.call.inputs, theirs.call.inputs, loose=1.0)),
        ("buffers", compare_named(ours.held, theirs.held, loose=1.0)),
    ):
        if not difference.same:
            yield rules.GuaranteeState.PROBLEM(number=number, what=what, detail=difference.detail)
    if theirs.call.refilled.lost:
        lost = join_names(theirs.call.refilled.lost)
        yield rules.GuaranteeState.LOST(number=number, names=lost)


def _call_repeatedly(
    subject: Subject, called: Any, requests: list[Request], held: _Held, grad: bool = False
) -> list[_After]:
    """Results, inputs and held tensors after each call; then all is put back."""
    afters = []
    try:
        for seed, request in enumerate(requests):
            result = call(called, request, seed, grad)
            afters.append(_After(result, _copy_held(held)))
    finally:
        subject.restore()
    return afters


def _fresh(request: Request, seed: int) -> Request:
    """The example's inputs, other values from the second call on."""
    if seed == 0:
        return request

    def change(path: str, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.is_floating_point() and value.numel():
            return (value.detach() * (1 + seed / 4)).requires_grad_(value.requires_grad)
        return value

    return with_leaves(request, change)


def _held_tensors(subject: Subject) -> _Held:
    """Reads the buffers of the model, and what else the program writes to and shares with it.

    Of a generator it reads the state.
    """
    owner, program = as_module(subject.eager), subject.program
    shared = {**program.state_dict, **program.constants}
    written = [
        (name, read)
        for name in state_written(subject.record)
        for read in [attrgetter(name)]
        if name in shared and _read(read, owner) is shared[name]
    ]

    generators = [
        value for value in program.constants.values() if isinstance(value, torch.Generator)
    ]

    def read_all() -> dict[str, torch.Tensor]:
        more = {name: read(owner) for name, read in written}
        states = {
            f"torch.Generator {number}": generator.get_state()
            for number, generator in enumerate(generators, start=1)
        }
        return {**dict(owner.named_buffers()), **more, **states}

    return read_all


def _read(read: Callable[[Any], Any], owner: torch.nn.Module) -> Any:
    try:
        return read(owner)
    except AttributeError:  # a constant that tracing made
        return None


def _copy_held(held: _Held) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in held().items()}


def _equal(one: torch.Tensor, other: torch.Tensor | None) -> bool:
    if other is None or one.shape != other.shape:
        return False
    return torch.equal(to_strided(one), to_strided(other))

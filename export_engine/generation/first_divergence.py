"""The first call of a generation at which a program is off, and the op that is.

Each call of a generation is made twice with the same inputs, by the program and by the model's own
module; the model's result goes on. So an error of one program is not blamed on the next.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import contexts_entered
from export_engine.defects import log_internal_error
from export_engine.generation.cutting import Cut
from export_engine.generation.greedy import Step, generate_with
from export_engine.process import sandbox
from export_engine.record import Record
from export_engine.run import backends
from export_engine.source import find_last_frame
from export_engine.values import (
    Compared,
    RunOf,
    StepFailed,
    backend_run,
    compare_values,
    eager_run,
)
from export_engine.verify import compare

_NO_OP = "every op of the exported program matches there"
_PATCHED = ": transformers patches the model for export, and the patch changes its outputs"


class CallApart(NamedTuple):
    """A call whose result differs from the model's."""

    component: str
    call: int
    """Which call of the generation, from 0."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    """The program's arguments."""
    sentence: str
    """How far its results are off."""


class OpApart(NamedTuple):
    """The op at which an error enters a program."""

    node: int
    """In the main graph; -1 where no op of the program is off."""
    sentence: str


class _Found(Exception):
    """Ends a generation: what was looked for is found."""


def first_call_apart(
    made: Cut,
    programs: Mapping[str, Callable[..., Any]],
    inputs: Mapping[str, Any],
    tokens: int,
) -> CallApart | None:
    """The first call whose result is off by more than noise; None if none is."""
    items: list[CallApart] = []
    calls = 0

    def beside(step: Step) -> Any:
        nonlocal calls
        name = step.component.name
        pair, kept = (copy.deepcopy((step.args, step.kwargs)) for _ in range(2))
        theirs = step.own()
        difference = compare(programs[name](*pair[0], **pair[1]), theirs)
        if not difference.same:
            items.append(CallApart(name, calls, *kept, difference.detail))
            raise _Found
        calls += 1
        return theirs

    try:
        generate_with(made, programs, inputs, tokens, beside)
    except _Found:
        return items[0]
    except Exception as error:  # noqa: BLE001 - a program may raise anything; the trial has said so
        log_internal_error(error, "looking for the first call that differs")
    return None


def first_op_apart(
    exported: Exported, record: Record, apart: CallApart, backend: str = "program"
) -> OpApart:
    """The op at which an error enters the program in a call, on the model's own inputs.

    Args:
        exported: the program of the call's component.
        record: its Record.
        apart: the call.
        backend: what the program was run by; where torch runs it right, its ops are looked at.
    """
    assert exported.request is not None
    request: Request = exported.request.with_changes(args=apart.args, kwargs=apart.kwargs)
    try:
        compared = compare_values(
            RunOf(apart.component, exported, record, request),
            eager_run(exported, request, "cpu"),
        )
    except (ValueError, StepFailed, torch.OutOfMemoryError) as error:
        log_internal_error(error, "looking for the op that differs")
        return OpApart(-1, f"the op that differs is unknown: {error}")
    if not compared.pairs.faults:
        if _patches_change(request):
            return OpApart(-1, _NO_OP + _PATCHED)
        own = backend == "program"
        return OpApart(-1, _NO_OP) if own else _op_of(backend, exported, record, apart, request)
    return _first(compared, record)


def _first(compared: Compared, record: Record) -> OpApart:
    first = compared.pairs.faults[0]
    graph, node = record.graphs[first.graph], first.node
    frame = find_last_frame(record, graph.stack[node])
    place = f" ({frame.name}:{frame.line})" if frame else ""
    scope = record.scopes[graph.scope[node]].path if graph.scope[node] >= 0 else ""
    module = f" of `{scope}`" if scope else ""
    at = -1 if first.graph else node
    return OpApart(at, f"the error starts at `{compared.name(first)}`{module}{place}")


def _op_of(
    backend: str, exported: Exported, record: Record, apart: CallApart, request: Request
) -> OpApart:
    """The op that a backend computes differently from torch, and what to do."""
    title = backends()[backend].title
    name = apart.component
    try:
        compared = compare_values(
            RunOf(name, exported, record, request),
            backend_run(exported, record, request, "cpu", backend),
        )
    except (ValueError, StepFailed, MemoryError, torch.OutOfMemoryError) as error:
        log_internal_error(error, "looking for the op that a backend computes differently")
        return OpApart(-1, f"{_NO_OP}; the op of {title} that differs is unknown: {error}")
    if not compared.pairs.faults:
        text = (
            f"and so does every op of {title}, run op by op: its fused kernels differ. Try a "
            "different backend"
        )
        return OpApart(-1, f"{_NO_OP}, {text}")
    op = _first(compared, record)
    return op._replace(
        sentence=f"the exported program matches, and in {title} {op.sentence}. "
        f'kit["{name}"].compare("{backend}") lists its ops; a different backend may match'
    )


def _patches_change(request: Request) -> bool:
    """Whether the model gives another result in the contexts in which it was exported."""

    def result() -> Any:
        args, kwargs = copy.deepcopy((request.args, dict(request.kwargs)))
        return request.target(*args, **kwargs)

    try:
        with sandbox(), torch.no_grad():
            plain = result()
            with contexts_entered(request):
                return not compare(result(), plain).same
    except Exception as error:  # noqa: BLE001 - a model may raise anything
        log_internal_error(error, "running a model in the contexts of its export")
        return False

"""One run of a program, node by node, which leaves nothing in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.fx import Node

from export_engine.attempt import Exported, Request
from export_engine.capture import quiet
from export_engine.plain_errors import WrongArgument
from export_engine.process import sandbox, seed, undone
from export_engine.record import Record
from export_engine.run import Bench, Call
from export_engine.torch_internals import contexts_left, counters_kept
from export_engine.values.given import program_inputs
from export_engine.values.steps import Observer, Steps
from export_engine.verify import Subject

SEED = 0
"""The seed of every run, so that a run can be repeated."""


class Run:
    """A program and its inputs, ready to be walked through once."""

    def __init__(self, steps: Steps, inputs: list[Any]) -> None:
        """Make one.

        Args:
            steps: what runs it.
            inputs: one per placeholder.
        """
        self.steps = steps
        self.inputs = inputs

    @property
    def peak(self) -> int:
        """The most bytes that its values held at one time."""
        return self.steps.peak

    def walk(self) -> Iterator[tuple[int, Node, Any]]:
        """Each node's number, the node and its value, in order."""
        return self.steps.steps(self.inputs)


@undone
def running(
    exported: Exported,
    record: Record,
    request: Request,
    device: str,
    observe: Observer | None = None,
    kind: type[Steps] = Steps,
) -> Iterator[Run]:
    """A run of a program; random numbers and global state are as they were after it.

    The model is not called, and what the program may write to is a copy.

    Args:
        exported: whose program.
        record: the same, described.
        request: the call.
        device: where.
        observe: told what nodes of nested graphs give.
        kind: what runs it.

    Raises:
        WrongArgument: the model or its inputs have no values.
    """
    subject = Subject(exported, record, 0)
    if subject.without_values:
        raise WrongArgument(subject.without_values)
    bench = Bench(subject, Call("", lambda: request), device)
    values = [*exported.program.state_dict.values(), *bench.leaves]
    with sandbox(), contexts_left(values), counters_kept(), quiet(), torch.no_grad():
        job = bench.job(Path())
        inputs = program_inputs(job.program, job.args, job.kwargs)
        seed(SEED)
        steps = kind(job.program.graph_module, record, observe)
        steps.random = torch.get_rng_state()
        yield Run(steps, inputs)

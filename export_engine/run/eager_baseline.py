"""The eager baseline on one device with one set of inputs, which runs are compared with."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from export_engine.attempt import Request
from export_engine.defects import passed_over
from export_engine.process import sandbox, seed
from export_engine.record import Record
from export_engine.run.backend import Job
from export_engine.run.failure_text import memory_told
from export_engine.run.run_inputs import Call
from export_engine.run.torch_devices import home_of
from export_engine.torch_internals import callable_module, moved_program, pytree
from export_engine.verify import Difference, Subject, compare, copied_leaf, in_eager

SEED = 0
HALF = (torch.float16, torch.bfloat16)
LOOSE = 4.0
"""How many times the tolerances of `torch.testing.assert_close` a run may be off by. Other
kernels may sum in another order; a wrong one is off by far more.
"""


def named_symbols(record: Record) -> dict[str, str]:
    """What the user calls torch's symbols, for `Job.names`."""
    named = {each.torch_name: each.name for each in record.symbols if each.name.isidentifier()}
    return {symbol: name for symbol, name in named.items() if symbol != name}


class Bench:
    """Makes jobs for one device and one call."""

    def __init__(self, subject: Subject, call: Call, device: str) -> None:
        """Make one.

        Args:
            subject: the program, while its model is kept as it is.
            call: what to run it with.
            device: where; torch has it.
        """
        self.subject = subject
        self.call = call
        self.device = device
        self.quickest = math.inf
        """Seconds of a warm call by the quickest backend until now."""

    def job(self, folder: Path, eager_random: bool = False) -> Job:
        """A separate job: it shares nothing mutable with other jobs or the user."""
        with memory_told(self.device):
            args, kwargs = self._inputs()
            return Job(
                program=self.program(),
                model=self._model(),
                args=args,
                kwargs=kwargs,
                device=self.device,
                folder=folder,
                eager_random=eager_random,
                names=named_symbols(self.subject.record),
            )

    def program(self) -> torch.export.ExportedProgram:
        """The program on the device; on its own device it is the user's, restored afterwards."""
        program = self.subject.program
        return program if self.at_home else moved_program(program, self.device)

    @cached_property
    def request(self) -> Request:
        """The call; its inputs are made when they are first asked for."""
        return self.call.make()

    @cached_property
    def at_home(self) -> bool:
        """Whether the device is where the program was exported."""
        leaves = pytree.tree_leaves((self.request.args, dict(self.request.kwargs)))
        return home_of(self.subject.program, leaves) == self.device

    @cached_property
    def reference(self) -> Any:
        """Eager's result, or the program's if there is no eager model."""
        job = self.job(Path())
        called: Callable[..., Any] = job.model or callable_module(job.program)
        result = self.in_eager(lambda: called(*job.args, **job.kwargs))
        return detached(result)

    @cached_property
    def exact(self) -> Any:
        """Eager's result, computed in float32 throughout; None where that cannot be had."""
        job = self.job(Path())
        if not isinstance(job.model, torch.nn.Module):
            return None
        try:
            model = copy.deepcopy(job.model).float()
            args, kwargs = pytree.tree_map_only(torch.Tensor, _wide, (job.args, dict(job.kwargs)))
            return detached(self.in_eager(lambda: model(*args, **kwargs)))
        except Exception as error:  # noqa: BLE001 - the model insists on its dtype, or does not fit
            passed_over(error, "running the model in float32")
            return None

    @cached_property
    def by_program(self) -> Any:
        """The result of the program itself, run op by op."""
        job = self.job(Path())
        module = callable_module(job.program)
        return detached(self.seeded(lambda: module(*job.args, **job.kwargs)))

    @cached_property
    def program_parts(self) -> bool:
        """Whether the program itself differs from eager."""
        return not self.compared(self.by_program).same

    def compared(self, result: Any) -> Difference:
        """A result held against eager's."""
        return compare(to_cpu(result), to_cpu(self.reference), loose=LOOSE)

    def in_eager(self, action: Callable[[], Any]) -> Any:
        """As `seeded`, and what the user compiled with torch.compile runs in eager."""

        def uncompiled() -> Any:
            with in_eager():
                return action()

        return self.seeded(uncompiled)

    def seeded(self, action: Callable[[], Any]) -> Any:
        """The result of an action, with the seed that every run uses; everything is restored."""
        try:
            with sandbox(), torch.no_grad():
                seed(SEED)
                return action()
        finally:
            self.subject.restore()

    def _inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies of the inputs on the device; what is passed twice is one copy passed twice."""
        memo: dict[int, Any] = {}

        request = self.request
        args, kwargs = pytree.tree_map(
            lambda value: copied_leaf(value, memo, self.device),
            (tuple(request.args), dict(request.kwargs)),
        )
        return args, kwargs

    def _model(self) -> Callable[..., Any] | None:
        """The eager model on the device: the user's own on its device, else a moved copy."""
        model = self.subject.eager
        if model is None or self.at_home:
            return model  # type: ignore[no-any-return]
        if isinstance(model, torch.nn.Module):
            return copy.deepcopy(model).to(self.device)
        return None  # a plain function's tensors cannot be moved


def _wide(value: torch.Tensor) -> torch.Tensor:
    return value.float() if value.dtype in HALF else value


def detached(result: Any) -> Any:
    """Copies of the tensors in a result: the next call may write to them."""
    return pytree.tree_map_only(torch.Tensor, lambda value: value.detach().clone(), result)


def to_cpu(result: Any) -> Any:
    """A result on the CPU, where results of different makers can be compared."""
    return pytree.tree_map_only(torch.Tensor, lambda value: value.detach().cpu(), result)

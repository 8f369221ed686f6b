"""The eager baseline on one device with one set of inputs, which runs are compared with."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from export_engine.attempt import Request, as_module
from export_engine.defects import log_internal_error, user_code
from export_engine.findings import inputs_written, state_written
from export_engine.process import sandbox, seed
from export_engine.record import Record
from export_engine.run.backend import Backend, Job, Ready
from export_engine.run.check_call import find_refusal
from export_engine.run.failure_text import memory_told
from export_engine.run.repeated_calls import (
    CALLS,
    ReadBuffer,
    SeenCall,
    Written,
    attribute_reader,
    call_in_a_row,
    copies_of,
    find_changed_names,
    input_tensors,
)
from export_engine.run.run_inputs import Call
from export_engine.run.torch_devices import home_of
from export_engine.torch_internals import callable_module, keep_sizes, move_program, pytree
from export_engine.verify import (
    Difference,
    Subject,
    compare,
    copy_leaf,
    find_unwritten,
    in_eager,
    is_condition,
    without_unwritten,
)

SEED = 0
HALF = (torch.float16, torch.bfloat16)
LOOSE = 4.0
"""How many times the tolerances of `torch.testing.assert_close` a run may be off by. Other
kernels may sum in another order; a wrong one is off by far more.
"""


def name_symbols(record: Record) -> dict[str, str]:
    """The user's names of torch's symbols, for `Job.names`."""
    named = {
        symbol.torch_name: symbol.name for symbol in record.symbols if symbol.name.isidentifier()
    }
    return {symbol: name for symbol, name in named.items() if symbol != name}


class Bench:
    """Makes jobs for one device and one call."""

    def __init__(self, subject: Subject, call: Call, device: str) -> None:
        """Make one.

        Args:
            subject: the program, while its model stays unchanged.
            call: what to run it with.
            device: where; torch has it.
        """
        self.subject = subject
        self.call = call
        self.device = device
        self.quickest = math.inf
        """Seconds of a warm call by the quickest backend until now."""
        written = state_written(subject.record)
        constants = subject.program.constants
        held = [constants[name] for name in written if name in constants]
        self._constants = [
            (value, value.clone()) for value in held if isinstance(value, torch.Tensor)
        ]
        """Tensors that only the program holds and writes to, and their first values."""

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
                names=name_symbols(self.subject.record),
            )

    def program(self) -> torch.export.ExportedProgram:
        """The program on the device; on its own device it is the user's, restored afterwards."""
        program = self.subject.program
        return program if self.at_home else move_program(program, self.device)

    @cached_property
    def request(self) -> Request:
        """The call; its inputs are made when they are first asked for."""
        return self.call.make()

    @cached_property
    def at_home(self) -> bool:
        """Whether the device is where the program was exported."""
        return home_of(self.subject.program, self.leaves) == self.device

    @cached_property
    def leaves(self) -> list[Any]:
        """The values of the call's inputs."""
        return list(pytree.tree_leaves((self.request.args, dict(self.request.kwargs))))

    @cached_property
    def other_inputs(self) -> str:
        """How the inputs are not what the program takes, as a clause; empty if they are."""
        program, record, request = self.subject.program, self.subject.record, self.request
        return find_refusal(program, record, request.args, request.kwargs)

    @cached_property
    def broken_condition(self) -> str:
        """The condition of the program's own that the call breaks; empty if it takes it.

        Raises:
            Exception: the program fails with these inputs for another reason.
        """
        try:
            self.by_program  # noqa: B018 - what it asserts of values, only a run tells
        except Exception as error:
            if not is_condition(error):
                raise
            log_internal_error(error, "running the program before a backend")
            return self.subject.refusal(error)
        return ""

    @property
    def reference(self) -> Any:
        """Eager's result, or the program's if there is no eager model."""
        return self._observed[1][0].result

    @property
    def written(self) -> Written:
        """A call's writes: those of the program's ops, and those of eager's first call."""
        return self._observed[0]

    @cached_property
    def reference_calls(self) -> list[SeenCall]:
        """Eager's calls in a row, several where they write.

        Buffers that it lacks, such as a constant that tracing made, are the program's.
        """
        calls = self._observed[1]
        if all(name in calls[0].before for name in self.written.buffers):
            return calls
        return [
            theirs._replace(before={**ours.before, **theirs.before})
            for ours, theirs in zip(self.program_calls, calls, strict=True)
        ]

    @cached_property
    def _observed(self) -> tuple[Written, list[SeenCall]]:
        """The writes of the reference's calls, and those calls."""
        job = self.job(Path())
        called: Callable[..., Any] = job.model or callable_module(job.program)
        read = attribute_reader(as_module(called))
        runs = "the model" if job.model else "the program"
        return self.in_eager(  # type: ignore[no-any-return]
            lambda: self._watch(lambda: _call(runs, called, job), read, job)
        )

    def _watch(
        self, call: Callable[[], Any], read: ReadBuffer, job: Job
    ) -> tuple[Written, list[SeenCall]]:
        """The first call with all that it may write looked at; more where it writes."""
        record = self.subject.record
        declared = Written(state_written(record), tuple(inputs_written(record)))
        held = {
            entry.target: entry.target
            for entry in record.signature.inputs
            if entry.kind in ("buffer", "constant_tensor") or entry.target in declared.buffers
        }
        start = copies_of(tensors_named(read, held)), copies_of(self.inputs_of(job))
        (first,) = call_in_a_row(call, 1, dict, lambda: self.inputs_of(job))
        after = copies_of(tensors_named(read, held))
        result = Written(
            tuple(dict.fromkeys([*declared.buffers, *find_changed_names(start[0], after)])),
            tuple(dict.fromkeys([*declared.inputs, *find_changed_names(start[1], first.inputs)])),
        )
        if not result.names:
            return result, [first]
        before = {name: value for name, value in start[0].items() if name in result.buffers}
        more = call_in_a_row(
            call,
            CALLS - 1,
            lambda: tensors_named(read, result.buffers),
            lambda: self.inputs_of(job),
        )
        return result, [first._replace(before=before), *more]

    def prepare(self, backend: Backend, job: Job) -> Ready:
        """A backend's prepared job; inputs are unchanged, even if it compiles by a call."""
        inputs = self.inputs_of(job) if self.written.inputs else {}
        before = {name: value.detach().clone() for name, value in inputs.items()}
        with user_code(backend.title), keep_sizes(self.subject.program):
            ready = self.run_seeded(lambda: backend.prepare(job))
            if not isinstance(ready, Ready):
                raise TypeError(f"its prepare() returned a {type(ready).__name__}, not a Ready")
        with torch.no_grad():
            for name, value in before.items():
                inputs[name].copy_(value)
        return ready

    def calls_in_a_row(
        self, call: Callable[[], Any], read: ReadBuffer | None, job: Job
    ) -> list[SeenCall]:
        """As many calls as of the reference, with the buffers around them.

        Args:
            call: gives a result.
            read: its buffers, where they can be read.
            job: what it is bound to.
        """
        buffers = self.written.buffers if read is not None else ()
        return call_in_a_row(
            call,
            len(self._observed[1]),
            lambda: tensors_named(read, buffers) if read is not None else {},
            lambda: self.inputs_of(job) if self.written.inputs else {},
        )

    def inputs_of(self, job: Job) -> dict[str, torch.Tensor]:
        """The tensors that a job's calls are given, by path."""
        return input_tensors(job.program, self.subject.record, job.args, job.kwargs)

    @cached_property
    def exact(self) -> Any:
        """Eager's result, computed in float32 throughout; None where that cannot be had."""
        job = self.job(Path())
        if not isinstance(job.model, torch.nn.Module):
            return None
        try:
            model = copy.deepcopy(job.model).float()
            args, kwargs = pytree.tree_map_only(torch.Tensor, _wide, (job.args, dict(job.kwargs)))
            return detach(self.in_eager(lambda: model(*args, **kwargs)))
        except Exception as error:  # noqa: BLE001 - the model insists on its dtype, or does not fit
            log_internal_error(error, "running the model in float32")
            return None

    @cached_property
    def program_calls(self) -> list[SeenCall]:
        """The program's own calls in a row, run op by op."""
        if self.subject.eager is None:
            return self._observed[1]
        job = self.job(Path())
        module = callable_module(job.program)
        return self.run_seeded(  # type: ignore[no-any-return]
            lambda: self.calls_in_a_row(
                lambda: _call("the program", module, job), attribute_reader(module), job
            )
        )

    @property
    def by_program(self) -> Any:
        """The result of the program itself, run op by op."""
        return self.program_calls[0].result

    @cached_property
    def program_parts(self) -> bool:
        """Whether the program itself differs from eager."""
        return not self.compare_with_eager(self.by_program).same

    def compare_with_eager(self, result: Any) -> Difference:
        """A result held against eager's."""
        ours, theirs = self._parts_to_compare(result), self._parts_to_compare(self.reference)
        return compare(ours, theirs, loose=LOOSE)

    def _parts_to_compare(self, result: Any) -> Any:
        """A result on the CPU, with 0 for memory that nobody wrote."""
        return without_unwritten(to_cpu(result), self.unwritten)

    @cached_property
    def unwritten(self) -> list[torch.Tensor | None]:
        """Per tensor of eager's result, which elements are of memory that nobody wrote."""
        job = self.job(Path())
        called: Callable[..., Any] = job.model or callable_module(job.program)
        return find_unwritten(lambda: self.in_eager(lambda: called(*job.args, **job.kwargs)))

    def differ(self, ours: Any, eager: Any) -> str:
        """How values differ from eager's; empty where they agree, half precision widely."""
        mine, theirs = (self._parts_to_compare(value) for value in (align_with(ours, eager), eager))
        difference = compare(mine, theirs, loose=LOOSE)
        halves = any(
            isinstance(leaf, torch.Tensor) and leaf.dtype in HALF
            for leaf in pytree.tree_leaves(theirs)
        )
        return (
            "" if difference.same or (halves and compare(mine, theirs).same) else difference.detail
        )

    def in_eager(self, action: Callable[[], Any]) -> Any:
        """As `run_seeded`, and what the user compiled with torch.compile runs in eager."""

        def call_uncompiled() -> Any:
            with in_eager():
                return action()

        return self.run_seeded(call_uncompiled)

    def run_seeded(self, action: Callable[[], Any]) -> Any:
        """The result of an action, with the seed that every run uses; everything is restored."""
        try:
            with sandbox(), torch.no_grad():
                seed(SEED)
                return action()
        finally:
            self.subject.restore()
            for tensor, before in self._constants:
                with torch.no_grad():
                    tensor.copy_(before)

    def _inputs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Copies of the inputs on the device; what is passed twice is one copy passed twice."""
        memo: dict[int, Any] = {}

        request = self.request
        args, kwargs = pytree.tree_map(
            lambda value: copy_leaf(value, memo, self.device),
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


def tensors_named(read: ReadBuffer, names: Iterable[str]) -> dict[str, torch.Tensor]:
    """The tensors of some names that can be read."""
    tensors = {name: read(name) for name in names}
    return {name: value for name, value in tensors.items() if value is not None}


def align_with(result: Any, reference: Any) -> Any:
    """Converts tensors back to numbers where eager returns numbers.

    A lone tensor that stands for a Python number is that number.
    """
    ours = [leaf for leaf in pytree.tree_leaves(result) if leaf is not None]
    theirs = [leaf for leaf in pytree.tree_leaves(reference) if leaf is not None]
    if len(ours) != len(theirs):
        return result
    return [
        one.item()
        if isinstance(one, torch.Tensor) and one.numel() == 1 and isinstance(other, int | float)
        else one
        for one, other in zip(ours, theirs, strict=True)
    ]


def _call(runs: str, called: Callable[..., Any], job: Job) -> Any:
    """The result of a call on a job's inputs; what it raises is marked as raised by `runs`."""
    with user_code(runs):
        return called(*job.args, **job.kwargs)


def _wide(value: torch.Tensor) -> torch.Tensor:
    return value.float() if value.dtype in HALF else value


def detach(result: Any) -> Any:
    """Copies of the tensors in a result: the next call may write to them."""
    return pytree.tree_map_only(torch.Tensor, lambda value: value.detach().clone(), result)


def to_cpu(result: Any) -> Any:
    """A result on the CPU, where results of different makers can be compared."""
    return pytree.tree_map_only(torch.Tensor, lambda value: value.detach().cpu(), result)

"""The program under test, with what is needed to run it and the eager model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any, NamedTuple

import torch

from export_engine.attempt import (
    DecompositionTable,
    Exported,
    Request,
    find_written_aliases,
    install_setups,
)
from export_engine.capture import contexts_entered, in_eval_mode, model_kept, quiet
from export_engine.defects import log_internal_error, passing_over
from export_engine.error_text import error_text
from export_engine.process import Deadline, can_fork, sandbox, undone
from export_engine.record import Record, in_user_names
from export_engine.source import raise_if_users
from export_engine.torch_internals import (
    callable_module,
    contexts_left,
    counters_kept,
    keep_distinct_ops,
    make_example,
    operators_listed_once,
    pytree,
)
from export_engine.transform import shrink_table
from export_engine.verify.compare_outputs import Difference, compare_calls
from export_engine.verify.custom_ops import find_custom
from export_engine.verify.fresh_inputs import fresh_request
from export_engine.verify.isolated_run import Call, call, call_with_gradients_if_needed
from export_engine.verify.missing_values import missing_values
from export_engine.verify.numbers_in_code import Number, find_numbers
from export_engine.verify.output_types import find_mistyped
from export_engine.verify.refusals import is_condition, refusal
from export_engine.verify.uninitialized import (
    describe_unwritten,
    find_unwritten,
    memory_filled_in_calls,
)
from export_engine.verify.untraced_sizes import Sizes, sizes_of, sizes_of_record

LARGE = 200
"""From how many nodes on a program is large."""


@undone
def examine(exported: Exported, record: Record, sizes: int) -> Iterator[Subject]:
    """The program as a Subject; changes by calls of it and of its model are undone.

    Args:
        exported: the attempt.
        record: the attempt, described.
        sizes: how many sizes to compare at.
    """
    subject, request = Subject(exported, record, sizes), exported.request
    called = request.target if request else subject.module
    wanted = request is not None and request.eval_mode
    with (
        sandbox(),
        contexts_left(tensors_of(exported)),
        counters_kept(),
        in_eval_mode(called, wanted),
        quiet(),
        install_setups(request.setups if request else ()),
        contexts_entered(request) if request else nullcontext(),
        model_kept(called) as subject.restore,
        memory_filled_in_calls(target.name for target in record.targets),
    ):
        yield subject


def tensors_of(exported: Exported) -> list[Any]:
    """The state of a program, and the leaves of its call."""
    program, request = exported.program, exported.request
    value = (request.args, dict(request.kwargs)) if request else program.example_inputs
    return [
        *program.state_dict.values(),
        *program.constants.values(),
        *pytree.tree_leaves(value),
    ]


def patience_with(exported: Exported) -> Deadline:
    """A limit on calls of a program and its model.

    Where it calls an op that is not torch's own, whose kernel may not know a size of 0, each call
    at other sizes is made in a fork before, if this process can fork.
    """
    native = bool(find_custom(exported.program.graph_module)) and can_fork(tensors_of(exported))
    return Deadline(native=native)


class Decomposed(NamedTuple):
    """The program after torch's default decompositions."""

    program: torch.export.ExportedProgram | None
    """None where torch cannot decompose it."""
    kept: Sequence[str] = ()
    """Ops that stay whole, because torch cannot decompose them here."""
    error: Exception | None = None
    """torch's error."""


class Subject:
    """A program, its Record, and its model, whose state is restored."""

    restore: Callable[[], None]
    """Restore the model; in place while it is examined."""

    def __init__(self, exported: Exported, record: Record, sizes: int) -> None:
        """Make one; `examine` makes one that can be run.

        Args:
            exported: the attempt.
            record: the attempt, described.
            sizes: how many sizes to compare at.
        """
        self.exported = exported
        self.program = exported.program
        self.record = record
        self.sizes = sizes
        self.mistyped = ""
        """The first output, in any run of the program, that has not the declared dtype."""
        self.grad = False
        """Whether gradients are recorded in all calls."""
        self.patience = patience_with(exported)
        """How long a call may take; see `patience_with`."""

    @property
    def is_large(self) -> bool:
        """Whether its checks take long enough that a fork, or a smaller program, saves time."""
        return len(self.program.graph.nodes) >= LARGE

    @cached_property
    def distinct(self) -> torch.export.ExportedProgram | None:
        """A large program with each distinct op once; None if few are equal, or if it writes."""
        with passing_over("collecting the distinct ops"):
            if self.is_large:
                return keep_distinct_ops(self.program)
        return None

    @cached_property
    def symbolic(self) -> Sizes:
        """The symbolic sizes of the program's inputs."""
        sizes = sizes_of(self.exported)
        varying = any(size.symbol >= 0 for size in self.record.probe.inputs)
        return sizes_of_record(self.record) if varying and not sizes.symbols else sizes

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Integers that a size may be compared with."""
        return find_numbers(self.exported)

    @cached_property
    def module(self) -> torch.nn.Module:
        """The program as a module to call. It shares its tensors with the model."""
        return callable_module(self.program)

    @cached_property
    def decomposed(self) -> Decomposed:
        """The program after torch's default decompositions, run once for all guarantees."""
        try:
            with operators_listed_once():
                return Decomposed(self.program.run_decompositions())
        except Exception as error:  # noqa: BLE001 - torch cannot do what it claims
            log_internal_error(error, "decomposing the program")
            raise_if_users(error)
            way_out = shrink_table(self.program, DecompositionTable("core"))
            if way_out is None:
                return Decomposed(None, error=error.with_traceback(None))
            table, program = way_out
            return Decomposed(program, table.ops)

    @cached_property
    def not_compared(self) -> str:
        """A sentence on outputs of memory that nobody wrote; empty if there is none."""
        called = self.module if self.eager is None else self.eager
        return describe_unwritten(find_unwritten(lambda: self.run(called, self.request).result))

    @property
    def undecomposed_because(self) -> str:
        """Why torch cannot decompose the program: a cause that is known, else torch's words."""
        sentences = (written_alias.sentence for written_alias in find_written_aliases(self.program))
        return next(sentences, error_text(self.decomposed.error))

    @property
    def eager(self) -> Any:
        """The user's model; None for a program from a file."""
        return self.exported.request.target if self.exported.request else None

    @cached_property
    def request(self) -> Request:
        """What to call with: the user's own arguments, else the example that the program keeps.

        Where it keeps none, one is made of what it says of its inputs.
        """
        if self.exported.request is not None:
            return self.exported.request
        args, kwargs = self.program.example_inputs or make_example(self.program)
        return Request(target=self.module, args=tuple(args), kwargs=dict(kwargs or {}))

    @cached_property
    def without_values(self) -> str:
        """Why nothing can be computed, as on the meta device; empty if all tensors have values."""
        return missing_values(self.program, self.request)

    @cached_property
    def refused(self) -> str:
        """The condition of the program's own that the example breaks; empty if it takes it."""
        try:
            self.run(self.module, self.request)
        except Exception as error:  # noqa: BLE001 - whatever it raises; only a condition is said
            log_internal_error(error, "running the program on its example")
            return self.refusal(error) if is_condition(error) else ""
        return ""

    def refusal(self, error: BaseException) -> str:
        """The condition that was not met, with the user's names of sizes."""
        return in_user_names(refusal(error), self.record.symbols)

    def at(self, sizes: Sequence[int], seed: int) -> Request:
        """The call with fresh inputs of other sizes, one per entry of the Record's probe."""
        wanted: dict[str, list[int]] = {}
        for size, entry in zip(sizes, self.record.probe.inputs, strict=True):
            wanted.setdefault(self.record.signature.inputs[entry.entry].path, []).append(size)
        return fresh_request(self.request, wanted, seed)

    def run(self, called: Any, request: Request, seed: int = 0) -> Call:
        """One call; the model is as before after it. The first is on the example.

        Raises:
            TookTooLong: one of the others had not ended in many times as long.
        """
        try:
            result = call_with_gradients_if_needed(
                lambda grad: call(called, request, seed, grad or self.grad, patience=self.patience),
                self.restore,
            )
        finally:
            self.restore()
        if called is self.module and not self.mistyped:
            self.mistyped = find_mistyped(self.program, result.result)
        return result

    def compare(self, ours: Call, theirs: Call, loose: float = 1.0) -> Difference:
        """Results and inputs that were written to, by torch.testing's tolerances."""
        return compare_calls(ours, theirs, loose)

"""Several calls in a row from one start, for programs that write buffers or inputs.

A runtime that forgets what a program wrote gives the right outputs once. So each backend is called
as often as eager, without a reset in between, and outputs, inputs and buffers are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from export_engine.defects import log_internal_error
from export_engine.listing import join_names
from export_engine.record import Record
from export_engine.torch_internals import flat_leaves, pytree

CALLS = 3
"""Calls in a row of a program that writes."""
ReadBuffer = Callable[[str], torch.Tensor | None]
"""Reads a tensor that a program holds, by its name there; None for one that cannot be read."""


class Written(NamedTuple):
    """Writes of a program's calls."""

    buffers: tuple[str, ...] = ()
    """Tensors that it holds, by their names in the program."""
    inputs: tuple[str, ...] = ()
    """By path."""

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.buffers, *self.inputs)


class SeenCall(NamedTuple):
    """One of several calls in a row."""

    before: Mapping[str, torch.Tensor]
    """Buffers as it began, by name; those that can be read."""
    result: Any
    inputs: Mapping[str, torch.Tensor]
    """Tensors that it was given, by path, after it."""


def attribute_reader(module: torch.nn.Module) -> ReadBuffer:
    """Reads the tensors of a module by the names that its program has for them."""

    def read(name: str) -> torch.Tensor | None:
        result: Any = module
        try:
            for part in name.split("."):
                result = getattr(result, part)
        except AttributeError:  # a constant that tracing made
            return None
        return result if isinstance(result, torch.Tensor) else None

    return read


def call_in_a_row(
    call: Callable[[], Any],
    count: int,
    read: Callable[[], Mapping[str, torch.Tensor]],
    inputs: Callable[[], Mapping[str, torch.Tensor]],
) -> list[SeenCall]:
    """Calls several times, and copies what there is around each call.

    Args:
        call: gives a result.
        count: how often.
        read: the buffers that can be read now.
        inputs: the tensors that the calls are given.
    """
    calls = []
    for _ in range(count):
        before = copies_of(read())
        result = pytree.tree_map_only(torch.Tensor, lambda value: value.detach().clone(), call())
        calls.append(SeenCall(before, result, copies_of(inputs())))
    return calls


def input_tensors(
    program: torch.export.ExportedProgram,
    record: Record,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
) -> dict[str, torch.Tensor]:
    """The tensors of a call, by path."""
    entries = [entry for entry in record.signature.inputs if entry.kind == "user_input"]
    leaves = flat_leaves(program, args, kwargs)
    return {
        entry.path or entry.name: leaf
        for entry, leaf in zip(entries, leaves, strict=True)
        if isinstance(leaf, torch.Tensor)
    }


def find_changed_names(
    before: Mapping[str, torch.Tensor], after: Mapping[str, torch.Tensor]
) -> tuple[str, ...]:
    """The tensors whose values are not what they were."""
    return tuple(name for name, value in after.items() if not _is_same(value, before.get(name)))


def copies_of(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same values in memory of their own, on the CPU."""
    return {name: value.detach().cpu().clone() for name, value in tensors.items()}


def _is_same(value: torch.Tensor, other: torch.Tensor | None) -> bool:
    if other is None or value.shape != other.shape or value.dtype != other.dtype:
        return False
    try:
        return bool(torch.allclose(value, other, rtol=0.0, atol=0.0, equal_nan=True))
    except RuntimeError as error:  # a layout or dtype without that
        log_internal_error(error, "comparing a buffer with what it was")
        return True


class StateProblem(NamedTuple):
    """How a backend handles what a program writes, where that is not as in eager."""

    sentence: str
    lost: tuple[str, ...]
    """Buffers and inputs."""
    starts: bool = False
    """Whether it is about what the first call begins with."""


class _Comparison(NamedTuple):
    title: str
    """The backend's program."""
    first: SeenCall
    """Its first call."""
    differ: Callable[[Any, Any], str]
    """How values differ from eager's; empty where they agree."""

    def apart(
        self, mine: Mapping[str, torch.Tensor], theirs: Mapping[str, torch.Tensor]
    ) -> tuple[str, ...]:
        """The names of tensors that differ, of those that both have."""
        both = [name for name in mine if name in theirs]
        return tuple(name for name in both if self.differ(mine[name], theirs[name]))


def find_state_problem(
    title: str,
    calls: Sequence[SeenCall],
    eager: Sequence[SeenCall],
    written: Written,
    differ: Callable[[Any, Any], str],
) -> StateProblem | None:
    """The first difference between a backend's calls in a row and eager's, first outputs aside.

    Args:
        title: of the backend.
        calls: its calls, with the buffers that could be read.
        eager: those of eager, from the same start.
        written: what the program writes.
        differ: how results, or tensors, differ from eager's; empty where they agree.
    """
    comparison = _Comparison(title, calls[0], differ)
    start = comparison.apart(calls[0].before, eager[0].before)
    if start:
        return StateProblem(_wrong_start(title, start, calls[0], eager[0]), start, starts=True)
    for number, (mine, theirs) in enumerate(zip(calls, eager, strict=True)):
        state_problem = _problem_of_call(comparison, number, mine, theirs, written)
        if state_problem is not None:
            return state_problem
    return None


def _problem_of_call(
    comparison: _Comparison, number: int, mine: SeenCall, theirs: SeenCall, written: Written
) -> StateProblem | None:
    title, differ = comparison.title, comparison.differ
    detail = differ(mine.result, theirs.result) if number else ""
    begins = f"The {_ORDINALS[number]} call differs from eager: {detail}. " if detail else ""
    buffers = comparison.apart(mine.before, theirs.before)
    if buffers:
        changed = find_changed_names(comparison.first.before, mine.before)
        lost = [name for name in buffers if name not in changed]
        text = (
            f"{title} does not keep {_name_tensors('buffer', lost)} from call to call."
            if lost
            else f"{title} writes values to {_name_tensors('buffer', buffers)} that differ from "
            "eager."
        )
        return StateProblem(f"{begins}{text}", buffers)
    if detail:
        text = f"The program writes {join_names(written.names)}, and the 1st call agrees."
        return StateProblem(f"{begins}{text}", written.names)
    inputs = tuple(
        name for name in comparison.apart(mine.inputs, theirs.inputs) if name in written.inputs
    )
    if inputs:
        text = f"{title} does not write {_name_tensors('input', inputs)} as eager does."
        return StateProblem(text, inputs)
    return None


_ORDINALS = ("1st", "2nd", "3rd", *(f"{number}th" for number in range(4, CALLS + 1)))


def _wrong_start(title: str, names: Sequence[str], mine: SeenCall, theirs: SeenCall) -> str:
    text = f"{title} does not start from the model's values of {_name_tensors('buffer', names)}"
    ours, wanted = mine.before[names[0]], theirs.before[names[0]]
    if len(names) == 1 and ours.numel() == wanted.numel() == 1:
        return f"{text}: it starts from {ours.item():g} instead of {wanted.item():g}."
    if all(not bool(mine.before[name].any()) for name in names):
        return f"{text}; it starts from zeros."
    return f"{text}."


def _name_tensors(what: str, names: Sequence[str]) -> str:
    """`buffer `a``, `buffers `a` and `b``."""
    return f"{what}{'s' if len(names) > 1 else ''} {join_names(names)}"

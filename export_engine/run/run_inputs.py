"""The inputs of a run: the example, the user's own, or fresh ones of given sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Request
from export_engine.plain_errors import WrongArgument
from export_engine.record import Record, probe_sizes, sizes_named
from export_engine.run.failure_text import memory_told
from export_engine.run.measure import check_memory
from export_engine.traced_sizes import leaf_values, with_leaves
from export_engine.verify import Subject, inside

Sizes = int | Mapping[str, int] | Sequence[Mapping[str, int]] | None
"""How many to draw from the contract; values of symbols by their names; or several of those."""
Inputs = tuple[Any, ...] | list[Any] | Mapping[str, Any] | None


class Call(NamedTuple):
    """A call to run."""

    label: str
    """`batch=2, seq=16`."""
    make: Callable[[], Request]
    """Creates its inputs. This may run out of memory, so it is part of a run."""


def calls_of(subject: Subject, inputs: Inputs, sizes: Sizes) -> list[Call]:
    """The calls that are asked for.

    Args:
        subject: the program.
        inputs: the positional arguments, or values by path, `{"x": x}`; others are the example's.
        sizes: see `Sizes`. Without both, the example's inputs are taken.

    Raises:
        ValueError: there is no such input or size, or the program takes no such sizes.
    """
    if inputs is not None and sizes is not None:
        raise WrongArgument("Pass either inputs or sizes, not both.")
    if inputs is not None:
        return [_make_call("given inputs", _request_with_inputs(subject.request, inputs))]
    example = [size.example for size in subject.record.probe.inputs]
    if sizes is None:
        return [_make_call(_label(subject.record, example), subject.request)]
    if isinstance(sizes, int):
        groups = inside(subject, sizes)[1 : sizes + 1]
        if not groups:
            raise WrongArgument("This program has no dynamic size to sample.")
        return [_fresh(subject, numbers) for numbers in groups]
    return [_call_at_sizes(subject, group) for group in _several(sizes)]


def _several(sizes: Any) -> list[Mapping[str, int]]:
    single = isinstance(sizes, Mapping) or not isinstance(sizes, Iterable)
    several = [sizes] if single else list(sizes)
    if not several or not all(isinstance(value, Mapping) for value in several):
        raise WrongArgument(
            f"sizes={sizes!r} is invalid. Pass values by name, {{'batch': 4}}, a list of those, "
            "or a number of sizes to sample."
        )
    return several


def _call_at_sizes(subject: Subject, named: Mapping[str, int]) -> Call:
    wanted = sizes_named(subject.record, named)
    result = probe_sizes(subject.record.probe, wanted)
    if result.verdict == "refused":
        text = ", ".join(f"{name}={value}" for name, value in named.items())
        raise WrongArgument(f"The program rejects {text}: {result.broken[0].text}.")
    for size, probe_input in zip(wanted, subject.record.probe.inputs, strict=True):
        if probe_input.dim >= 0 and size < 0:
            raise WrongArgument(f"{probe_input.text} would be {size}. A size must be at least 0.")
    return _fresh(subject, wanted)


def _make_call(label: str, request: Request) -> Call:
    return Call(label, lambda: request)


def _fresh(subject: Subject, sizes: Sequence[int]) -> Call:
    def make() -> Request:
        check_memory(_bytes(subject, sizes))
        with memory_told("the device of the inputs"):
            return subject.at(sizes, 0)

    return Call(_label(subject.record, sizes), make)


def _bytes(subject: Subject, sizes: Sequence[int]) -> int:
    """A lower bound on the bytes of inputs of these sizes, and of the copies that a run takes."""
    record = subject.record
    counts: dict[int, int] = {}
    for size, probe_input in zip(sizes, record.probe.inputs, strict=True):
        if probe_input.dim >= 0:
            counts[probe_input.entry] = counts.get(probe_input.entry, 1) * size
    kinds = {entry: record.types[record.signature.inputs[entry].type] for entry in counts}
    wide = {entry: getattr(torch, kind.dtype, torch.uint8) for entry, kind in kinds.items()}
    return sum(2 * count * wide[entry].itemsize for entry, count in counts.items())


def _request_with_inputs(request: Request, inputs: Any) -> Request:
    if not isinstance(inputs, Mapping):
        if not isinstance(inputs, tuple | list):
            raise WrongArgument(
                f"inputs is a {type(inputs).__name__}. Pass the positional arguments as a tuple, "
                f"or values by path: {{'x': x}}."
            )
        if len(inputs) != len(request.args):
            raise WrongArgument(
                f"The program takes {len(request.args)} positional arguments, not {len(inputs)}."
            )
        return request.with_changes(args=tuple(inputs))
    entries = leaf_values(request)
    unknown = [path for path in inputs if path not in entries]
    if unknown:
        names = ", ".join(entries)
        raise WrongArgument(f"There is no input {unknown[0]!r}. The inputs are: {names}.")
    return with_leaves(request, inputs.get)


def _label(record: Record, sizes: Sequence[int]) -> str:
    """The value of each symbol; `example` where nothing may vary."""
    entries: dict[str, int] = {}
    for probe_input, size in zip(record.probe.inputs, sizes, strict=True):
        if probe_input.symbol >= 0:
            name = record.symbols[probe_input.symbol].name
            entries.setdefault(name, (size - probe_input.offset) // (probe_input.scale or 1))
    return ", ".join(f"{name}={value}" for name, value in entries.items()) or "example"

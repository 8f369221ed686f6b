"""Runs a custom op's real kernel: as the model calls it, then with other inputs.

One thing changes at a time: a size wherever it occurs, a size at one or two places, a number, the
values, the dtype. Inputs that the op rejects are left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Request
from export_engine.capture import model_kept
from export_engine.defects import log_internal_error, passing_over
from export_engine.torch_internals import calls_of_op
from export_engine.traced_sizes import repeat_slices
from export_engine.verify import run

_GROWTHS = (1, 3)
"""The increments of a size or a number."""
_MOST_PAIRS = 15
_MIXED = 6
"""Runs with all sizes changed at once."""
Given = dict[str, Any]


class Slot(NamedTuple):
    """Where a tensor is among the arguments: `x`, or `xs[1]`."""

    name: str
    element: int | None = None

    def of(self, given: Given) -> Any:
        """The tensor in a call's arguments."""
        return given[self.name] if self.element is None else given[self.name][self.element]

    def __str__(self) -> str:
        return self.name if self.element is None else f"{self.name}[{self.element}]"


@dataclass(frozen=True)
class OpRun:
    """One call: the arguments by name, and what came back."""

    given: Given
    result: Any
    wrote: str = ""
    """An argument that the call wrote to."""

    @property
    def made(self) -> list[Any]:
        """The results, of which there may be one, several or none."""
        if isinstance(self.result, tuple | list):
            return list(self.result)
        return [] if self.result is None else [self.result]


@dataclass(frozen=True)
class OpRuns:
    """All runs of an op."""

    overload: Any
    shapes: list[OpRun]
    """As the model calls it first, then with other sizes and numbers."""
    values: list[OpRun]
    """With the first one's sizes, and other values."""
    dtypes: list[OpRun]
    """With other dtypes, and the first one's sizes."""
    further: list[OpRun]
    """With several sizes changed at once: a test set, not used for inference."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.shapes) + len(self.values) + len(self.dtypes) + len(self.further)


def tensor_slots(given: Given) -> list[Slot]:
    """Where the tensors are among arguments."""
    slots: list[Slot] = []
    for name, value in given.items():
        if isinstance(value, torch.Tensor):
            slots.append(Slot(name))
        elif isinstance(value, tuple | list):
            slots += [Slot(name, i) for i, item in enumerate(value) if torch.is_tensor(item)]
    return slots


def runs_of(request: Request, name: str, overload: str) -> OpRuns | None:
    """The runs of an op in a request's call; None where eager does not reach the op.

    Args:
        request: whose target is run, on copies of its inputs.
        name: `ns::name`.
        overload: of that name; empty for the default one.
    """
    with (
        model_kept(request.target),
        calls_of_op(name, overload) as items,
        passing_over("running the model for calls of an op"),  # those until it fails count
    ):
        run(request.target, request, seed=0)
    if not items:
        return None
    called, entries, _ = items[0]
    first = _run(called, entries)
    observed = [_run(called, group) for _, group, _ in items[1:4]]
    kept = [other_run for other_run in (first, *observed) if other_run is not None]
    if first is None:
        return None
    return OpRuns(
        called,
        [*kept, *_all(called, _vary_sizes(entries)), *_all(called, _vary_numbers(entries))],
        _all(called, _vary_values(entries)),
        _all(called, _vary_dtypes(entries)),
        _all(called, _vary_all_sizes(entries)),
    )


def _all(called: Any, every: Iterator[Given]) -> list[OpRun]:
    return [result for group in every if (result := _run(called, group)) is not None]


def _run(called: Any, given: Given) -> OpRun | None:
    """A run on copies; None if the op rejects them."""
    own = {name: _copy(value) for name, value in given.items()}
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            result = called(**own)
    except Exception as error:  # noqa: BLE001 - the op may refuse its inputs by whatever it likes
        log_internal_error(error, "running a custom op")
        return None
    wrote = [slot for slot in tensor_slots(given) if not _same(slot.of(given), slot.of(own))]
    return OpRun(own, result, str(wrote[0]) if wrote else "")


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return [_copy(item) for item in value] if isinstance(value, tuple | list) else value


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(torch.nan_to_num(one.detach()), torch.nan_to_num(other))


def _vary_sizes(given: Given) -> Iterator[Given]:
    places: dict[int, list[tuple[Slot, int]]] = {}
    for slot in tensor_slots(given):
        for dim, size in enumerate(slot.of(given).shape):
            places.setdefault(size, []).append((slot, dim))
    for size, same in places.items():
        groups = [tuple(same), *((place,) for place in same)]
        groups += list(combinations(same, 2))[:_MOST_PAIRS]
        for group in dict.fromkeys(groups):
            for growth in _GROWTHS:
                yield _with_sizes(given, dict.fromkeys(group, size + growth))


def _vary_all_sizes(given: Given) -> Iterator[Given]:
    """All sizes changed to distinct values, equal ones alike."""
    draw = random.Random(0)
    sizes = {size for slot in tensor_slots(given) for size in slot.of(given).shape}
    for _ in range(_MIXED):
        new = {size: size + draw.randint(1, 7) for size in sizes}
        places = {
            (slot, dim): new[size]
            for slot in tensor_slots(given)
            for dim, size in enumerate(slot.of(given).shape)
        }
        yield _with_sizes(given, places)


def _with_sizes(given: Given, places: dict[tuple[Slot, int], int]) -> Given:
    for (slot, dim), size in places.items():
        given = _map_tensors(given, partial(repeat_slices, dim=dim, size=size), slot)
    return given


def _vary_numbers(given: Given) -> Iterator[Given]:
    for name, value in given.items():
        if isinstance(value, int) and not isinstance(value, bool):
            for growth in _GROWTHS:
                yield {**given, name: value + growth}
        elif isinstance(value, tuple | list) and value and all(type(v) is int for v in value):
            for index in range(len(value)):
                for growth in _GROWTHS:
                    changed = [v + growth if i == index else v for i, v in enumerate(value)]
                    yield {**given, name: changed}


def _vary_values(given: Given) -> Iterator[Given]:
    """Other values: the order turned, the sign, all the same, half of them zero."""
    changes: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
        lambda value: value.flip(list(range(value.dim()))),
        lambda value: ~value if value.dtype is torch.bool else -value,
        torch.zeros_like,
        torch.ones_like,
        _half,
    )
    for change in changes:
        for only in [None, *tensor_slots(given)]:
            with passing_over("changing the inputs of an op"):
                yield _map_tensors(given, change, only)


def _half(value: torch.Tensor) -> torch.Tensor:
    keep = torch.arange(value.numel(), device=value.device).reshape(value.shape) % 2
    return value * keep.to(value.dtype)


def _vary_dtypes(given: Given) -> Iterator[Given]:
    """Other dtypes, of all tensors or of one argument; tensors in a list are of one dtype."""
    alone = [slot for slot in tensor_slots(given) if slot.element is None]
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for only in [None, *alone]:
            yield _map_tensors(given, partial(_as, dtype), only)


def _as(dtype: torch.dtype, value: torch.Tensor) -> torch.Tensor:
    return value.to(dtype) if value.is_floating_point() else value


def _map_tensors(
    given: Given, change: Callable[[torch.Tensor], torch.Tensor], only: Slot | None
) -> Given:
    changed = {k: list(v) if isinstance(v, tuple | list) else v for k, v in given.items()}
    for slot in tensor_slots(given) if only is None else [only]:
        tensor = change(slot.of(given).detach())
        if slot.element is None:
            changed[slot.name] = tensor
        else:
            changed[slot.name][slot.element] = tensor
    return changed

"""Rules for the results of an op from its arguments, which hold in every run.

Simplest first: like an argument, the broadcast shape, then dim by dim a size of an argument, a
number, a multiple, a sum, a product; a size that depends only on values is left unbacked.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import torch

from export_engine.fixes.fake_kernel_runs import Given, OpRun, OpRuns, Slot, tensor_slots
from export_engine.fixes.pytree_containers import Unfit
from export_engine.torch_internals import writes_to_arguments


@dataclass(frozen=True)
class Expression:
    """A value that follows from the arguments: as Python text, and as a function."""

    text: str
    of: Callable[[Given], Any]


@dataclass(frozen=True)
class ResultRule:
    """The rule of one result. Its dims are expressions; None is a data-dependent size."""

    source: Slot
    """The argument whose device it has, and its dtype unless one is given."""
    shape: Expression | None
    """Of all of it."""
    dims: tuple[Expression | None, ...]
    dtype: Expression | None

    def text(self, sizes: Iterator[str]) -> str:
        """As Python: `x.new_empty((x.shape[0], 3))`.

        Args:
            sizes: the names of sizes that depend on values, as they are used up.
        """
        dtype = f", dtype={self.dtype.text}" if self.dtype else ""
        if self.shape is not None:
            return f"{self.source}.new_empty({self.shape.text}{dtype})"
        dims = [dim.text if dim else next(sizes) for dim in self.dims]
        inside = f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"
        return f"{self.source}.new_empty({inside}{dtype})"

    def make(self, given: Given, size: Callable[[], Any]) -> torch.Tensor:
        """The fake result.

        Args:
            given: the arguments by name.
            size: makes a data-dependent size.
        """
        if self.shape is not None:
            sizes = self.shape.of(given)
        else:
            sizes = [dim.of(given) if dim else size() for dim in self.dims]
        dtype = self.dtype.of(given) if self.dtype else None
        tensor: torch.Tensor = self.source.of(given).new_empty(sizes, dtype=dtype)
        return tensor

    @property
    def open_sizes(self) -> int:
        """The number of data-dependent sizes."""
        return sum(dim is None for dim in self.dims) if self.shape is None else 0


def rules_of(runs: OpRuns) -> tuple[ResultRule, ...]:
    """One rule for each result.

    Raises:
        Unfit: there is none that holds in every run, or the op is not one that has a fake kernel.
    """
    first = runs.shapes[0]
    every = [*runs.shapes, *runs.values, *runs.dtypes, *runs.further]
    wrote = next((item.wrote for item in every if item.wrote), "")
    if wrote and not writes_to_arguments(runs.overload):
        raise Unfit(f"it mutates its argument `{wrote}`, which its schema does not declare")
    for run in every:
        _check_results(run, len(first.made))
    rules = tuple(_rule(runs, number) for number in range(len(first.made)))
    for rule, number in zip(rules, range(len(rules)), strict=True):
        for other_run in every:
            _check_rule(rule, other_run, number)
    return rules


def _check_results(run: OpRun, count: int) -> None:
    if any(not isinstance(value, torch.Tensor) for value in run.made):
        raise Unfit("it returns something other than tensors, which is known only when it runs")
    if len(run.made) != count:
        raise Unfit("how many tensors it returns depends on its inputs")
    memory = [slot.of(run.given).untyped_storage().data_ptr() for slot in tensor_slots(run.given)]
    if any(value.numel() and value.untyped_storage().data_ptr() in memory for value in run.made):
        raise Unfit("it returns its input or a view of it; have it return a clone")
    if any(not value.is_contiguous() for value in run.made):
        raise Unfit("its results are not contiguous in memory")


def _check_rule(rule: ResultRule, run: OpRun, number: int) -> None:
    result = run.made[number]
    if rule.shape is not None:
        same = tuple(rule.shape.of(run.given)) == tuple(result.shape)
    else:
        pairs = (
            zip(rule.dims, result.shape, strict=True) if len(rule.dims) == result.dim() else None
        )
        same = pairs is not None and all(e is None or e.of(run.given) == s for e, s in pairs)
    dtype = rule.dtype.of(run.given) if rule.dtype else rule.source.of(run.given).dtype
    if not same or dtype != result.dtype:
        raise Unfit("no rule for its results holds at all tried sizes")


def _rule(runs: OpRuns, number: int) -> ResultRule:
    slots = tensor_slots(runs.shapes[0].given)
    if not slots:
        raise Unfit("it takes no tensor, so the sizes of its result cannot be inferred")
    dtype, source = _dtype(runs, number, slots)
    shape = _whole_shape(runs, number, slots, source)
    if shape is not None:
        return ResultRule(source, shape, (), dtype)
    ranks = {run.made[number].dim() for run in runs.shapes}
    if len(ranks) != 1:
        raise Unfit("how many dims its result has depends on its inputs")
    dims = tuple(_dim(runs, number, dim, slots) for dim in range(ranks.pop()))
    return ResultRule(source, None, dims, dtype)


def _dtype(runs: OpRuns, number: int, slots: list[Slot]) -> tuple[Expression | None, Slot]:
    every = [*runs.shapes, *runs.dtypes]
    devices = [
        slot
        for slot in slots
        if all(slot.of(run.given).device == run.made[number].device for run in every)
    ]
    if not devices:
        raise Unfit("its result is on another device than its inputs")
    for slot in devices:
        if all(slot.of(run.given).dtype == run.made[number].dtype for run in every):
            return None, slot
    items = {run.made[number].dtype for run in every}
    if len(items) == 1:
        (only,) = items
        return Expression(str(only), _constant(only)), devices[0]
    for one, other in combinations(slots, 2):
        text = f"torch.promote_types({one}.dtype, {other}.dtype)"
        promoted = Expression(text, _promote(one, other))
        if all(promoted.of(run.given) == run.made[number].dtype for run in every):
            return promoted, devices[0]
    raise Unfit("no rule was found for the dtype of its result")


def _whole_shape(runs: OpRuns, number: int, slots: list[Slot], source: Slot) -> Expression | None:
    same = [source, *(slot for slot in slots if slot != source)]
    candidates = [Expression(f"{slot}.shape", _shape(slot)) for slot in same]
    for one, other in combinations(slots, 2):
        text = f"torch.broadcast_shapes({one}.shape, {other}.shape)"
        candidates.append(Expression(text, _broadcast(one, other)))
    return next(
        (candidate for candidate in candidates if _holds(candidate, runs.shapes, number)), None
    )


def _constant(value: Any) -> Callable[[Given], Any]:
    return lambda given: value


def _promote(one: Slot, other: Slot) -> Callable[[Given], Any]:
    return lambda given: torch.promote_types(one.of(given).dtype, other.of(given).dtype)


def _shape(slot: Slot) -> Callable[[Given], Any]:
    return lambda given: tuple(slot.of(given).shape)


def _size(slot: Slot, dim: int) -> Callable[[Given], Any]:
    return lambda given: slot.of(given).shape[dim]


def _broadcast(one: Slot, other: Slot) -> Callable[[Given], Any]:
    def of(given: Given) -> Any:
        shapes = one.of(given).shape, other.of(given).shape
        try:
            return tuple(torch.broadcast_shapes(*shapes))  # type: ignore[no-untyped-call]
        except RuntimeError:
            return None

    return of


def _holds(whole: Expression, runs: list[OpRun], number: int) -> bool:
    return all(whole.of(run.given) == tuple(run.made[number].shape) for run in runs)


def _dim(runs: OpRuns, number: int, dim: int, slots: list[Slot]) -> Expression | None:
    """The rule of one size; None if it depends only on values."""
    wanted = [run.made[number].shape[dim] for run in runs.shapes]
    first = runs.shapes[0].made[number].shape[dim]
    if any(run.made[number].shape[dim] != first for run in runs.values):
        return None
    for candidate in _candidates(runs, slots, wanted):
        if all(
            candidate.of(run.given) == size for run, size in zip(runs.shapes, wanted, strict=True)
        ):
            return candidate
    raise Unfit(f"no rule was found for size {dim} of its result")


def _candidates(runs: OpRuns, slots: list[Slot], wanted: list[int]) -> Iterator[Expression]:
    """Candidates for a size, simplest first."""
    items = [run.given for run in runs.shapes]
    if len(set(wanted)) == 1:
        yield Expression(str(wanted[0]), _constant(wanted[0]))
    sizes, numbers = _sizes(items[0], slots), _numbers(items[0])
    basic = [*sizes, *numbers]
    yield from basic
    for expression in basic:
        yield from _lines(expression, items, wanted)
    for name in dict.fromkeys(slot.name for slot in slots if slot.element is not None):
        yield from _sums(name, slots, items[0])
    pairs = list(_pairs(basic, items))
    yield from pairs
    for pair in pairs:
        yield from _lines(_parenthesize(pair), items, wanted)
    for size in basic:
        for window, step in permutations(numbers, 2):  # as of a sliding window
            difference = _parenthesize(_combine(size, "-", window))
            if all(step.of(one) for one in items):
                yield _plus_one(_combine(difference, "//", step))


_TWO: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "*": operator.mul,
    "-": operator.sub,
    "//": operator.floordiv,
}


def _combine(left: Expression, sign: str, right: Expression) -> Expression:
    of = _TWO[sign]
    return Expression(
        f"{left.text} {sign} {right.text}", lambda given: of(left.of(given), right.of(given))
    )


def _parenthesize(one: Expression) -> Expression:
    return Expression(f"({one.text})", one.of)


def _plus_one(one: Expression) -> Expression:
    return Expression(f"{one.text} + 1", lambda given: one.of(given) + 1)


def _pairs(basic: list[Expression], given: list[Given]) -> Iterator[Expression]:
    for one, other in combinations(basic, 2):
        for sign in _TWO:
            both = [(one, other)] if sign in "+*" else [(one, other), (other, one)]
            for left, right in both:
                if sign != "//" or all(right.of(group) for group in given):
                    yield _combine(left, sign, right)


def _sizes(given: Given, slots: list[Slot]) -> list[Expression]:
    return [
        Expression(f"{slot}.shape[{dim}]", _size(slot, dim))
        for slot in slots
        for dim in range(slot.of(given).dim())
    ]


def _numbers(given: Given) -> list[Expression]:
    expressions = []
    for name, value in given.items():
        if isinstance(value, int) and not isinstance(value, bool):
            expressions.append(Expression(name, operator.itemgetter(name)))
        elif isinstance(value, tuple | list) and all(type(item) is int for item in value):
            expressions += [Expression(f"{name}[{i}]", _item(name, i)) for i in range(len(value))]
    return expressions


def _item(name: str, index: int) -> Callable[[Given], Any]:
    return lambda given: given[name][index]


def _lines(one: Expression, given: list[Given], wanted: list[int]) -> Iterator[Expression]:
    """`scale * value + offset`, and `(value + offset) // step`, through all runs."""
    points = sorted(set(zip([one.of(group) for group in given], wanted, strict=True)))
    (x0, y0), (x1, y1) = points[0], points[-1]
    if x0 == x1:
        return
    scale, left = divmod(y1 - y0, x1 - x0)
    if not left and scale:
        yield _linear(one, scale, y0 - scale * x0)
    for step in range(2, _LARGEST_STEP + 1):
        for offset in range(-step, step + 1):
            if all((x + offset) // step == y for x, y in points):
                yield _step_down(one, offset, step)
                return


_LARGEST_STEP = 8


def _linear(one: Expression, scale: int, offset: int) -> Expression:
    text = f"{scale} * {one.text}" if scale != 1 else one.text
    return Expression(_plus(text, offset), lambda given: scale * one.of(given) + offset)


def _step_down(one: Expression, offset: int, step: int) -> Expression:
    inner = f"({_plus(one.text, offset)})" if offset else one.text
    return Expression(f"{inner} // {step}", lambda given: (one.of(given) + offset) // step)


def _plus(text: str, offset: int) -> str:
    return f"{text} + {offset}" if offset > 0 else f"{text} - {-offset}" if offset else text


def _sums(name: str, slots: list[Slot], given: Given) -> Iterator[Expression]:
    """The sum of a size over a list of tensors, as of what is concatenated."""
    rank = min(slot.of(given).dim() for slot in slots if slot.name == name)
    for dim in range(rank):
        text = f"sum(each.shape[{dim}] for each in {name})"
        yield Expression(text, _sum(name, dim))


def _sum(name: str, dim: int) -> Callable[[Given], Any]:
    return lambda given: sum(value.shape[dim] for value in given[name])

"""Rules for the results of an op from its arguments, which hold in every run.

Simplest first: like an argument, the broadcast shape, then dim by dim a size of an argument, a
number, a multiple, a sum, a product; a size that depends only on values is left unbacked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, permutations
from types import CodeType
from typing import Any

import torch

from export_engine.fixes.fake_kernel_runs import Given, OpRun, OpRuns, Slot, tensor_slots
from export_engine.fixes.pytree_containers import Unfit
from export_engine.torch_internals import writes_to_arguments


@dataclass(frozen=True)
class Expression:
    """A value that follows from the arguments, as Python text."""

    text: str

    def of(self, given: Given) -> Any:
        """The value in a call."""
        names = {"torch": torch}  # the text is made here, of names in the op's schema
        return eval(_compile(self.text), names, dict(given))  # noqa: S307

    def find(self, given: Given) -> Any:
        """The value in a call; None where it has none, as a quotient by 0."""
        try:
            return self.of(given)
        except (ArithmeticError, LookupError, RuntimeError):
            return None


@lru_cache(maxsize=4096)
def _compile(text: str) -> CodeType:
    return compile(text, "<rule>", "eval")


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
        raise Unfit("the number of tensors that it returns depends on its inputs")
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
        raise Unfit("it has no tensor argument, so the sizes of its result cannot be inferred")
    dtype, source = _dtype(runs, number, slots)
    shape = _whole_shape(runs, number, slots, source)
    if shape is not None:
        return ResultRule(source, shape, (), dtype)
    ranks = {run.made[number].dim() for run in runs.shapes}
    if len(ranks) != 1:
        raise Unfit("the number of dims of its result depends on its inputs")
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
        raise Unfit("its result is on a different device from its inputs")
    for slot in devices:
        if all(slot.of(run.given).dtype == run.made[number].dtype for run in every):
            return None, slot
    items = {run.made[number].dtype for run in every}
    if len(items) == 1:
        (only,) = items
        return Expression(str(only)), devices[0]
    for one, other in combinations(slots, 2):
        promoted = Expression(f"torch.promote_types({one}.dtype, {other}.dtype)")
        if all(promoted.find(run.given) == run.made[number].dtype for run in every):
            return promoted, devices[0]
    raise Unfit("no rule was found for the dtype of its result")


def _whole_shape(runs: OpRuns, number: int, slots: list[Slot], source: Slot) -> Expression | None:
    same = [source, *(slot for slot in slots if slot != source)]
    candidates = [Expression(f"{slot}.shape") for slot in same]
    for one, other in combinations(slots, 2):
        candidates.append(Expression(f"torch.broadcast_shapes({one}.shape, {other}.shape)"))
    return next(
        (candidate for candidate in candidates if _holds(candidate, runs.shapes, number)), None
    )


def _holds(whole: Expression, runs: list[OpRun], number: int) -> bool:
    return all(whole.find(run.given) == tuple(run.made[number].shape) for run in runs)


def _dim(runs: OpRuns, number: int, dim: int, slots: list[Slot]) -> Expression | None:
    """The rule of one size; None if it depends only on values."""
    wanted = [run.made[number].shape[dim] for run in runs.shapes]
    first = runs.shapes[0].made[number].shape[dim]
    if any(run.made[number].shape[dim] != first for run in runs.values):
        return None
    for candidate in _candidates(runs, slots, wanted):
        if all(
            candidate.find(run.given) == size for run, size in zip(runs.shapes, wanted, strict=True)
        ):
            return candidate
    raise Unfit(f"no rule was found for size {dim} of its result")


def _candidates(runs: OpRuns, slots: list[Slot], wanted: list[int]) -> Iterator[Expression]:
    """Candidates for a size, simplest first."""
    items = [run.given for run in runs.shapes]
    if len(set(wanted)) == 1:
        yield Expression(str(wanted[0]))
    numbers = list(_numbers(items[0]))
    basic = [*_sizes(items[0], slots), *numbers]
    pairs = [
        f"{left} {sign} {right}"
        for one, other in combinations(basic, 2)
        for sign in ("+", "*", "-", "//")
        for left, right in ([(one, other)] if sign in "+*" else [(one, other), (other, one)])
    ]
    texts = [*basic]
    for text in basic:
        texts += _lines(text, items, wanted)
    for name in dict.fromkeys(slot.name for slot in slots if slot.element is not None):
        texts += _sums(name, slots, items[0])
    texts += pairs
    yield from map(Expression, texts)
    for text in pairs:
        yield from map(Expression, _lines(f"({text})", items, wanted))
    for size in basic:
        for window, step in permutations(numbers, 2):  # as of a sliding window
            yield Expression(f"({size} - {window}) // {step} + 1")


def _sizes(given: Given, slots: list[Slot]) -> Iterator[str]:
    for slot in slots:
        yield from (f"{slot}.shape[{dim}]" for dim in range(slot.of(given).dim()))


def _numbers(given: Given) -> Iterator[str]:
    for name, value in given.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield name
        elif isinstance(value, tuple | list) and all(type(item) is int for item in value):
            yield from (f"{name}[{index}]" for index in range(len(value)))


def _lines(text: str, given: list[Given], wanted: list[int]) -> Iterator[str]:
    """`scale * value + offset`, and `(value + offset) // step`, through all runs."""
    values = [Expression(text).find(group) for group in given]
    if None in values:
        return
    points = sorted(set(zip(values, wanted, strict=True)))
    (x0, y0), (x1, y1) = points[0], points[-1]
    if x0 == x1:
        return
    scale, left = divmod(y1 - y0, x1 - x0)
    if not left and scale:
        yield _plus(f"{scale} * {text}" if scale != 1 else text, y0 - scale * x0)
    for step in range(2, _LARGEST_STEP + 1):
        for offset in range(-step, step + 1):
            if all((x + offset) // step == y for x, y in points):
                yield f"({_plus(text, offset)}) // {step}" if offset else f"{text} // {step}"
                return


_LARGEST_STEP = 8


def _plus(text: str, offset: int) -> str:
    return f"{text} + {offset}" if offset > 0 else f"{text} - {-offset}" if offset else text


def _sums(name: str, slots: list[Slot], given: Given) -> Iterator[str]:
    """The sum of a size over a list of tensors, as of what is concatenated."""
    rank = min(slot.of(given).dim() for slot in slots if slot.name == name)
    for dim in range(rank):
        yield f"sum(each.shape[{dim}] for each in {name})"

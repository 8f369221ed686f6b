"""Infers a fake kernel of a custom op from runs of its real one.

The op runs as the model calls it, then with one thing changed at a time: a size wherever it occurs,
a size at one or two places, a number, the values, the dtype. Inputs that it rejects are left out.
A rule holds in every run. Simplest first: like an argument, the broadcast shape, then dim by dim a
size of an argument, a number, a multiple, a sum, a product; a size that depends only on values is
left unbacked.
"""

from __future__ import annotations

import inspect
import keyword
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import combinations, permutations
from types import CodeType
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Request
from export_engine.capture import model_kept
from export_engine.defects import log_internal_error, passing_over
from export_engine.registrations.pytree_containers import Unfit
from export_engine.torch_internals import (
    calls_of_op,
    op_signature,
    register_fake,
    writes_to_arguments,
)
from export_engine.traced_sizes import repeat_slices
from export_engine.verify import run

_FEWEST = 3
"""Runs at other sizes that a rule needs at least, where the op takes tensors with dims."""
_GROWTHS = (1, 3)
"""The increments of a size or a number."""
_MOST_PAIRS = 15
_MIXED = 6
"""Runs with all sizes changed at once."""
_LARGEST_STEP = 8
_Given = dict[str, Any]


@dataclass(frozen=True)
class FakeKernel:
    """A Setup: a fake kernel for one op."""

    op: str
    """`ns::name`, with its overload where that is not the default one."""
    code: str
    """The kernel as a user writes it."""
    kernel: Callable[..., Any] = field(compare=False, repr=False)
    stays = False
    """A program calls the op itself."""
    classes = ()
    """None: it is of an op."""

    @property
    def title(self) -> str:
        """Its effect, as an imperative."""
        return f"Give {self.op} a fake kernel"

    def statements(self, _: Callable[[type], str]) -> list[str]:
        """The kernel as a user writes it."""
        return [self.code]

    def install(self) -> Callable[[], None]:
        """Registers the kernel; returns the undo function."""
        return register_fake(self.op, self.kernel)


def infer_kernel(
    request: Request, op: str, overload: str = ""
) -> tuple[OpRuns, FakeKernel, tuple[_ResultRule, ...]]:
    """The kernel that explains every run, with the runs and its rules.

    Raises:
        Unfit: none does, or the op cannot be run.
    """
    runs = _runs_of(request, op, overload)
    if runs is None:
        raise Unfit("the model does not reach the op on the example")
    signature = op_signature(runs.overload)
    if any(keyword.iskeyword(parameter) for parameter in signature.parameters):
        raise Unfit("one of its arguments has a Python keyword as its name")
    rules = _rules_of(runs)
    first = runs.shapes[0]
    if any(value.dim() for value in first.made) and len(runs.shapes) < _FEWEST:
        raise Unfit("it accepts only the example's sizes, so no rule can be inferred")
    name = f"{op}.{overload}" if overload and overload != "default" else op
    kind = type(first.result) if isinstance(first.result, tuple | list) else None

    def kernel(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        context = torch.library.get_ctx
        fakes = [rule.make(bound.arguments, lambda: context().new_dynamic_size()) for rule in rules]
        if kind is not None:
            return fakes if issubclass(kind, list) else tuple(fakes)
        return fakes[0] if fakes else None

    return runs, FakeKernel(name, _code(name, signature, rules, kind), kernel), rules


def _code(
    name: str, signature: inspect.Signature, rules: tuple[_ResultRule, ...], kind: type | None
) -> str:
    names = [f"size{n}" for n in range(sum(rule.dims.count(None) for rule in rules))]
    left = iter(names)
    texts = [rule.text(left) for rule in rules]
    result = texts[0] if texts else "None"
    if kind is not None:
        result = f"[{', '.join(texts)}]" if issubclass(kind, list) else _as_tuple(texts)
    body = [f"{text} = torch.library.get_ctx().new_dynamic_size()" for text in names]
    lines = [f'@torch.library.register_fake("{name}")', f"def _{signature}:"]
    return "\n".join([*lines, *(f"    {line}" for line in [*body, f"return {result}"])])


def _as_tuple(texts: list[str]) -> str:
    return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"


# -- runs ----------------------------------------------------------------------------------------


class _Slot(NamedTuple):
    """Where a tensor is among the arguments: `x`, or `xs[1]`."""

    name: str
    element: int | None = None

    def of(self, given: _Given) -> Any:
        """The tensor in a call's arguments."""
        return given[self.name] if self.element is None else given[self.name][self.element]

    def __str__(self) -> str:
        return self.name if self.element is None else f"{self.name}[{self.element}]"


class _OpRun(NamedTuple):
    """One call: the arguments by name, and what came back."""

    given: _Given
    result: Any
    wrote: str = ""
    """An argument that the call wrote to."""

    @property
    def made(self) -> list[Any]:
        """The results, of which there may be one, several or none."""
        if isinstance(self.result, tuple | list):
            return list(self.result)
        return [] if self.result is None else [self.result]


class OpRuns(NamedTuple):
    """All runs of an op."""

    overload: Any
    shapes: list[_OpRun]
    """As the model calls it first, then with other sizes and numbers."""
    values: list[_OpRun]
    """With the first one's sizes, and other values."""
    dtypes: list[_OpRun]
    """With other dtypes, and the first one's sizes."""
    further: list[_OpRun]
    """With several sizes changed at once: a test set, not used for inference."""

    @property
    def every(self) -> list[_OpRun]:
        """All of them."""
        return [*self.shapes, *self.values, *self.dtypes, *self.further]


def _tensor_slots(given: _Given) -> list[_Slot]:
    """Where the tensors are among arguments."""
    slots: list[_Slot] = []
    for name, value in given.items():
        if isinstance(value, torch.Tensor):
            slots.append(_Slot(name))
        elif isinstance(value, tuple | list):
            slots += [_Slot(name, i) for i, item in enumerate(value) if torch.is_tensor(item)]
    return slots


def _runs_of(request: Request, name: str, overload: str) -> OpRuns | None:
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
    called, arguments, _ = items[0]
    first = _run(called, arguments)
    if first is None:
        return None
    others = [group for _, group, _ in items[1:4]]

    def run_all(*every: Iterator[_Given]) -> list[_OpRun]:
        runs = (_run(called, group) for groups in every for group in groups)
        return [result for result in runs if result is not None]

    return OpRuns(
        called,
        [first, *run_all(iter(others), _vary_sizes(arguments), _vary_numbers(arguments))],
        run_all(_vary_values(arguments)),
        run_all(_vary_dtypes(arguments)),
        run_all(_vary_all_sizes(arguments)),
    )


def _run(called: Any, given: _Given) -> _OpRun | None:
    """A run on copies; None if the op rejects them."""
    own = {name: _copy(value) for name, value in given.items()}
    try:
        with torch.no_grad(), torch.random.fork_rng(devices=[]):
            result = called(**own)
    except Exception as error:  # noqa: BLE001 - the op may refuse its inputs by whatever it likes
        log_internal_error(error, "running a custom op")
        return None
    wrote = [slot for slot in _tensor_slots(given) if not _same(slot.of(given), slot.of(own))]
    return _OpRun(own, result, str(wrote[0]) if wrote else "")


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return [_copy(item) for item in value] if isinstance(value, tuple | list) else value


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return torch.equal(torch.nan_to_num(one.detach()), torch.nan_to_num(other))


def _find_places(given: _Given) -> dict[int, list[tuple[_Slot, int]]]:
    """By size: the dims of tensors that have it."""
    places: dict[int, list[tuple[_Slot, int]]] = {}
    for slot in _tensor_slots(given):
        for dim, size in enumerate(slot.of(given).shape):
            places.setdefault(size, []).append((slot, dim))
    return places


def _vary_sizes(given: _Given) -> Iterator[_Given]:
    for size, same in _find_places(given).items():
        groups = [tuple(same), *((place,) for place in same), *combinations(same, 2)]
        for group in list(dict.fromkeys(groups))[: 1 + len(same) + _MOST_PAIRS]:
            for growth in _GROWTHS:
                yield _with_sizes(given, dict.fromkeys(group, size + growth))


def _vary_all_sizes(given: _Given) -> Iterator[_Given]:
    """All sizes changed to distinct values, equal ones alike."""
    draw, places = random.Random(0), _find_places(given)
    for _ in range(_MIXED):
        new = {size: size + draw.randint(1, 7) for size in sorted(places)}
        yield _with_sizes(given, {p: new[size] for size, same in places.items() for p in same})


def _with_sizes(given: _Given, places: dict[tuple[_Slot, int], int]) -> _Given:
    for (slot, dim), size in places.items():
        given = _map_tensors(given, partial(repeat_slices, dim=dim, size=size), slot)
    return given


def _vary_numbers(given: _Given) -> Iterator[_Given]:
    for name, value in given.items():
        if type(value) is int:
            yield from ({**given, name: value + growth} for growth in _GROWTHS)
        elif isinstance(value, tuple | list) and all(type(v) is int for v in value):
            for index in range(len(value)):
                for growth in _GROWTHS:
                    yield {**given, name: [v + growth * (i == index) for i, v in enumerate(value)]}


def _vary_values(given: _Given) -> Iterator[_Given]:
    """Other values: the order turned, the sign, all the same, half of them zero."""
    changes: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
        lambda value: value.flip(list(range(value.dim()))),
        lambda value: ~value if value.dtype is torch.bool else -value,
        torch.zeros_like,
        torch.ones_like,
        _half,
    )
    for change in changes:
        for only in [None, *_tensor_slots(given)]:
            with passing_over("changing the inputs of an op"):
                yield _map_tensors(given, change, only)


def _half(value: torch.Tensor) -> torch.Tensor:
    keep = torch.arange(value.numel(), device=value.device).reshape(value.shape) % 2
    return value * keep.to(value.dtype)


def _vary_dtypes(given: _Given) -> Iterator[_Given]:
    """Other dtypes, of all tensors or of one argument; tensors in a list are of one dtype."""
    alone = [slot for slot in _tensor_slots(given) if slot.element is None]
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        for only in [None, *alone]:
            yield _map_tensors(given, partial(_as, dtype), only)


def _as(dtype: torch.dtype, value: torch.Tensor) -> torch.Tensor:
    return value.to(dtype) if value.is_floating_point() else value


def _map_tensors(
    given: _Given, change: Callable[[torch.Tensor], torch.Tensor], only: _Slot | None
) -> _Given:
    changed = {k: list(v) if isinstance(v, tuple | list) else v for k, v in given.items()}
    for slot in _tensor_slots(given) if only is None else [only]:
        tensor = change(slot.of(given).detach())
        if slot.element is None:
            changed[slot.name] = tensor
        else:
            changed[slot.name][slot.element] = tensor
    return changed


# -- rules ---------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _compile(text: str) -> CodeType:
    return compile(text, "<rule>", "eval")


def _evaluate(text: str, given: _Given) -> Any:
    """The value of an expression in a call; its text is made here, of names in the op's schema."""
    return eval(_compile(text), {"torch": torch}, dict(given))  # noqa: S307


_NO_VALUE = (ArithmeticError, LookupError, RuntimeError)


def _holds(text: str, runs: list[_OpRun], wanted: list[Any]) -> bool:
    """Whether an expression has the wanted value in each run; a quotient by 0 has none."""
    with suppress(*_NO_VALUE):
        return all(_evaluate(text, r.given) == value for r, value in zip(runs, wanted, strict=True))
    return False


class _ResultRule(NamedTuple):
    """The rule of one result, in expressions of the arguments."""

    source: _Slot
    """The argument whose device it has, and its dtype unless one is given."""
    shape: str | None
    """The sizes of all dims at once."""
    dims: tuple[str | None, ...]
    """One for each dim, where none is for all; None is a data-dependent size."""
    dtype: str | None

    def text(self, sizes: Iterator[str]) -> str:
        """As Python: `x.new_empty((x.shape[0], 3))`."""
        shape = self.shape or _as_tuple([dim or next(sizes) for dim in self.dims])
        return f"{self.source}.new_empty({shape}{f', dtype={self.dtype}' if self.dtype else ''})"

    def make(self, given: _Given, size: Callable[[], Any]) -> torch.Tensor:
        """The fake result."""
        sizes = [size() if dim is None else _evaluate(dim, given) for dim in self.dims]
        shape = _evaluate(self.shape, given) if self.shape else sizes
        dtype = _evaluate(self.dtype, given) if self.dtype else None
        tensor: torch.Tensor = self.source.of(given).new_empty(shape, dtype=dtype)
        return tensor


def _rules_of(runs: OpRuns) -> tuple[_ResultRule, ...]:
    """One rule for each result.

    Raises:
        Unfit: there is none that holds in every run, or the op is not one that has a fake kernel.
    """
    count = len(runs.shapes[0].made)
    wrote = next((item.wrote for item in runs.every if item.wrote), "")
    if wrote and not writes_to_arguments(runs.overload):
        raise Unfit(f"it mutates its argument `{wrote}`, which its schema does not declare")
    for item in runs.every:
        _check_results(item, count)
    rules = tuple(_rule(runs, number) for number in range(count))
    if not all(_is_kept(r, e, n) for n, r in enumerate(rules) for e in runs.every):
        raise Unfit("no rule for its results holds at all tried sizes")
    return rules


def _check_results(run: _OpRun, count: int) -> None:
    if any(not isinstance(value, torch.Tensor) for value in run.made):
        raise Unfit("it returns a value that is not a tensor and is known only at run time")
    if len(run.made) != count:
        raise Unfit("the number of tensors that it returns depends on its inputs")
    memory = [slot.of(run.given).untyped_storage().data_ptr() for slot in _tensor_slots(run.given)]
    if any(value.numel() and value.untyped_storage().data_ptr() in memory for value in run.made):
        raise Unfit("it returns its input or a view of it; have it return a clone")
    if any(not value.is_contiguous() for value in run.made):
        raise Unfit("its results are not contiguous in memory")


def _is_kept(rule: _ResultRule, run: _OpRun, number: int) -> bool:
    """Whether a run gave what a rule says."""
    result = run.made[number]
    unknown = iter([s for s, dim in zip(result.shape, rule.dims, strict=False) if dim is None])
    with suppress(*_NO_VALUE):
        fake = rule.make(run.given, lambda: next(unknown, 0))
        return (fake.shape, fake.dtype) == (result.shape, result.dtype)
    return False


def _rule(runs: OpRuns, number: int) -> _ResultRule:
    slots = _tensor_slots(runs.shapes[0].given)
    if not slots:
        raise Unfit("it has no tensor argument, so the sizes of its result cannot be inferred")
    dtype, source = _dtype(runs, number, slots)
    wanted = [tuple(run.made[number].shape) for run in runs.shapes]
    texts = [f"{slot}.shape" for slot in dict.fromkeys([source, *slots])]
    texts += [f"torch.broadcast_shapes({a}.shape, {b}.shape)" for a, b in combinations(slots, 2)]
    for text in texts:
        if _holds(text, runs.shapes, wanted):
            return _ResultRule(source, text, (), dtype)
    if len({*map(len, wanted)}) != 1:
        raise Unfit("the number of dims of its result depends on its inputs")
    dims = tuple(_dim(runs, number, dim, slots) for dim in range(len(wanted[0])))
    return _ResultRule(source, None, dims, dtype)


def _dtype(runs: OpRuns, number: int, slots: list[_Slot]) -> tuple[str | None, _Slot]:
    every = [*runs.shapes, *runs.dtypes]
    results = [run.made[number] for run in every]
    pairs = list(zip(every, results, strict=True))
    devices = [s for s in slots if all(s.of(run.given).device == r.device for run, r in pairs)]
    if not devices:
        raise Unfit("its result is on a different device from its inputs")
    for slot in devices:
        if all(slot.of(run.given).dtype == result.dtype for run, result in pairs):
            return None, slot
    promoted = (f"torch.promote_types({a}.dtype, {b}.dtype)" for a, b in combinations(slots, 2))
    for text in (str(results[0].dtype), *promoted):
        if _holds(text, every, [result.dtype for result in results]):
            return text, devices[0]
    raise Unfit("no rule was found for the dtype of its result")


def _dim(runs: OpRuns, number: int, dim: int, slots: list[_Slot]) -> str | None:
    """The rule of one size; None if it depends only on values."""
    wanted = [run.made[number].shape[dim] for run in runs.shapes]
    if any(run.made[number].shape[dim] != wanted[0] for run in runs.values):
        return None
    for text in _candidates(runs, slots, wanted):
        if _holds(text, runs.shapes, wanted):
            return text
    raise Unfit(f"no rule was found for size {dim} of its result")


def _candidates(runs: OpRuns, slots: list[_Slot], wanted: list[int]) -> Iterator[str]:
    """Candidates for a size, simplest first."""
    items = [run.given for run in runs.shapes]
    if len(set(wanted)) == 1:
        yield str(wanted[0])
    numbers = list(_numbers(items[0]))
    sizes = [f"{slot}.shape[{dim}]" for slot in slots for dim in range(slot.of(items[0]).dim())]
    basic = [*sizes, *numbers]
    pairs = [
        f"{left} {sign} {right}"
        for one, other in combinations(basic, 2)
        for sign in ("+", "*", "-", "//")
        for left, right in ([(one, other)] if sign in "+*" else [(one, other), (other, one)])
    ]
    yield from basic
    for text in basic:
        yield from _lines(text, items, wanted)
    for name in dict.fromkeys(slot.name for slot in slots if slot.element is not None):
        rank = min(slot.of(items[0]).dim() for slot in slots if slot.name == name)
        for dim in range(rank):  # summed over a list of tensors, as of what is concatenated
            yield f"sum(each.shape[{dim}] for each in {name})"
    yield from pairs
    for text in pairs:
        yield from _lines(f"({text})", items, wanted)
    for size in basic:
        for window, step in permutations(numbers, 2):  # as of a sliding window
            yield f"({size} - {window}) // {step} + 1"


def _numbers(given: _Given) -> Iterator[str]:
    for name, value in given.items():
        if type(value) is int:
            yield name
        elif isinstance(value, tuple | list) and all(type(item) is int for item in value):
            yield from (f"{name}[{index}]" for index in range(len(value)))


def _lines(text: str, given: list[_Given], wanted: list[int]) -> Iterator[str]:
    """`scale * value + offset`, and `(value + offset) // step`, through all runs."""
    with suppress(*_NO_VALUE):
        values = [_evaluate(text, group) for group in given]
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


def _plus(text: str, offset: int) -> str:
    return f"{text} + {offset}" if offset > 0 else f"{text} - {-offset}" if offset else text

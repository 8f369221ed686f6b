"""Requested shapes that do not hold, and the lines responsible."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, product
from math import gcd, isqrt
from typing import Any, Literal

from export_engine.shapes import LARGEST, Bounds, Named
from export_engine.sizes import Condition, Progression, compile_condition
from export_engine.source import Stack, in_the_model
from export_engine.torch_internals import linear_in, symbol_printer
from export_engine.traced_sizes.condition_causes import (
    fixing_condition,
    function_of,
    joining_condition,
)
from export_engine.traced_sizes.trace_facts import InputDim, SizeCondition, SizeFacts

_MOST_COMBINATIONS = 2000
_MOST_TRIED = 3


_LONGEST = 90
CLOSEST = " (the closest that a Dim can express: "
"""Begins what a Dim can express of a condition that it cannot."""
TRIED = ", judging by sizes near the example"
"""Ends what was found by trying sizes."""


LEAST = 2
"""torch specializes on 0 and 1: a dynamic size is 2 or more while tracing."""


@dataclass(frozen=True)
class ShapeViolation:
    """A request that does not hold."""

    kind: Literal["fixed", "zero-one", "equal", "derived", "multiple", "range", "tied"]
    text: str
    """A clause in the user's terms: `batch must be at most 16`."""
    dims: tuple[InputDim, ...]
    stack: Stack = ()
    """The responsible line."""
    condition: str = ""
    """The line's condition, in the user's terms."""
    excluded: tuple[int, ...] = ()
    """Some requested sizes that it excludes, to try them."""
    changed: tuple[InputDim, ...] = ()
    """The dims to try them on, if not on all."""
    asked_by: str = ""
    """The op of the line that asked for it; empty for the code itself."""

    @property
    def lossy(self) -> bool:
        """Whether a requested dim cannot vary at all."""
        return self.kind in ("fixed", "zero-one")


def _line(problem: ShapeViolation) -> int:
    return problem.stack[-1].line if problem.stack else 0


def alone(facts: SizeFacts, root: Any) -> list[SizeCondition]:
    """The conditions on one root symbol and no other."""
    return [
        condition for condition in facts.conditions if condition.condition.free_symbols == {root}
    ]


def problems_of(facts: SizeFacts, roots: Mapping[Any, Progression]) -> list[ShapeViolation]:
    """Every problem, in the order of the responsible lines.

    Args:
        facts: what a trace found out.
        roots: the sizes that each root symbol may have.
    """
    return sorted(_problems(facts, roots), key=lambda problem: (_line(problem), problem.text))


def _problems(facts: SizeFacts, roots: Mapping[Any, Progression]) -> Iterable[ShapeViolation]:
    groups: dict[Any, InputDim] = {}
    for dim in facts.dims:
        if dim.fixed or _is_fixed_root(dim, roots):
            yield _make_specialized_problem(facts, dim, roots)
            continue
        yield from _find_equal_dims(facts, dim, groups)
    for root, sizes in roots.items():
        if not sizes.single:
            yield from _find_excluded_sizes(facts, root, sizes)
    yield from _find_tied_sizes(facts, roots)


def _is_fixed_root(dim: InputDim, roots: Mapping[Any, Progression]) -> bool:
    symbols = dim.value.free_symbols
    return len(symbols) == 1 and all(roots[root].single for root in symbols)


def _make_specialized_problem(
    facts: SizeFacts, dim: InputDim, roots: Mapping[Any, Progression]
) -> ShapeViolation:
    name = name_of(dim)
    root = root_size(dim)
    if root in (0, 1) and not getattr(dim.value, "free_symbols", None):
        message = f"{name} is {root} in the example"
        if isinstance(dim.wanted, Named) and dim.wanted.derived:
            message = f"{dim.wanted.name} is {root} in the example ({name} is computed from it)"
        text = f"{message}, and torch specializes on 0 and 1"
        return ShapeViolation("zero-one", text, (dim,))
    cause = fixing_condition(facts, dim)
    problem = _with_cause(facts, "fixed", f"{name} can only be {dim.example}", (dim,), cause)
    return replace(problem, excluded=_others(facts, dim))


def root_size(dim: InputDim) -> int:
    """The example's size of what a dim is made of: of `h` for `32 * h`, else its own."""
    wanted = dim.wanted
    if not isinstance(wanted, Named):
        return dim.example
    return (dim.example - wanted.offset) // wanted.scale


def _others(facts: SizeFacts, dim: InputDim) -> tuple[int, ...]:
    """Some requested sizes besides the example's; if that is on a grid, also a different grid's."""
    asked = _find_requested_bounds(facts, dim)
    low, high = max(asked.low or 0, LEAST), asked.high
    near = (dim.example + 1, 2 * dim.example, *_grids_like(dim.example), dim.example - 1)
    return tuple(size for size in near if size >= low and (high is None or size <= high))


def _grids_like(size: int) -> tuple[int, ...]:
    """The next size of a square grid, `n * n`, or of one with a token beside it."""
    for more in (0, 1):
        root = isqrt(max(size - more, 0))
        if root > 1 and root * root == size - more:
            return ((root + 1) ** 2 + more,)
    return ()


def _find_equal_dims(
    facts: SizeFacts, dim: InputDim, groups: dict[Any, InputDim]
) -> Iterable[ShapeViolation]:
    """A dim that must be equal to, or a formula of, one before it that has another name."""
    if len(dim.value.free_symbols) != 1:
        return
    (root,) = dim.value.free_symbols
    first = groups.setdefault(root, dim)
    if first is dim or _says_so(first, dim):
        return
    base, line = linear_in(first.value, root), linear_in(dim.value, root)
    cause = joining_condition(facts, first, dim)
    if base is None or line is None:
        return
    if base == line:
        text = f"{name_of(dim)} must be equal to {name_of(first)}"
        problem = _with_cause(facts, "equal", text, (first, dim), cause)
        low = _find_requested_bounds(facts, dim).low or 0
        excluded = (1,) if low <= 1 and dim.example > 1 else ()  # which broadcasting takes
        yield replace(problem, excluded=excluded, changed=(dim,))
    else:
        text = f"{name_of(dim)} must be {_formula(base, line, name_of(first))}"
        yield _with_cause(facts, "derived", text, (first, dim), cause)


def _says_so(first: InputDim, dim: InputDim) -> bool:
    """Whether the requested Shapes already relate the two."""
    one, other = first.wanted, dim.wanted
    return not (isinstance(one, Named) and isinstance(other, Named)) or one.name == other.name


def _formula(base: tuple[int, int], line: tuple[int, int], name: str) -> str:
    """`line` in terms of `base`, where it comes out whole; else in words."""
    (scale, offset), (other_scale, other_offset) = base, line
    if other_scale % scale == 0:
        factor = other_scale // scale
        rest = other_offset - factor * offset
        head = name if factor == 1 else f"{factor} * {name}"
        return head if rest == 0 else f"{head} {'+' if rest > 0 else '-'} {abs(rest)}"
    return f"tied to {name}"


def _find_excluded_sizes(
    facts: SizeFacts, root: Any, sizes: Progression
) -> Iterable[ShapeViolation]:
    """Conditions that exclude some requested sizes, one problem per line."""
    dims = tuple(dim for dim in facts.dims if dim.value == root) or tuple(
        dim for dim in facts.dims if root in getattr(dim.value, "free_symbols", ())
    )
    if not dims:
        return
    asked = _find_requested_bounds(facts, dims[0])
    low = max(asked.low or 0, LEAST)
    refuses_low = sizes.first > low
    refuses_high = sizes.last is not None and (asked.high is None or asked.high > sizes.last)
    if not (refuses_low or refuses_high or sizes.step > 1):
        return
    name = name_of(dims[0])
    if linear_in(dims[0].value, root) != (1, 0):
        name = facts.text(root)
    conditions = [function_of(condition.condition, root) for condition in alone(facts, root)]
    beyond = _just_outside(sizes, low, asked.high)
    refused = [size for size in beyond if not all(holds(size) for holds in conditions)]
    message = f"be {describe_sizes(sizes, low)}"
    if sizes.last == LARGEST and sizes.step == 1 and not refuses_low:
        message = "be at most 2**63 - 1, which every size is"
    telling = sizes.exact or sizes.step <= _NEAR
    if beyond and not refused and _with_others(facts, root):
        return  # what excludes them is a condition on several sizes
    if len(refused) < len(beyond):
        closest = f"{CLOSEST}{describe_sizes(sizes, low)})" if telling else ""
        message = f"{_describe_excluded(refused, beyond)}{closest}"
    text = f"{name} must {message}"
    if telling and not sizes.exact:
        text += TRIED
    kind: Literal["multiple", "range"] = "multiple" if sizes.step > 1 else "range"
    whole = all(dim.value == root for dim in dims)
    seen: set[Stack] = set()
    for condition, own in sorted(_refusals(facts, root, beyond), key=lambda pair: -len(pair[1])):
        line = in_the_model(condition.stack)
        if line not in seen:
            seen.add(line)
            excluded = own if whole else ()
            yield replace(_with_cause(facts, kind, text, dims, condition), excluded=excluded)
    if not seen:
        excluded = tuple(refused) if whole else ()
        yield replace(_with_cause(facts, kind, text, dims, None), excluded=excluded)


def _refusals(
    facts: SizeFacts, root: Any, sizes: list[int]
) -> Iterator[tuple[SizeCondition, tuple[int, ...]]]:
    """The conditions on a size that some sizes do not fulfil, each with those."""
    for condition in alone(facts, root):
        holds = function_of(condition.condition, root)
        own = tuple(size for size in sizes if not holds(size))
        if own:
            yield condition, own


def _with_others(facts: SizeFacts, root: Any) -> bool:
    """Whether a condition is about a root symbol and others."""
    return any(
        root in condition.condition.free_symbols and len(condition.condition.free_symbols) > 1
        for condition in facts.conditions
    )


def _describe_excluded(sizes: list[int], beyond: list[int]) -> str:
    """A requirement on a size that no Dim can express: other sizes are rejected."""
    step = gcd(*(size - sizes[0] for size in sizes)) if len(sizes) > 1 else 0
    rest = sizes[0] % step if step else 0
    if not step or any(size % step == rest for size in set(beyond) - set(sizes)):
        return "be a size for which the condition holds"
    return f"not be {_steps(step, rest)}"


_NEAR = 32
"""How far from the first size that holds others are tried."""


def _just_outside(sizes: Progression, low: int, high: int | None) -> list[int]:
    """Requested sizes that are excluded: between those that hold, else next to a bound."""
    first, last, step = sizes.first, sizes.last, sizes.step
    if step > 1:
        return [first + number for number in range(1, max(2 * step, _NEAR)) if number % step]
    below = [first - 1] if first > low else []
    above = [last + 1] if last is not None and (high is None or last < high) else []
    return below + above


def _find_requested_bounds(facts: SizeFacts, dim: InputDim) -> Bounds:
    if isinstance(dim.wanted, Named):
        return facts.shapes.bounds.get(dim.wanted.name, Bounds())
    return Bounds(getattr(dim.wanted, "low", None), getattr(dim.wanted, "high", None))


def _find_tied_sizes(
    facts: SizeFacts, roots: Mapping[Any, Progression]
) -> Iterable[ShapeViolation]:
    """Conditions on several sizes, which no Dim can express and which exclude some."""
    seen: set[str] = set()
    for condition in facts.conditions:
        symbols = sorted(condition.condition.free_symbols, key=str)
        text = facts.text(condition.condition)
        if len(symbols) < 2 or text in seen or not roots.keys() >= set(symbols):
            continue
        seen.add(text)
        if _always_holds(condition.condition, symbols, roots):
            continue
        about = condition.condition.free_symbols
        dims = tuple(d for d in facts.dims if getattr(d.value, "free_symbols", set()) & about)
        changed, excluded = _breaking(facts, condition.condition, symbols)
        stack = in_the_model(condition.stack)
        yield ShapeViolation("tied", f"{text} must hold", dims, stack, text, excluded, changed)


def _breaking(
    facts: SizeFacts, condition: Any, symbols: list[Any]
) -> tuple[tuple[InputDim, ...], tuple[int, ...]]:
    """The dims of one size, and some values of it at which a condition on several fails."""
    names = {str(symbol): f"size{number}" for number, symbol in enumerate(symbols)}
    holds = compile_condition(symbol_printer(names)(condition), *names.values())
    if not all(symbol in facts.examples for symbol in symbols):
        return (), ()
    example = [facts.examples[symbol] for symbol in symbols]
    for place, symbol in enumerate(symbols):
        dims = tuple(dim for dim in facts.dims if dim.value == symbol)
        near = (example[place] + far * way for far in range(1, _NEAR) for way in (1, -1))
        refused = (
            size
            for size in near
            if size >= LEAST and not holds(*example[:place], size, *example[place + 1 :])
        )
        numbers = tuple(islice(refused, _MOST_TRIED))
        if dims and numbers:
            return dims, numbers
    return (), ()


def _always_holds(condition: Any, symbols: list[Any], roots: Mapping[Any, Progression]) -> bool:
    """Whether a condition holds for the combinations tried of sizes that are each allowed."""
    names = {str(symbol): f"size{number}" for number, symbol in enumerate(symbols)}
    holds = compile_condition(symbol_printer(names)(condition), *names.values())
    return _holds_for(holds, tuple(roots[symbol] for symbol in symbols))


@lru_cache(maxsize=1024)
def _holds_for(condition: Condition, allowed: tuple[Progression, ...]) -> bool:
    """Whether it holds for the combinations that are tried; a search asks after each export."""
    tried = product(*(sizes.some() for sizes in allowed))
    return all(condition(*sizes) for sizes in islice(tried, _MOST_COMBINATIONS))


def _with_cause(
    facts: SizeFacts, kind: Any, text: str, dims: tuple[InputDim, ...], cause: SizeCondition | None
) -> ShapeViolation:
    if cause is None:
        return ShapeViolation(kind, text, dims)
    condition = truncate_condition(facts.text(cause.recorded))
    stack = in_the_model(cause.stack)
    return ShapeViolation(kind, text, dims, stack, condition, asked_by=cause.asked_by)


def name_of(dim: InputDim) -> str:
    """The name of a dim: its Dim's name, else `x.shape[0]`."""
    spec = dim.wanted
    if isinstance(spec, Named) and not spec.derived:
        return spec.name
    return str(dim.place)


def list_tied_names(problem: ShapeViolation) -> str:
    """For a condition on several sizes that is too long to be read, the sizes: `h and w`; or ''."""
    if problem.kind != "tied" or len(problem.condition) <= _LONGEST:
        return ""
    *others, last = sorted(dict.fromkeys(map(name_of, problem.dims)))
    return f"{', '.join(others)} and {last}" if others else last


def truncate_condition(condition: str) -> str:
    """A condition, shortened."""
    return condition if len(condition) <= _LONGEST else f"{condition[: _LONGEST - 1]}…"


def _steps(step: int, rest: int) -> str:
    """Which numbers leave a rest when divided by a step."""
    if rest == 0:
        return f"a multiple of {step}"
    return "odd" if step == 2 else f"{rest} more than a multiple of {step}"


def describe_sizes(sizes: Progression, low: int) -> str:
    """Sizes in words: `at most 16`, `a multiple of 4`, `odd`, `from 2 to 16`."""
    first, last, step = sizes.first, sizes.last, sizes.step
    parts = []
    if step > 1:
        parts.append(_steps(step, first % step))
    if last is not None and first > low and step == 1:
        parts.append(f"from {first} to {last}")
    elif last is not None:
        parts.append(f"at most {last}")
    elif first > max(low, step + first % step):
        parts.append(f"at least {first}")
    return ", ".join(parts) or "any size"

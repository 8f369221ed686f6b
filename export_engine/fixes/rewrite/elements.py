"""What is taken from a tensor, a list or a dict at a place that only the program knows."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true

from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rewrite.facts import Facts, Masked, Rows, describe
from export_engine.fixes.rewrite.form import Site

_torch: Any = torch  # whose functions of symbols have no types
_MOST_ROWS = 16
"""Up to which number of rows a test is tried."""


class Key:
    """The text of a number that only the program knows."""

    def __init__(self, number: torch.Tensor) -> None:
        self.number = number


class Chosen:
    """One of several modules or functions, by a number that only the program knows."""

    def __init__(self, every: list[Any]) -> None:
        self.every = every

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """The output of one; those of all have to be alike."""
        return find_alike([value(*args, **keywords) for value in self.every])


class Region(NamedTuple):
    """The elements that an assignment to slices with data-dependent ends writes."""

    places: tuple[int, ...]
    """The positions of these slices in the index."""
    dims: tuple[int, ...]
    """The dim of each slice in the written elements."""
    rank: int
    """The number of dims of the written elements."""
    numbers: tuple[int, ...]
    """The places of numbers that only the program knows."""
    value: int | None
    """How many dims the value has; None for a number of Python's."""
    is_cut: bool
    """Whether the value is as long as one of the slices."""
    tensors: tuple[tuple[bool, bool], ...]
    """Whether the two ends of each slice are tensors."""


class Elements:
    """The part of a probe that is about elements."""

    facts: Facts
    depth: int
    counts: list[tuple[Any, Any, Any]]
    steps: list[tuple[Any, Any, int]]
    """Ends of slices: the number, the number of a loop, and their difference."""
    is_in_loop: bool
    is_guarded: bool
    """Whether a part of a test is run that eager leaves out where an earlier part decides."""
    watch: Any
    held: list[Any]
    """What is known to hold here: of the choices around, their tests or the opposites."""

    def item(self, site: Site, of: Any, index: Any) -> Any:
        """`of[index]`."""
        if isinstance(of, Rows):
            if isinstance(index, slice) and index == slice(None, None, -1):
                self.facts.notes[site] = ("turned", (), 0)
                return Rows(of.piece, of.values.flip(0), is_masked=of.is_masked, loop=of.loop)
            if isinstance(index, int | torch.SymInt):
                return of.piece
            return of.values[index]
        if isinstance(index, Key):
            return self._choose_by_key(site, of, index)
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, Rows) for part in parts):
            parts = tuple(part.values if isinstance(part, Rows) else part for part in parts)
            index = parts if isinstance(index, tuple) else parts[0]
        if not isinstance(of, torch.Tensor):
            if isinstance(index, torch.Tensor) and hasattr(of, "__len__"):
                return self._choose_from_list(site, of)
            return of[index]
        if stacks := find_stacks(index):
            self.facts.notes[site] = (find_stacking(parts, stacks), stacks, 0)
            return of[stack_parts(index, stacks)]
        if sliced := find_sliced(index):
            if find_scalar_places(index) == (0,):
                return self._cut_row(site, of, parts)
            if (width := self._find_width(of, parts, sliced)) is not None:
                self.facts.notes[site] = ("window", sliced, width)
                if width == 1 and self._is_whole(of, parts, sliced[0]):
                    self.facts.notes[site] = ("one", sliced, width)
                at = torch.zeros(width, dtype=torch.int64, device=of.device)
                return of.index_select(sliced[0], at)
            return of[self._clamp_slices(site, index, sliced)]
        if places := find_scalar_places(index):
            self.watch.may_raise |= not self.is_guarded
            kind = "guarded" if self.is_guarded else "item"
            self.facts.notes[site] = (kind, places, of.dim())
            if self._is_whole(of, parts, places[0]):
                self.facts.notes[site] = ("row", places, of.dim())
            return of[tuple(0 if at in places else part for at, part in enumerate(parts))]
        if self.depth and (row := self._unsure_row(site, of, index)) is not None:
            self.facts.notes[site] = ("padded", row, of.dim())
            zeros = of.new_zeros((_count_rows(row), *of.shape[1:]))
            return torch.cat([of, zeros] if row >= 0 else [zeros, of])[index]
        return of[index]

    def _cut_row(self, site: Site, of: torch.Tensor, parts: tuple[Any, ...]) -> Any:
        """`of[i, a:b]` as `of[i][a:b]`."""
        row = self.item(site, of, parts[0])
        taken = self.facts.notes[site]
        result = self.item(site, row, parts[1:] if parts[2:] else parts[1])
        self.facts.notes[site] = ("row_cut", taken, self.facts.notes[site])
        return result

    def place(self, site: Site, of: Any, index: Any) -> Any:
        """Where an element is written, in the user's own statement."""
        if not isinstance(of, torch.Tensor):
            return index
        if stacks := find_stacks(index):
            self.facts.notes[site] = (find_stacking(index, stacks), stacks, 0)
            return stack_parts(index, stacks)
        if sliced := find_sliced(index):
            return self._clamp_slices(site, index, sliced)
        if places := find_scalar_places(index):
            self.facts.notes[site] = ("place", places, 0, find_dims(index, places))
            parts = index if isinstance(index, tuple) else (index,)
            return tuple(0 if at in places else part for at, part in enumerate(parts))
        return index

    def text(self, site: Site, value: Any) -> Any:
        """`str(value)` or `f"{value}"`."""
        if not isinstance(value, torch.Tensor):
            return str(value)
        self.facts.notes[site] = ("form", "$first")
        return Key(value)

    def has_any(self, site: Site, value: Any) -> Any:
        """The truth of a name's value, whose list the data may fill."""
        if not isinstance(value, Rows | Masked):
            return value
        self.facts.notes[site] = ("any", 0)
        if isinstance(value, Rows) and not value.is_masked:
            return value.values.shape[0] > 0
        values = value.values if isinstance(value, Rows) else stack([*value])
        mask = torch.ones(values.shape[0], dtype=torch.bool, device=values.device)
        return values[mask].shape[0] > 0

    def is_in(self, site: Site, value: Any, among: Any, negated: bool) -> Any:
        """`value in (2, 7)`, or `value in tensor`."""
        if isinstance(among, torch.Tensor) and not isinstance(value, str):
            self.facts.notes[site] = ("form", f"{'~' * negated}($right == $left).any()")
            result = (among == value).any()
            return ~result if negated else result
        numbers = isinstance(value, torch.Tensor | torch.SymInt)
        numbers = numbers and isinstance(among, tuple | list | set)
        if not numbers or not all(isinstance(each, int | float) for each in among):
            return (value in among) is not negated
        self.facts.notes[site] = ("in", "numbers")
        parts = [value != each if negated else value == each for each in among]
        joined: Any = parts[0]
        for part in parts[1:]:
            joined = joined & part if negated else joined | part
        return joined

    def _choose_by_key(self, site: Site, of: Any, key: Key) -> Any:
        names = [str(number) for number in range(len(of))]
        if set(of.keys()) != set(names):
            raise CannotRewrite("the keys of the dict are not 0, 1, …")
        every = [of[name] for name in names]
        kind = "tensors" if isinstance(every[0], torch.Tensor) else "modules"
        self.facts.notes[site] = ("keyed", kind)
        return find_alike(every) if kind == "tensors" else Chosen(every)

    def _choose_from_list(self, site: Site, of: Any) -> Any:
        every = list(of)
        if every and all(isinstance(value, torch.Tensor) for value in every):
            self.facts.notes[site] = ("choose", 0)
            return find_alike(every)
        if every and all(callable(value) for value in every):
            self.facts.notes[site] = ("keyed", "list")
            return Chosen(every)
        raise CannotRewrite("a data-dependent index reads a list without tensors")

    def _clamp_slices(self, site: Site, index: Any, places: tuple[int, ...]) -> Any:
        """An index whose slices have data-dependent ends."""
        parts = index if isinstance(index, tuple) else (index,)
        if find_scalar_places(index):
            raise CannotRewrite("a row of a tensor is sliced at a data-dependent position")
        ends = [end for at in places for end in find_ends(parts[at])]
        if not all(isinstance(end, torch.Tensor) for end in ends):
            raise CannotRewrite("the end of a slice is data-dependent")
        self.facts.notes[site] = ("cut" if self.is_in_loop else "sliced", places, 0)
        items = tuple(
            slice(
                *(
                    e.item() if isinstance(e, torch.Tensor) else e
                    for e in (part.start, part.stop, part.step)
                )
            )
            if at in places
            else part
            for at, part in enumerate(parts)
        )
        return items if isinstance(index, tuple) else items[0]

    def step(self, number: Any, by: int) -> Any:
        """The end of a slice: a number and a constant."""
        end = number + by
        if any(number is counted for counted, *_ in self.counts):
            self.steps.append((end, number, by))
        return end

    def _find_width(
        self, of: torch.Tensor, parts: tuple[Any, ...], places: tuple[int, ...]
    ) -> int | None:
        """The length of a slice that a loop moves along a dim; None where it may end beyond it."""
        before = parts[: places[0] + 1]
        if len(places) > 1 or not all(isinstance(part, slice) for part in before):
            return None
        part, size = parts[places[0]], of.shape[places[0]]
        steps = [*self.steps, *((number, number, 0) for number, *_ in self.counts)]
        ends = [next((s for s in steps if s[0] is end), None) for end in (part.start, part.stop)]
        match ends:
            case [(_, low, first), (_, high, last)] if low is high and part.step is None:
                for number, start, stop in self.counts:
                    if number is low and last > first and start + first >= 0:
                        return (
                            last - first if statically_known_true(stop + last <= size + 1) else None
                        )
        return None

    def _unsure_row(self, site: Site, of: torch.Tensor, index: Any) -> int | None:
        """The row that is read of a tensor that may not have it, though a test says it has."""
        row = index[0] if isinstance(index, tuple) and index else index
        size: Any = of.shape[0] if of.dim() else 0
        if type(row) is not int or not free_unbacked_symbols(size):
            return None
        if statically_known_true(size >= _count_rows(row)):
            return None
        if any(_implies(test, size, _count_rows(row)) for test in self.held):
            return row
        if self.held and _implies(_torch.sym_not(self.held[-1]), size, _count_rows(row)):
            self.facts.notes[site] = ("required", _count_rows(row), 0)
            return None  # eager needs it on either way
        raise CannotRewrite("the code may read a row that does not exist")

    def _is_whole(self, of: torch.Tensor, parts: tuple[Any, ...], place: int) -> bool:
        """Whether a loop takes every row of a tensor, from some number on."""
        if not all(isinstance(part, slice) and part == slice(None) for part in parts[:place]):
            return False
        number = parts[place].start if isinstance(parts[place], slice) else parts[place]
        return any(
            number is counted and statically_known_true(stop == of.shape[place])
            for counted, _, stop in self.counts
        )


def find_alike(values: list[Any]) -> Any:
    """The first of values that torch.stack takes without a change."""
    kinds = {str(describe(value)[:3]) for value in values}
    if len(kinds) != 1 or not isinstance(values[0], torch.Tensor):
        raise CannotRewrite("a data-dependent index reads values of different shapes or dtypes")
    return values[0]


def find_stacks(index: Any) -> tuple[int, ...]:
    """Where an index has lists of numbers that only the program knows."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(at for at, part in enumerate(parts) if is_list_of_numbers(part, symbols=True))


def find_stacking(index: Any, places: tuple[int, ...]) -> str:
    """How the lists of an index become tensors: of tensors, or of Python's numbers."""
    parts = index if isinstance(index, tuple) else (index,)
    return "stacked" if all(is_list_of_numbers(parts[at]) for at in places) else "listed"


def find_dims(index: Any, places: tuple[int, ...]) -> tuple[int, ...]:
    """For each place of a number in an index: the dim, where the other numbers are taken first."""
    parts = index if isinstance(index, tuple) else (index,)
    dims = []
    for at in places:
        before = parts[:at]
        plain = (
            isinstance(e, int | slice | type(None)) or n in places for n, e in enumerate(before)
        )
        if not all(plain):
            return ()
        dims.append(sum(not isinstance(value, int) for value in before))
    return tuple(dims)


def describe_region(into: torch.Tensor, index: Any, value: Any, places: tuple[int, ...]) -> Region:
    """The elements that an assignment to slices with data-dependent ends writes.

    Raises:
        CannotRewrite: the index has more than slices and numbers, or a step.
    """
    parts = index if isinstance(index, tuple) else (index,)
    numbers = find_scalar_places(index)
    for at, part in enumerate(parts):
        plain = at in numbers or isinstance(part, int | torch.SymInt | slice)
        ends = [end for end in find_ends(part) if isinstance(end, torch.Tensor) and end.dim()]
        if not plain or isinstance(part, bool) or ends or getattr(part, "step", None) is not None:
            raise CannotRewrite("a slice with a data-dependent end is written with another index")
    whole = [at for at, part in enumerate(parts) if isinstance(part, slice)]
    rank = into.dim() - len(parts) + len(whole)
    dims = tuple(whole.index(at) for at in places)
    pairs = [(parts[at].start, parts[at].stop) for at in places]
    tensors = tuple((_is_tensor(start), _is_tensor(stop)) for start, stop in pairs)
    if not isinstance(value, torch.Tensor):
        return Region(places, dims, rank, numbers, None, False, tensors)
    aligned = [dim - rank + value.dim() for dim in dims]
    sizes: list[Any] = [value.shape[dim] for dim in aligned if dim >= 0]
    is_cut = any(not statically_known_true(size == 1) for size in sizes)
    return Region(places, dims, rank, numbers, value.dim(), is_cut, tensors)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def find_ends(part: Any) -> list[Any]:
    """The ends of a slice that are not written out."""
    ends = (part.start, part.stop, part.step) if isinstance(part, slice) else ()
    return [end for end in ends if end is not None and not isinstance(end, int)]


def find_sliced(index: Any) -> tuple[int, ...]:
    """Where an index has slices that end where only the program knows."""
    parts = index if isinstance(index, tuple) else (index,)
    tensors = (any(isinstance(e, torch.Tensor) for e in find_ends(part)) for part in parts)
    return tuple(at for at, tensor in enumerate(tensors) if tensor)


def stack_parts(index: Any, places: tuple[int, ...]) -> Any:
    """An index whose lists are tensors."""
    if not isinstance(index, tuple):
        return stack(index)
    return tuple(stack(value) if at in places else value for at, value in enumerate(index))


def is_list_of_numbers(value: Any, *, symbols: bool = False) -> bool:
    """Whether a value is a list of tensors without dims, or of numbers that are not all known."""
    if type(value) is not list or not value:
        return False
    if symbols and any(isinstance(item, torch.SymInt) for item in value):
        return all(isinstance(item, int | torch.SymInt) for item in value)
    return all(isinstance(item, torch.Tensor) and not item.dim() for item in value)


def stack(values: list[Any]) -> torch.Tensor:
    """Numbers of a list as one tensor."""
    if not any(isinstance(value, torch.Tensor) for value in values):
        return torch.tensor(values, device="cpu")
    return torch.stack(
        [e if isinstance(e, torch.Tensor) else torch.as_tensor(e, device="cpu") for e in values]
    )


def find_scalar_places(index: Any) -> tuple[int, ...]:
    """Where an index has whole numbers that only the program knows."""
    parts = index if isinstance(index, tuple) else (index,)
    numbers = [
        at
        for at, part in enumerate(parts)
        if isinstance(part, torch.Tensor) and not part.dim() and part.dtype != torch.bool
    ]
    return tuple(numbers)


def _count_rows(row: int) -> int:
    """How many rows there are at least where one is read."""
    return row + 1 if row >= 0 else -row


def _implies(test: Any, size: Any, needed: int) -> bool:
    """Whether a test of one unknown number holds only where a size is large enough."""
    condition, rows = test.node.expr, size.node.expr
    unknown = free_unbacked_symbols(size)
    if len(unknown) != 1 or free_unbacked_symbols(test) != unknown:
        return False
    others = (condition.free_symbols | rows.free_symbols) - unknown
    values = dict.fromkeys(others, 2)
    (symbol,) = unknown
    for number in range(_MOST_ROWS):
        entries = {**values, symbol: number}
        if rows.subs(entries) < needed and condition.subs(entries) != False:  # noqa: E712 - of sympy's
            return False
    return True

"""Which sizes a program is compared with eager at: inside its ranges, not the traced ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported
from export_engine.describe import Leaf, input_paths, user_names
from export_engine.record import Record
from export_engine.shapes import Relation
from export_engine.sizes import Expression, value_of
from export_engine.torch_internals import expression_of, int_bound, is_unbacked, symbol_hint
from export_engine.verify.numbers_in_code import Number

_LEAST = 2
"""torch traces as if no size were smaller; the program then accepts smaller ones all the same."""
_FAR = 4096
"""How far from a preferred size one is searched that satisfies the assumptions."""
_MOST_GROWTH = 4
"""The largest size of no special kind, as a multiple of the example's, so that a check is quick."""
_MOST_ELEMENTS = 2**14
_MOST_TIMES = 64
"""Limits on the elements of all inputs, absolute and as a multiple of the example's: beyond, the
check takes far longer than the export."""
_MOST_PRESSING = 8
"""Choices of a kind that are tried whatever they cost."""


class Sizes(NamedTuple):
    """The symbolic sizes of a program's inputs."""

    dims: dict[str, list[Any]]
    """Per path of an input, its sizes: numbers, or sympy expressions. A number input has one."""
    symbols: list[Any]
    """In order of appearance."""
    examples: dict[Any, int]
    ranges: dict[Any, tuple[int, int | None]]
    names: dict[str, str]
    """What to call each symbol, by torch's name of it."""
    tied: Mapping[Any, Expression] = MappingProxyType({})
    """Unbacked symbols of dims that are computed from others, and how, by the others' names."""
    assumptions: tuple[Relation, ...] = ()


def sizes_of(exported: Exported) -> Sizes:
    """The sizes of an exported program's inputs."""
    program = exported.program
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    dims: dict[str, list[Any]] = {}
    leaves: list[Leaf] = []
    for path, name in zip(
        input_paths(program, exported.request), program.graph_signature.user_inputs, strict=False
    ):
        value = values.get(name) if isinstance(name, str) else None
        leaves.append(Leaf(path, value))
        if isinstance(value, torch.Tensor):
            dims[path] = [_size(size) for size in value.shape]
        elif isinstance(value, torch.SymInt):
            dims[path] = [_size(value)]
    symbols = list(
        dict.fromkeys(
            symbol
            for sizes in dims.values()
            for size in sizes
            for symbol in sorted(getattr(size, "free_symbols", ()), key=str)
        )
    )
    examples = {symbol: symbol_hint(program, symbol) or _LEAST for symbol in symbols}
    groups = {str(key): bounds for key, bounds in program.range_constraints.items()}
    ranges: dict[Any, tuple[int, int | None]] = {}
    for symbol in symbols:
        bounds = groups.get(str(symbol))
        low = int_bound(bounds.lower) if bounds is not None else None
        high = int_bound(bounds.upper) if bounds is not None else None
        ranges[symbol] = (max(low or 0, 0), high)
    shapes = exported.request.shapes if exported.request else None
    if shapes is None:
        return Sizes(dims, symbols, examples, ranges, user_names(leaves, None))
    for symbol in symbols:
        if ranges[symbol][0] == _LEAST and not is_unbacked(symbol):
            places = [
                (p, n) for p, at in dims.items() for n, size in enumerate(at) if size == symbol
            ]
            ranges[symbol] = (shapes.find_least(places), ranges[symbol][1])
    tied = {
        size: result
        for path, sizes in dims.items()
        for position, size in enumerate(sizes)
        if size in symbols
        and is_unbacked(size)
        and (result := shapes.find_expression(path, position))
    }
    names = user_names(leaves, shapes)
    return Sizes(dims, symbols, examples, ranges, names, tied, shapes.assumptions)


def sizes_of_record(record: Record) -> Sizes:
    """The sizes as a Record has them: an edited program's own may be fixed by now."""
    import sympy

    dims: dict[str, list[Any]] = {}
    symbols = [sympy.Symbol(symbol.torch_name, integer=True) for symbol in record.symbols]
    for probe_input in record.probe.inputs:
        size = (
            probe_input.scale * symbols[probe_input.symbol] + probe_input.offset
            if probe_input.symbol >= 0
            else probe_input.example
        )
        dims.setdefault(record.signature.inputs[probe_input.entry].path, []).append(size)
    used = sorted({item.symbol for item in record.probe.inputs if item.symbol >= 0})
    entries = {symbols[number]: record.symbols[number] for number in used}
    return Sizes(
        dims,
        list(entries),
        {symbol: record_symbol.example or _LEAST for symbol, record_symbol in entries.items()},
        {
            symbol: (max(record_symbol.lower or 0, 0), record_symbol.upper)
            for symbol, record_symbol in entries.items()
        },
        {symbol.torch_name: symbol.name for symbol in entries.values()},
    )


class Choice(NamedTuple):
    """Values of the symbols to try."""

    values: dict[Any, int]
    pressing: bool = False
    """Whether it is tried however long that takes: at 0, at 1, at what the code compares with."""


def choose_sizes(sizes: Sizes, numbers: Sequence[Number], ordinary: int = 9) -> Iterator[Choice]:
    """Sizes to try, each another, none those of the example.

    The one list for Verify, for the check of every fix and for what else compares with eager: sizes
    near the example's, 0 and 1, the numbers that code compares a size with and their neighbours,
    the ends of each range, equal sizes and both orders of two; then more sizes of no special kind.
    Whoever has little time takes the first of them.

    Args:
        sizes: of the program's inputs.
        numbers: that a size may be compared with, the most suspicious first.
        ordinary: how many sizes of no special kind.
    """
    seen = [sizes.examples]
    most = max(_MOST_ELEMENTS, _MOST_TIMES * _elements(sizes, sizes.examples))
    first, *others = (Choice(wish) for wish in islice(_ordinary(sizes), max(ordinary, 1)))
    for wish in (first, *_suspicious(sizes, numbers), *others):
        near = _within if wish in (first, *others) else _in_range
        values = _find_allowed(
            sizes, {symbol: near(wish.values[symbol], symbol, sizes) for symbol in sizes.symbols}
        )
        if (
            values is not None
            and values not in seen
            and _makes_sense(sizes, values)
            and (wish.pressing or _elements(sizes, values) <= most)
        ):
            seen.append(values)
            yield wish._replace(values=values)


def _suspicious(sizes: Sizes, numbers: Sequence[Number]) -> Iterator[Choice]:
    """Sizes at which a program is likeliest to differ, the likeliest first."""
    symbols, examples = sizes.symbols, sizes.examples
    several = len(symbols) > 1

    def alone(values: Iterable[int], pressing: int = 0) -> Iterator[Choice]:
        wishes = ({**examples, symbol: value} for value in values for symbol in symbols)
        return (Choice(wish, number < pressing) for number, wish in enumerate(wishes))

    for value in (1, 0):
        yield Choice(dict.fromkeys(symbols, value), pressing=True)
        if several:
            yield from alone([value], _MOST_PRESSING)
    compared = [number for number in numbers if number.rank == 0]
    yield from alone((number.value for number in compared), _MOST_PRESSING)
    yield from alone(_near(compared), _MOST_PRESSING)
    for at in (0, 1):
        ends = {symbol: sizes.ranges[symbol][at] for symbol in symbols}
        entries = {symbol: end for symbol, end in ends.items() if end is not None}
        yield Choice({**examples, **entries})
        yield from (Choice({**examples, symbol: end}) for symbol, end in entries.items())
    if several:
        yield Choice(dict.fromkeys(symbols, _SAME))
        yield Choice({symbol: 3 + at for at, symbol in enumerate(symbols)})
        yield Choice({symbol: 3 + at for at, symbol in enumerate(reversed(symbols))})
    yield from alone(_near(number for number in numbers if number.rank))
    for value in _near(numbers) if several else ():
        yield Choice(dict.fromkeys(symbols, value))


def _near(numbers: Iterable[Number]) -> Iterator[int]:
    """Numbers and their neighbours, and the double of a divisor; each once."""
    seen: set[int] = set()
    for number in numbers:
        value = number.value
        near = [value, value + 1, value - 1]
        if number.divides:
            near = [value, value + 1, 2 * value, value - 1, 2 * value + 1]
        for near_value in near:
            if near_value >= 0 and near_value not in seen:
                seen.add(near_value)
                yield near_value


def _ordinary(sizes: Sizes) -> Iterator[dict[Any, int]]:
    """Sizes of no special kind, near the example's."""
    last = len(sizes.symbols) - 1
    for wish in _WISHES:
        yield {
            symbol: wish(sizes.examples[symbol], turn, last)
            for turn, symbol in enumerate(sizes.symbols)
        }


def iter_doubled(sizes: Sizes) -> Iterator[dict[Any, int]]:
    """Values for a model that takes no size near the example's, as a U-Net takes only multiples.

    All twice as large, then one of them at a time.
    """
    changed = [sizes.symbols, *([symbol] for symbol in sizes.symbols if len(sizes.symbols) > 1)]
    for symbols in changed:
        choice = _find_allowed(
            sizes,
            {
                symbol: _within(example * (1 + (symbol in symbols)), symbol, sizes)
                for symbol, example in sizes.examples.items()
            },
        )
        if choice is not None and choice != sizes.examples and _makes_sense(sizes, choice):
            yield choice


_SAME = 7
_WISHES: tuple[Callable[[int, int, int], int], ...] = (
    lambda example, turn, last: example + 1 + turn,
    lambda example, turn, last: 3 + last - turn if last else _LEAST,
    lambda example, turn, last: 2 * example + 1 + 2 * turn,
    lambda example, turn, last: _SAME,
    lambda example, turn, last: example + 5 - turn,
    lambda example, turn, last: max(example // 2, 2) + turn,
    lambda example, turn, last: 3 * example - turn,
    lambda example, turn, last: 11 + 2 * turn,
    lambda example, turn, last: 2 * example,
    lambda example, turn, last: max(example - 1 - turn, _LEAST),
)
"""A symbol's value by its example and its number, so that several symbols get different ones.

The earlier is the smaller, then the greater, and all are the same: a program may hold for one
order alone.
"""


def _find_allowed(sizes: Sizes, choice: dict[Any, int]) -> dict[Any, int] | None:
    """The choice near the preferred one that satisfies the assumptions; None if there is none."""
    names = {symbol: sizes.names.get(str(symbol), str(symbol)) for symbol in sizes.symbols}
    named = {names[symbol]: value for symbol, value in choice.items()}
    relations = [
        assumption for assumption in sizes.assumptions if named.keys() >= {*assumption.names}
    ]
    for relation in relations:
        for symbol in sizes.symbols:
            name = names[symbol]
            if name in relation.names and symbol not in sizes.tied and not relation.holds(named):
                named[name] = _nearest(sizes.ranges[symbol], name, named, relation, relations)
    if not all(relation.holds(named) for relation in relations):
        return None
    for symbol, item in sizes.tied.items():
        if named.keys() >= {*item.symbols}:
            named[names[symbol]] = value_of(item, named)
    return {symbol: named[names[symbol]] for symbol in sizes.symbols}


def _nearest(
    within: tuple[int, int | None],
    name: str,
    named: dict[str, int],
    relation: Relation,
    others: list[Relation],
) -> int:
    """A value that satisfies the relation and the earlier ones; else the preferred value."""
    wished = named[name]
    held = [relation, *(other for other in others if other.holds(named))]
    low, high = within
    tried = sorted(range(low, min(high or _FAR, wished + _FAR) + 1), key=lambda n: abs(n - wished))
    return next((n for n in tried if all(r.holds({**named, name: n}) for r in held)), wished)


def _makes_sense(sizes: Sizes, choice: Mapping[Any, int]) -> bool:
    return all(evaluate_size(size, choice) >= 0 for dims in sizes.dims.values() for size in dims)


def _elements(sizes: Sizes, choice: Mapping[Any, int]) -> int:
    """Of all inputs that have a symbol."""
    return sum(
        math.prod(max(evaluate_size(size, choice), 1) for size in dims)
        for dims in sizes.dims.values()
    )


def evaluate_size(size: Any, choice: Mapping[Any, int]) -> int:
    """A size for a choice of the symbols."""
    if size in choice:
        return choice[size]
    return int(size.subs(choice)) if hasattr(size, "subs") else int(size)


def _within(size: int, symbol: Any, sizes: Sizes) -> int:
    low, high = sizes.ranges[symbol]
    most = _MOST_GROWTH * max(sizes.examples[symbol], 4)
    limit = most if high is None else min(high, max(most, low))
    return max(low, min(size, max(limit, low)))


def _in_range(size: int, symbol: Any, sizes: Sizes) -> int:
    low, high = sizes.ranges[symbol]
    return max(low, size if high is None else min(size, high))


def _size(size: Any) -> Any:
    if isinstance(size, int):
        return size
    expression = expression_of(size)
    return int(expression) if expression.is_number else expression


def name_choice(sizes: Sizes, choice: Mapping[Any, int]) -> dict[str, int]:
    """A choice under the user's names."""
    return {sizes.names.get(str(symbol), str(symbol)): choice[symbol] for symbol in sizes.symbols}

"""Sizes to test a program: inside its ranges, and other than the traced ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported
from export_engine.describe import Leaf, input_paths, user_names
from export_engine.shapes import Expression, Relation, names_in, shapes_of, value_of
from export_engine.torch_internals import expression_of, int_bound, is_unbacked, symbol_hint

_LEAST = 2
"""torch specializes on 0 and 1; a program need not accept them."""
_FAR = 4096
"""How far from a preferred size one is searched that satisfies the assumptions."""
_MOST_GROWTH = 4
"""The largest tested size, as a multiple of the example's, so that a check stays quick."""


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
    known = {str(key): bounds for key, bounds in program.range_constraints.items()}
    ranges: dict[Any, tuple[int, int | None]] = {}
    for symbol in symbols:
        bounds = known.get(str(symbol))
        low = int_bound(bounds.lower) if bounds is not None else None
        high = int_bound(bounds.upper) if bounds is not None else None
        ranges[symbol] = (max(low or 0, 1 if is_unbacked(symbol) else _LEAST), high)
    shapes = shapes_of(exported.request) if exported.request else None
    if shapes is None:
        return Sizes(dims, symbols, examples, ranges, user_names(leaves, None))
    tied = {
        size: made
        for path, sizes in dims.items()
        for position, size in enumerate(sizes)
        if size in symbols and is_unbacked(size) and (made := shapes.made_from(path, position))
    }
    names = user_names(leaves, shapes)
    return Sizes(dims, symbols, examples, ranges, names, tied, shapes.assumptions)


def choices(sizes: Sizes, most: int) -> Iterator[dict[Any, int]]:
    """Values of the symbols, each choice another, none that of the example."""
    seen = [sizes.examples]
    ones = any(is_unbacked(symbol) for symbol in sizes.symbols)
    last = len(sizes.symbols) - 1
    for wish in (_ONE, *_WISHES) if ones else _WISHES:
        choice = _allowed(
            sizes,
            {
                symbol: _within(wish(sizes.examples[symbol], turn, last), symbol, sizes)
                for turn, symbol in enumerate(sizes.symbols)
            },
        )
        if (
            choice is not None
            and choice not in seen
            and len(seen) <= most
            and _makes_sense(sizes, choice)
        ):
            seen.append(choice)
            yield choice


def doubled(sizes: Sizes) -> Iterator[dict[Any, int]]:
    """Values for a model that takes no size near the example's, as a U-Net takes only multiples.

    All twice as large, then one of them at a time.
    """
    changed = [sizes.symbols, *([each] for each in sizes.symbols if len(sizes.symbols) > 1)]
    for symbols in changed:
        choice = _allowed(
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
)
"""A symbol's value by its example and its number, so that several symbols get different ones.

The earlier is the smaller, then the greater, and all are the same: a program may hold for one
order alone.
"""
_ONE: Callable[[int, int, int], int] = lambda example, turn, last: 1  # noqa: E731  # one more of them
"""Of unbacked symbols, which are not specialized on 1; backed ones are 2 then."""


def _allowed(sizes: Sizes, choice: dict[Any, int]) -> dict[Any, int] | None:
    """The choice near the preferred one that satisfies the assumptions; None if there is none."""
    names = {symbol: sizes.names.get(str(symbol), str(symbol)) for symbol in sizes.symbols}
    named = {names[symbol]: value for symbol, value in choice.items()}
    known = [each for each in sizes.assumptions if each.names.keys() <= named.keys()]
    for relation in known:
        for symbol in sizes.symbols:
            name = names[symbol]
            if name in relation.names and symbol not in sizes.tied and not relation.holds(named):
                named[name] = _nearest(sizes.ranges[symbol], name, named, relation, known)
    if not all(each.holds(named) for each in known):
        return None
    for symbol, made in sizes.tied.items():
        if names_in(made).keys() <= named.keys():
            named[names[symbol]] = value_of(made, named)
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
    held = [relation, *(each for each in others if each.holds(named))]
    low, high = within
    tried = sorted(range(low, min(high or _FAR, wished + _FAR) + 1), key=lambda n: abs(n - wished))
    return next((n for n in tried if all(r.holds({**named, name: n}) for r in held)), wished)


def _makes_sense(sizes: Sizes, choice: Mapping[Any, int]) -> bool:
    return all(evaluated(size, choice) > 0 for dims in sizes.dims.values() for size in dims)


def evaluated(size: Any, choice: Mapping[Any, int]) -> int:
    """A size for a choice of the symbols."""
    return int(size.subs(choice)) if hasattr(size, "subs") else int(size)


def _within(size: int, symbol: Any, sizes: Sizes) -> int:
    low, high = sizes.ranges[symbol]
    most = _MOST_GROWTH * max(sizes.examples[symbol], 4)
    limit = most if high is None else min(high, max(most, low))
    return max(low, min(size, max(limit, low)))


def _size(size: Any) -> Any:
    if isinstance(size, int):
        return size
    expression = expression_of(size)
    return int(expression) if expression.is_number else expression


def shown(sizes: Sizes, choice: Mapping[Any, int]) -> dict[str, int]:
    """A choice under the user's names."""
    return {sizes.names.get(str(symbol), str(symbol)): choice[symbol] for symbol in sizes.symbols}

"""Which sizes to try a program at: inside its ranges, and not those it was traced at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import torch

from export_engine.attempt import Exported
from export_engine.describe import Leaf, input_paths, user_names
from export_engine.shapes import shapes_of
from export_engine.torch_internals import expression_of, int_bound, symbol_hint

_LEAST = 2
"""0 and 1 are sizes that torch takes apart; a program need not take them."""
_MOST_GROWTH = 4
"""How much larger than in the example a size is tried, so that a check stays quick."""


class Sizes(NamedTuple):
    """What is symbolic in the inputs of a program."""

    dims: dict[str, list[Any]]
    """Per path of an input, its sizes: numbers, or sympy expressions. A number input has one."""
    symbols: list[Any]
    """In order of appearance."""
    examples: dict[Any, int]
    ranges: dict[Any, tuple[int, int | None]]
    names: dict[str, str]
    """What to call each symbol, by torch's name of it."""


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
        ranges[symbol] = (max(low or 0, _LEAST), high)
    shapes = shapes_of(exported.request) if exported.request else None
    names = user_names(leaves, shapes.dim_name if shapes else lambda path, position: None)
    return Sizes(dims, symbols, examples, ranges, names)


def choices(sizes: Sizes, most: int) -> Iterator[dict[Any, int]]:
    """Values of the symbols, each choice another, none that of the example."""
    seen = [sizes.examples]
    for wish in _WISHES:
        choice = {
            symbol: _within(wish(sizes.examples[symbol], turn), symbol, sizes)
            for turn, symbol in enumerate(sizes.symbols)
        }
        if choice not in seen and len(seen) <= most and _makes_sense(sizes, choice):
            seen.append(choice)
            yield choice


_WISHES: tuple[Callable[[int, int], int], ...] = (
    lambda example, turn: example + 1 + turn,
    lambda example, turn: 2 + turn,
    lambda example, turn: 2 * example + 1 + 2 * turn,
    lambda example, turn: example + 5 - turn,
    lambda example, turn: max(example // 2, 2) + turn,
    lambda example, turn: 3 * example - turn,
)
"""A symbol's value by its example and its number, so that several symbols get different ones."""


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

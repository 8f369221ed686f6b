"""The rules that follow from the sizes of a program's inputs.

A number fixes a size; equal expressions make sizes equal; a range bounds a size; an expression of
another size derives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine.describe.call_sizes import CallSizes
from export_engine.record import Rule, SizeInput, Symbol, size_name
from export_engine.sizes import Expression, evaluate_formula, name_symbol, sizes_in

_LINE = ("+", "-", "*", "neg")
_FAR = 2**40
"""Beyond any size."""
_UNCHECKED = 2
"""Sizes of 0 and 1 pass torch's input guards even where the range begins at 2."""


def contract_rules(
    sizes: CallSizes, symbols: Sequence[Symbol], asked: Sequence[Rule]
) -> list[Rule]:
    """All of them.

    Args:
        sizes: of the program's inputs.
        symbols: its symbols, described.
        asked: the rules that code asked for.
    """
    return [
        *_iter_fixed_rules(sizes),
        *_iter_range_rules(sizes, symbols),
        *_iter_form_rules(sizes, symbols, asked),
    ]


def follows(rule: Rule, inputs: Sequence[SizeInput], symbols: Sequence[Symbol]) -> bool:
    """Whether the range of an unbacked size, which the program asserts, implies a rule.

    `2*seq >= 4` follows from `seq >= 2`: torch asserts both where a size is made of another.
    """
    about = sizes_in(rule.formula)
    if len(about) != 1 or rule.formula.count(f"d{about[0]}") != 1:
        return False
    if not {item for item in rule.formula[:-1] if isinstance(item, str)} <= {
        f"d{about[0]}",
        *_LINE,
    }:
        return False
    if rule.formula[-1] not in ("<=", ">=", "<", ">"):
        return False
    size = inputs[about[0]]
    if size.dim < 0 or size.symbol < 0 or (size.scale, size.offset) != (1, 0):
        return False
    symbol = symbols[size.symbol]
    if symbol.kind != "unbacked":
        return False
    low, high = symbol.lower or 0, _FAR if symbol.upper is None else symbol.upper
    # It grows or falls all the way, so it holds everywhere if it holds at both ends.
    ends = ([0] * about[0] + [end] for end in (low, high))
    return all(evaluate_formula(rule.formula, end) for end in ends)


def _iter_fixed_rules(sizes: CallSizes) -> Iterator[Rule]:
    for number, size in enumerate(sizes.inputs):
        if isinstance(size.size, int):
            yield Rule("fixed", f"{size.text} == {size.size}", [f"d{number}", size.size, "=="])


def _iter_range_rules(sizes: CallSizes, symbols: Sequence[Symbol]) -> Iterator[Rule]:
    """Equal dims and bounds, per expression in the order of the inputs, as torch checks them."""
    first: dict[int | Expression, int] = {}
    for number, (value, size) in enumerate(zip(sizes.values, sizes.inputs, strict=True)):
        bounds = sizes.find_range(value)
        if bounds is None:
            continue
        at = f"d{number}"
        if value in first:
            other = first[value]
            text = f"{size.text} == {sizes.inputs[other].text}"
            yield Rule("equal", text, [at, f"d{other}", "=="])
            continue
        first[value] = number
        low, high = bounds
        unbacked = size.symbol >= 0 and symbols[size.symbol].kind == "unbacked"
        if low is not None and low > 0:
            origin = _find_guard_of_bound(symbols, size, "lower")
            text = f"{size_name(size)} >= {low}"
            enforced = unbacked or low > _UNCHECKED
            yield Rule("range", text, [at, low, ">="], *origin, enforced=enforced)
        if high is not None:
            origin = _find_guard_of_bound(symbols, size, "upper")
            yield Rule("range", f"{size_name(size)} <= {high}", [at, high, "<="], *origin)


def _find_guard_of_bound(symbols: Sequence[Symbol], size: SizeInput, side: str) -> tuple[int, int]:
    """The guard that a bound comes from."""
    if size.symbol < 0 or (size.scale, size.offset) != (1, 0):
        return -1, -1
    bounds = symbols[size.symbol].bounds
    return next(((bound.guard, -1) for bound in bounds if bound.side == side), (-1, -1))


def _iter_form_rules(
    sizes: CallSizes, symbols: Sequence[Symbol], asked: Sequence[Rule]
) -> Iterator[Rule]:
    """Dims that are made from another's size, `2*seq + 1`.

    torch refuses others only by a guard of that form, or where a second such dim tells the symbol.
    An unbacked size was one of its own, which the program asserts to be of that form.
    """
    tied = {
        size for rule in asked if rule.formula[-1:] == ["=="] for size in sizes_in(rule.formula)
    }
    values = {value for value in sizes.values if isinstance(value, Expression) and value.is_symbol}
    seen: dict[str, Expression] = {}
    for number, (value, size) in enumerate(zip(sizes.values, sizes.inputs, strict=True)):
        if isinstance(value, int) or value.is_symbol or len(value.symbols) != 1:
            continue
        (symbol,) = value.symbols
        again = symbol in seen and seen[symbol] != value
        unbacked = size.symbol >= 0 and symbols[size.symbol].kind == "unbacked"
        enforced = unbacked or (again and name_symbol(symbol) not in values) or number in tied
        seen.setdefault(symbol, value)
        form = sizes.compile_size(value)
        formula = [f"d{number}", *form, "=="] if form else []
        yield Rule("form", f"{size.text} == {size.size}", formula, enforced=enforced)

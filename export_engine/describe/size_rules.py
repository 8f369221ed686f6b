"""What a program asks of the sizes of a call: the rules that `ExportedProgram.module()` enforces.

They are those of torch's input guards (fixed sizes, ranges, equal and derived dims), the guards
that travel with the program, and its own asserts about sizes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import torch
from torch.export import ExportedProgram

from export_engine.attempt import Attempt
from export_engine.describe.call_sizes import CallSizes
from export_engine.describe.symbols import Symbols
from export_engine.describe.values import Values
from export_engine.record import (
    Formula,
    Guard,
    OutputSize,
    Probe,
    Rule,
    SizeInput,
    Symbol,
    evaluate,
    sizes_in,
    sizes_of_symbols,
)
from export_engine.torch_internals import asserted, guards_code, int_bound
from export_engine.trace import RecordedGuard

_UNCHECKED = 2
"""Sizes of 0 and 1 pass torch's input guards even where the range begins at 2."""
_SAMPLES = 48


def describe_probe(
    program: ExportedProgram,
    attempt: Attempt,
    sizes: CallSizes,
    symbols: Sequence[Symbol],
    guards: Sequence[Guard],
    groups: Sequence[Sequence[RecordedGuard]],
    values: Values,
    names: Symbols,
) -> tuple[Probe, set[int]]:
    """The rules, and the numbers of the guards that became some of them.

    Args:
        program: the program.
        attempt: it is of.
        sizes: the sizes of its inputs.
        symbols: its symbols, described.
        guards: its guards, described.
        groups: per guard, what was recorded.
        values: the Record's value types.
        names: the symbols.
    """
    rules = [*_fixed(sizes), *_ranged(program, sizes, symbols)]
    asserts = list(_asserted(program, sizes, names))
    asked = [*_guarded(program, sizes), *asserts]
    rules += _formed(sizes, asked)
    known = {tuple(rule.formula): number for number, rule in enumerate(rules) if rule.formula}
    origin = _Origins(attempt, sizes, groups)
    linked: set[int] = set()
    for rule in asked:
        guard = origin.of(rule.formula)
        linked |= {guard} - {-1}
        same = known.get(tuple(rule.formula), known.get(_turned(rule.formula)))
        if same is None:
            as_asked = guard >= 0 and rule in asserts
            text = guards[guard].text if as_asked else rule.text
            rules.append(_with_origin(rule, guard, guards, text))
        elif guard >= 0:
            rules[same] = _with_origin(rules[same], guard, guards, rules[same].text)
    outputs = [
        OutputSize(entry, dim, names.size(size), sizes.of_symbols(expression))
        for entry, dim, size, expression in _results(program)
    ]
    return Probe(sizes.inputs, rules, outputs), linked


def _turned(formula: Formula) -> tuple[int | float | str, ...]:
    """`x == y` as `y == x`."""
    one, other = formula[:1], formula[1:-1]
    return (*other, *one, "==") if formula[-1:] == ["=="] and len(other) == 1 else ()


def _with_origin(rule: Rule, guard: int, guards: Sequence[Guard], text: str) -> Rule:
    stack = guards[guard].stack if guard >= 0 else rule.stack
    return msgspec.structs.replace(rule, guard=guard, stack=stack, text=text)


def _fixed(sizes: CallSizes) -> Iterator[Rule]:
    for number, size in enumerate(sizes.inputs):
        if isinstance(size.size, int):
            yield Rule("fixed", f"{size.text} == {size.size}", [f"d{number}", size.size, "=="])


def _ranged(
    program: ExportedProgram, sizes: CallSizes, symbols: Sequence[Symbol]
) -> Iterator[Rule]:
    """Equal dims and bounds, per expression in the order of the inputs, as torch checks them."""
    ranges = {str(key): bounds for key, bounds in program.range_constraints.items()}
    first: dict[str, int] = {}
    for number, (value, size) in enumerate(zip(sizes.values, sizes.inputs, strict=True)):
        bounds = ranges.get(str(value))
        if isinstance(value, int) or bounds is None:
            continue
        at = f"d{number}"
        if str(value) in first:
            other = first[str(value)]
            text = f"{size.text} == {sizes.inputs[other].text}"
            yield Rule("equal", text, [at, f"d{other}", "=="])
            continue
        first[str(value)] = number
        low, high = int_bound(bounds.lower), int_bound(bounds.upper)
        unbacked = size.symbol >= 0 and symbols[size.symbol].kind == "unbacked"
        if low is not None and low > (0 if unbacked and size.dim >= 0 else 1):
            origin = _bound(symbols, size, "lower")
            text = f"{size.text} >= {low}"
            enforced = unbacked or low > _UNCHECKED
            yield Rule("range", text, [at, low, ">="], *origin, enforced=enforced)
        if high is not None:
            origin = _bound(symbols, size, "upper")
            yield Rule("range", f"{size.text} <= {high}", [at, high, "<="], *origin)


def _bound(symbols: Sequence[Symbol], size: SizeInput, side: str) -> tuple[int, int]:
    """The guard that a bound comes from."""
    if size.symbol < 0 or (size.scale, size.offset) != (1, 0):
        return -1, -1
    bounds = symbols[size.symbol].bounds
    return next(((each.guard, -1) for each in bounds if each.side == side), (-1, -1))


def _formed(sizes: CallSizes, asked: Sequence[Rule]) -> Iterator[Rule]:
    """Dims that are made from another's size, `2*seq + 1`.

    torch refuses others only by a guard of that form, or where a second such dim tells the symbol.
    """
    tied = {
        size for rule in asked if rule.formula[-1:] == ["=="] for size in sizes_in(rule.formula)
    }
    known = {
        str(value): number
        for number, value in enumerate(sizes.values)
        if not isinstance(value, int) and value.is_Symbol
    }
    seen: dict[str, str] = {}
    for number, (value, size) in enumerate(zip(sizes.values, sizes.inputs, strict=True)):
        free = [] if isinstance(value, int) else list(value.free_symbols)
        if len(free) != 1 or value.is_Symbol:
            continue
        symbol = str(free[0])
        again = symbol in seen and seen[symbol] != str(value)
        enforced = (again and symbol not in known) or number in tied
        seen.setdefault(symbol, str(value))
        formula = [f"d{number}", *sizes.of_symbols(value), "=="]
        yield Rule("form", f"{size.text} == {size.size}", formula, enforced=enforced)


def _guarded(program: ExportedProgram, sizes: CallSizes) -> Iterator[Rule]:
    """torch checks them only if the program has its example inputs."""
    checked = program.example_inputs is not None
    for code in guards_code(program):
        formula, text = sizes.of_guard(code)
        yield Rule("guard", text, formula, enforced=checked)


def _asserted(program: ExportedProgram, sizes: CallSizes, names: Symbols) -> Iterator[Rule]:
    """The program's own asserts, but for those that no size can break."""
    for condition in asserted(program):
        formula = sizes.of_symbols(condition)
        if formula and sizes_in(formula) and formula[1:] != [0, ">="]:
            yield Rule("guard", names.guard_text(condition), formula)


def _results(program: ExportedProgram) -> Iterator[tuple[int, int, Any, Any]]:
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    for entry, spec in enumerate(program.graph_signature.output_specs):
        if spec.kind.name != "USER_OUTPUT":
            continue
        value = values.get(getattr(spec.arg, "name", ""))
        if isinstance(value, torch.Tensor):
            for dim, size in enumerate(value.shape):
                yield entry, dim, size, _expression(size)
        elif isinstance(value, torch.SymInt):
            yield entry, -1, value, _expression(value)


def _expression(size: Any) -> Any:
    return size if isinstance(size, int) else size.node.expr


class _Origins:
    """Which recorded guard a rule comes from: the one of the same form, or else of the same sense.

    torch rewrites guards before it puts them into a program; two conditions that agree on every
    sample of sizes, and refuse some, are taken for the same.
    """

    def __init__(
        self, attempt: Attempt, sizes: CallSizes, groups: Sequence[Sequence[RecordedGuard]]
    ) -> None:
        self._samples = _samples(sizes.inputs)
        self._forms: dict[tuple[Any, ...], int] = {}
        self._senses: dict[tuple[bool | None, ...], int] = {}
        births = attempt.recording.births
        for number, same in enumerate(groups):
            condition = same[0].condition
            asked = sizes.as_asked(births, condition)
            for formula in (asked, sizes.simplified(condition)):
                if formula:
                    self._forms.setdefault(tuple(formula), number)
            if asked:
                self._senses.setdefault(self._sense(asked), number)

    def of(self, formula: Formula) -> int:
        """The number of the guard; -1 where it was not recorded."""
        if not formula:
            return -1
        known = self._forms.get(tuple(formula))
        if known is not None:
            return known
        sense = self._sense(formula)
        return -1 if False not in sense else self._senses.get(sense, -1)

    def _sense(self, formula: Formula) -> tuple[bool | None, ...]:
        return tuple(_truth(formula, sizes) for sizes in self._samples)


def _truth(formula: Formula, sizes: Sequence[int]) -> bool | None:
    try:
        return bool(evaluate(formula, sizes))
    except (ArithmeticError, ValueError):
        return None


def _samples(inputs: Sequence[SizeInput]) -> list[list[int]]:
    """Sizes to tell conditions apart by: small and large ones, the same each time."""
    numbers = random.Random(0)
    symbols = sorted({each.symbol for each in inputs if each.symbol >= 0})
    return [
        _sampled(inputs, {each: numbers.choice(_TRIED) for each in symbols}, numbers)
        for _ in range(_SAMPLES)
    ]


_TRIED = (2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 128, 512, 1024)


def _sampled(
    inputs: Sequence[SizeInput], values: dict[int, int], numbers: random.Random
) -> list[int]:
    """The sizes for values of the symbols, one in three of them off."""
    sizes = sizes_of_symbols(Probe(list(inputs), [], []), values)
    if sizes and numbers.random() < 1 / 3:
        sizes[numbers.randrange(len(sizes))] += 1
    return sizes

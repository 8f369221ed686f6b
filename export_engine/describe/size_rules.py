"""A program's rules on the sizes of a call, which `ExportedProgram.module()` enforces.

They are those of torch's input guards (fixed sizes, ranges, equal and derived dims), the guards
that travel with the program, and its own asserts about sizes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from export_engine.describe.call_sizes import CallSizes
from export_engine.describe.input_rules import contract_rules, follows
from export_engine.describe.source import ProgramSource
from export_engine.describe.symbols import Symbols
from export_engine.describe.value_table import sizes_of
from export_engine.record import (
    Guard,
    OutputSize,
    Probe,
    Rule,
    SizeInput,
    Symbol,
    canonical,
    sizes_of_symbols,
)
from export_engine.sizes import Evaluator, Expression, Formula, sizes_in
from export_engine.traced_sizes import InputPlace

_SAMPLES = 48


class Traced(NamedTuple):
    """The guards of a program that were recorded while it was traced."""

    guards: Sequence[Guard]
    """Described."""
    conditions: Sequence[Expression]
    """Per guard, what it asked."""
    simplified: Sequence[Expression]
    """The same, with equal symbols substituted."""
    born: Mapping[str, InputPlace]
    """The input dims that tracing made symbols for."""


def describe_probe(
    source: ProgramSource,
    sizes: CallSizes,
    symbols: Sequence[Symbol],
    names: Symbols,
    traced: Traced | None = None,
) -> tuple[Probe, set[int]]:
    """The rules, and the numbers of the guards that became some of them.

    Args:
        source: the program.
        sizes: the sizes of its inputs.
        symbols: its symbols, described.
        names: the symbols.
        traced: its guards; None if it was not traced here.
    """
    asserts = list(_iter_assert_rules(source, sizes, names))
    asked = [*_iter_guard_rules(source, sizes), *asserts]
    rules = contract_rules(sizes, symbols, asked)
    entries = {canonical(rule.formula): at for at, rule in enumerate(rules) if rule.formula}
    origin = _Origins(traced, sizes, symbols) if traced else None
    guards = traced.guards if traced else ()
    linked: set[int] = set()
    for rule in asked:
        guard = origin.find(rule.formula) if origin else -1
        linked |= {guard} - {-1}
        same = entries.get(canonical(rule.formula))
        if same is None and follows(rule, sizes.inputs, symbols):
            continue
        if same is None:
            if rule.formula:
                entries[canonical(rule.formula)] = len(rules)
            as_asked = guard >= 0 and rule in asserts
            text = min(guards[guard].text, rule.text, key=len) if as_asked else rule.text
            rules.append(_with_origin(rule, guard, guards, text))
        elif guard >= 0:
            rules[same] = _with_origin(rules[same], guard, guards, rules[same].text)
    return Probe(sizes.inputs, rules, list(_results(source, sizes, names))), linked


def _with_origin(rule: Rule, guard: int, guards: Sequence[Guard], text: str) -> Rule:
    stack = guards[guard].stack if guard >= 0 else rule.stack
    return msgspec.structs.replace(rule, guard=guard, stack=stack, text=text)


def _iter_guard_rules(source: ProgramSource, sizes: CallSizes) -> Iterator[Rule]:
    for code in source.guards:
        formula, text = sizes.compile_guard(code)
        yield Rule("guard", text[: source.most_characters], formula, enforced=source.checks_guards)


def _iter_assert_rules(source: ProgramSource, sizes: CallSizes, names: Symbols) -> Iterator[Rule]:
    """The program's own asserts, except those that no size can break."""
    for condition in source.asserts():
        formula = sizes.compile_size(condition)
        if formula and sizes_in(formula) and formula[1:] != [0, ">="]:
            yield Rule("guard", names.guard_text(condition), formula)


def _results(source: ProgramSource, sizes: CallSizes, names: Symbols) -> Iterator[OutputSize]:
    for number, entry in enumerate(source.outputs):
        if entry.kind != "user_output" or entry.is_constant:
            continue
        for dim, size in sizes_of(entry.value):
            if not isinstance(size, str):
                yield OutputSize(number, dim, names.size(size), sizes.compile_size(size))


class _Origins:
    """The recorded guard of a rule: one of the same form, else an equivalent one.

    torch rewrites guards before it puts them into a program; two conditions that agree on every
    sample of sizes, and reject some, count as equivalent.
    """

    def __init__(self, traced: Traced, sizes: CallSizes, symbols: Sequence[Symbol]) -> None:
        least = {number: symbol.lower or 0 for number, symbol in enumerate(symbols)}
        self._samples = [*_samples(sizes.inputs), *_smallest(sizes.inputs, least)]
        self._forms: dict[tuple[Any, ...], int] = {}
        self._senses: dict[tuple[bool | None, ...], int] = {}
        for number, condition in enumerate(traced.conditions):
            asked = sizes.compile_size(condition, traced.born)
            for formula in (asked, sizes.compile_size(traced.simplified[number])):
                if formula:
                    self._forms.setdefault(canonical(formula), number)
            if asked:
                self._senses.setdefault(self._sense(asked), number)

    def find(self, formula: Formula) -> int:
        """The number of the guard; -1 if it was not recorded."""
        if not formula:
            return -1
        number = self._forms.get(canonical(formula))
        if number is not None:
            return number
        sense = self._sense(formula)
        return -1 if False not in sense else self._senses.get(sense, -1)

    def _sense(self, formula: Formula) -> tuple[bool | None, ...]:
        evaluate = Evaluator(formula)
        return tuple(_truth(evaluate, sizes) for sizes in self._samples)


def _truth(evaluate: Evaluator, sizes: Sequence[int]) -> bool | None:
    try:
        return bool(evaluate(sizes))
    except (ArithmeticError, ValueError):
        return None


def _samples(inputs: Sequence[SizeInput]) -> list[list[int]]:
    """Sample sizes to compare conditions: small and large, always the same."""
    numbers = random.Random(0)
    symbols = sorted({size.symbol for size in inputs if size.symbol >= 0})
    return [
        _sample_sizes(inputs, {symbol: numbers.choice(_TRIED) for symbol in symbols}, numbers)
        for _ in range(_SAMPLES)
    ]


def _smallest(inputs: Sequence[SizeInput], least: Mapping[int, int]) -> Iterator[list[int]]:
    """Samples of 0 and 1, for each symbol that may be as small: `batch != 0`."""
    symbols = sorted({size.symbol for size in inputs if size.symbol >= 0})
    for symbol in symbols:
        for size in range(least.get(symbol, 2), 2):
            yield sizes_of_symbols(
                Probe(list(inputs), [], []), dict.fromkeys(symbols, 16) | {symbol: size}
            )


_TRIED = (2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 128, 512, 1024)


def _sample_sizes(
    inputs: Sequence[SizeInput], values: dict[int, int], numbers: random.Random
) -> list[int]:
    """The sizes for values of the symbols, one in three of them off."""
    sizes = sizes_of_symbols(Probe(list(inputs), [], []), values)
    if sizes and numbers.random() < 1 / 3:
        sizes[numbers.randrange(len(sizes))] += 1
    return sizes

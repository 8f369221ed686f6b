"""A program's rules on the sizes of a call, which `ExportedProgram.module()` enforces.

They are those of torch's input guards (fixed sizes, ranges, equal and derived dims), the guards
that travel with the program, and its own asserts about sizes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import torch

from export_engine.attempt import Attempt
from export_engine.describe.call_sizes import CallSizes
from export_engine.describe.input_rules import contract_rules, follows
from export_engine.describe.symbol_names import Symbols
from export_engine.describe.values import Values
from export_engine.record import (
    Formula,
    Guard,
    OutputSize,
    Probe,
    Rule,
    SizeInput,
    Symbol,
    canonical,
    evaluate,
    sizes_in,
    sizes_of_symbols,
)
from export_engine.torch_internals import ProgramSource, asserted, guards_code
from export_engine.trace import RecordedGuard

_SAMPLES = 48


def describe_probe(
    program: ProgramSource,
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
    asserts = list(_asserted(program, sizes, names))
    asked = [*_guarded(program, sizes), *asserts]
    rules = contract_rules(sizes, symbols, asked)
    known = {canonical(rule.formula): at for at, rule in enumerate(rules) if rule.formula}
    least = {number: symbol.lower or 0 for number, symbol in enumerate(symbols)}
    origin = _Origins(attempt, sizes, groups, least)
    linked: set[int] = set()
    for rule in asked:
        guard = origin.of(rule.formula)
        linked |= {guard} - {-1}
        same = known.get(canonical(rule.formula))
        if same is None and follows(rule, sizes.inputs, symbols):
            continue
        if same is None:
            if rule.formula:
                known[canonical(rule.formula)] = len(rules)
            as_asked = guard >= 0 and rule in asserts
            text = min(guards[guard].text, rule.text, key=len) if as_asked else rule.text
            rules.append(_with_origin(rule, guard, guards, text))
        elif guard >= 0:
            rules[same] = _with_origin(rules[same], guard, guards, rules[same].text)
    outputs = [
        OutputSize(entry, dim, names.size(size), sizes.of_symbols(expression))
        for entry, dim, size, expression in _results(program)
    ]
    return Probe(sizes.inputs, rules, outputs), linked


def _with_origin(rule: Rule, guard: int, guards: Sequence[Guard], text: str) -> Rule:
    stack = guards[guard].stack if guard >= 0 else rule.stack
    return msgspec.structs.replace(rule, guard=guard, stack=stack, text=text)


def _guarded(program: ProgramSource, sizes: CallSizes) -> Iterator[Rule]:
    """torch checks them only if the program has its example inputs."""
    checked = program.example_inputs is not None
    for code in guards_code(program):
        formula, text = sizes.of_guard(code)
        yield Rule("guard", text, formula, enforced=checked)


def _asserted(program: ProgramSource, sizes: CallSizes, names: Symbols) -> Iterator[Rule]:
    """The program's own asserts, except those that no size can break."""
    for condition in asserted(program):
        formula = sizes.of_symbols(condition)
        if formula and sizes_in(formula) and formula[1:] != [0, ">="]:
            yield Rule("guard", names.guard_text(condition), formula)


def _results(program: ProgramSource) -> Iterator[tuple[int, int, Any, Any]]:
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
    """The recorded guard behind a rule: one of the same form, else an equivalent one.

    torch rewrites guards before it puts them into a program; two conditions that agree on every
    sample of sizes, and reject some, count as equivalent.
    """

    def __init__(
        self,
        attempt: Attempt,
        sizes: CallSizes,
        groups: Sequence[Sequence[RecordedGuard]],
        least: Mapping[int, int],
    ) -> None:
        self._samples = [*_samples(sizes.inputs), *_smallest(sizes.inputs, least)]
        self._forms: dict[tuple[Any, ...], int] = {}
        self._senses: dict[tuple[bool | None, ...], int] = {}
        births = attempt.recording.births
        for number, same in enumerate(groups):
            condition = same[0].condition
            asked = sizes.as_asked(births, condition)
            for formula in (asked, sizes.simplified(condition)):
                if formula:
                    self._forms.setdefault(canonical(formula), number)
            if asked:
                self._senses.setdefault(self._sense(asked), number)

    def of(self, formula: Formula) -> int:
        """The number of the guard; -1 where it was not recorded."""
        if not formula:
            return -1
        known = self._forms.get(canonical(formula))
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
    """Sample sizes to compare conditions: small and large, always the same."""
    numbers = random.Random(0)
    symbols = sorted({each.symbol for each in inputs if each.symbol >= 0})
    return [
        _sampled(inputs, {each: numbers.choice(_TRIED) for each in symbols}, numbers)
        for _ in range(_SAMPLES)
    ]


def _smallest(inputs: Sequence[SizeInput], least: Mapping[int, int]) -> Iterator[list[int]]:
    """Samples of 0 and 1, for each symbol that may be as small: `batch != 0`."""
    symbols = sorted({each.symbol for each in inputs if each.symbol >= 0})
    for symbol in symbols:
        for size in range(least.get(symbol, 2), 2):
            yield sizes_of_symbols(
                Probe(list(inputs), [], []), dict.fromkeys(symbols, 16) | {symbol: size}
            )


_TRIED = (2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 128, 512, 1024)


def _sampled(
    inputs: Sequence[SizeInput], values: dict[int, int], numbers: random.Random
) -> list[int]:
    """The sizes for values of the symbols, one in three of them off."""
    sizes = sizes_of_symbols(Probe(list(inputs), [], []), values)
    if sizes and numbers.random() < 1 / 3:
        sizes[numbers.randrange(len(sizes))] += 1
    return sizes

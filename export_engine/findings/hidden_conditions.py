"""Conditions that the program checks and that its ranges do not show."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import stack_of
from export_engine.record import Record, Rule, holds, sizes_of_symbols

if TYPE_CHECKING:
    from export_engine.attempt import Exported, Fix

_SAMPLES = 200
_FEW = 0.1
"""A condition that accepts less than this share of a range makes the range misleading."""
_MOST_TOKENS = 5_000
"""Characters of all formulas that are tried; later ones usually have the same origin."""


def check_hidden_conditions(record: Record, exported: Exported | None) -> Iterator[Finding]:
    """The first condition that the example breaks, or nearly every choice within the ranges."""
    if exported is not None and exported.request is not None:
        broken_one = _find_rule_broken_by_example(record)
        if broken_one is not None:
            yield _rejection_finding(record, broken_one)
            return
    tried = list(_iter_rules_to_try(record))
    samples = list(_within(record)) if tried else []
    for rule in tried:
        broken = sum(not holds(rule.formula, sizes) for sizes in samples)
        if samples and broken >= (1 - _FEW) * len(samples):
            guard = record.guards[rule.guard] if rule.guard >= 0 else None
            yield Finding(
                kind=Kind.HIDDEN_CONDITION,
                severity="surprising",
                sentence=rules.HiddenCondition.REJECTS_SIZES(rule=rule.text),
                why=rules.HiddenCondition.REJECTS_SIZES_WHY(),
                stack=stack_of(record, guard.stack) if guard else (),
                guard=rule.guard,
                fix=_fix(exported, record, rule),
            )
            return  # the others usually have the same cause


def _find_rule_broken_by_example(record: Record) -> Rule | None:
    """The first rule that the program asserts and the example's own sizes break."""
    sizes = [size.example for size in record.probe.inputs]
    enforced = (rule for rule in record.probe.rules if rule.enforced and rule.formula)
    return next((rule for rule in enforced if not holds(rule.formula, sizes)), None)


def _rejection_finding(record: Record, rule: Rule) -> Finding:
    guard = record.guards[rule.guard] if rule.guard >= 0 else None
    return Finding(
        kind=Kind.HIDDEN_CONDITION,
        severity="surprising",
        sentence=rules.HiddenCondition.REJECTS_EXAMPLE(rule=rule.text),
        why=rules.HiddenCondition.REJECTS_EXAMPLE_WHY(),
        stack=stack_of(record, guard.stack) if guard else (),
        guard=rule.guard,
    )


def _iter_rules_to_try(record: Record) -> Iterator[Rule]:
    left = _MOST_TOKENS
    for rule in record.probe.rules:
        if rule.kind == "guard" and rule.enforced and rule.formula:
            left -= len(rule.formula)
            if left < 0:
                return
            yield rule


def _within(record: Record) -> Iterator[list[int]]:
    """Sizes within the ranges, near the example's."""
    numbers = random.Random(1)
    symbols = {size.symbol for size in record.probe.inputs if size.symbol >= 0}
    for _ in range(_SAMPLES if symbols else 0):
        values = {}
        for number in symbols:
            symbol = record.symbols[number]
            low = max(symbol.lower or 0, 2)
            high = min(symbol.upper or 2**31, max(4 * (symbol.example or 8), low + 64))
            values[number] = numbers.randint(low, max(low, high))
        yield sizes_of_symbols(record.probe, values)


def _fix(exported: Exported | None, record: Record, rule: Rule) -> Fix | None:
    if exported is None or exported.request is None:
        return None
    from export_engine.findings.fixes import keeping_sizes

    return keeping_sizes(exported.request, record, rule)

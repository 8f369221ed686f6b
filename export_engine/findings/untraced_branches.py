"""Branches that the trace decided for sizes of 2 or more, where the program accepts 0 or 1."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from msgspec.structs import replace

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind, as_module
from export_engine.findings.branch_arms import compare_arms
from export_engine.findings.reachable_code import find_reached_functions
from export_engine.record import Record, Symbol
from export_engine.source import Location, Stack, code_of, is_own, original_file
from export_engine.torch_internals import apply_replacements
from export_engine.trace import AskedCondition

_LEAST = 2
_SMALL = (0, 1)
"""The sizes that torch assumes no size has, and that the program then accepts."""


@dataclass
class _Branch:
    """A line that checks conditions, and the sizes at which one of them differs."""

    stack: Stack
    sizes: dict[str, None] = field(default_factory=dict)
    """`n = 1`, in order."""


def check_untraced_branches(exported: Exported, record: Record) -> Iterator[Finding]:
    """One finding per line; none of a line whose two ways compute the same.

    A package's own line is named only where its ways surely differ: its authors know of size 1.
    """
    symbols = {symbol.torch_name: symbol for symbol in _iter_sizes(exported, record)}
    branches: dict[Location, _Branch] = {}
    for asked in exported.recording.asked:
        for size in _find_turning_sizes(exported, asked, symbols):
            place = asked.stack[-1]
            branches.setdefault(place, _Branch(asked.stack)).sizes.setdefault(size)
    if not branches or exported.request is None:
        return
    functions = list(find_reached_functions(exported.request.target))
    module = as_module(exported.request.target)
    arms = {
        place: compare_arms(place.file, place.line, _find_function(functions, place), module)
        for place in branches
    }
    checks = {asked.stack[-1] for asked in exported.recording.asked if asked.checks}
    refused = {
        size
        for place, branch in branches.items()
        if arms[place] == "raises" or place in checks
        for size in branch.sizes
    }
    for place, branch in branches.items():
        sizes = [size for size in branch.sizes if size not in refused]
        told = arms[place] == "other" or (arms[place] == "unknown" and is_own(place.file))
        if sizes and told:
            yield Finding(
                kind=Kind.UNTRACED_BRANCH,
                severity="surprising" if arms[place] == "other" else "note",
                sentence=rules.UntracedBranch.SENTENCE(
                    test=_find_test(place), sizes=" and ".join(sizes)
                ),
                why=rules.UntracedBranch.WHY() + rules.UntracedBranch.UNDECIDED(),
                stack=branch.stack,
                decided_by="sound",
                sizes=tuple(sizes),
            )


def _iter_sizes(exported: Exported, record: Record) -> Iterator[Symbol]:
    """The sizes of inputs that torch assumes to be 2 or more, each with the range that it has."""
    shapes = exported.request.shapes if exported.request is not None else None
    for number, symbol in enumerate(record.symbols):
        places = [
            (record.signature.inputs[size.entry].path, size.dim)
            for size in record.probe.inputs
            if size.symbol == number and (size.scale, size.offset) == (1, 0)
        ]
        if not places or symbol.kind != "backed" or symbol.example is None:
            continue
        own = symbol.lower == _LEAST and shapes is not None
        yield replace(symbol, lower=shapes.find_least(places)) if own and shapes else symbol


def _find_turning_sizes(
    exported: Exported, asked: AskedCondition, symbols: dict[str, Symbol]
) -> Iterator[str]:
    """The small sizes that the program accepts, and at which a condition has another answer."""
    env = exported.recording.shape_env
    condition = apply_replacements(env, asked.condition) if env is not None else asked.condition
    free = {str(symbol): symbol for symbol in getattr(condition, "free_symbols", ())}
    if not free or not free.keys() <= symbols.keys():
        return
    for name, symbol in free.items():
        low, high = symbols[name].lower or 0, symbols[name].upper
        for size in _SMALL:
            if size < low or (high is not None and size > high):
                continue
            values = {free[other]: symbols[other].example for other in free} | {symbol: size}
            answer = _answer(condition, values)
            turns = answer is not None and answer != asked.answer
            if turns and not _is_guarded(exported, symbol, size):
                yield f"{symbols[name].name} = {size}"


def _is_guarded(exported: Exported, symbol: Any, size: int) -> bool:
    """Whether a guard keeps a size of its own out of the program."""
    return any(
        _answer(guard.condition, {symbol: size}) is False for guard in exported.recording.guards
    )


def _answer(condition: Any, values: dict[Any, Any]) -> bool | None:
    """A condition for sizes; None where it needs more to be known."""
    try:
        answer = condition.subs(values)
        if getattr(answer, "is_Relational", False):
            answer = answer.doit()
        return bool(answer) if getattr(answer, "is_Atom", False) else None
    except (ArithmeticError, TypeError, ValueError):  # a size of 0 that the condition divides by
        return None


def _find_function(functions: list[FunctionType], place: Location) -> FunctionType | None:
    """The function that a line is in: the one that begins last before it."""
    near = [
        function
        for function in functions
        if original_file(function.__code__.co_filename) == original_file(place.file)
        and function.__code__.co_name == place.function
        and function.__code__.co_firstlineno <= place.line
    ]
    return max(near, key=lambda function: function.__code__.co_firstlineno, default=None)


def _find_test(place: Location) -> str:
    """The text of the test at a line, or of the line."""
    code = code_of(place.file)
    statement = code.statement(place.line) if code is not None else None
    if code is None or statement is None:
        return f"line {place.line}"
    choices = [node for node in ast.walk(statement) if isinstance(node, ast.IfExp)]
    asking = getattr(statement, "subject", choices[0].test if len(choices) == 1 else statement)
    return code.text(getattr(statement, "test", asking))

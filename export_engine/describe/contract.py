"""The shape contract: symbols with ranges and places, guards and their effects."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
import sympy

from export_engine.attempt import Attempt
from export_engine.describe.bounds import bounds_of
from export_engine.describe.symbol_facts import SymbolFacts
from export_engine.describe.symbols import Symbols
from export_engine.describe.tables import Stacks
from export_engine.record import Guard, Place, Signature, Symbol, interval
from export_engine.shapes import Relation, Shapes
from export_engine.sizes import Expression, name_symbol
from export_engine.torch_internals import (
    LiveProgram,
    apply_replacements,
    find_range,
    int_bound,
    list_traced_symbols,
    read_sympy,
    shape_env,
    symbol_value,
    symbols_left,
)
from export_engine.trace import Narrowing, RecordedGuard, Recording, Replacement
from export_engine.traced_sizes import InputPlace

_BY_SHAPES = "dynamic_shapes"
"""Who asked for an assumption."""
_SAMPLES = 64
_SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 31, 32, 48, 64, 100)


def _is_assumed(guard: RecordedGuard, shapes: Shapes | None, symbols: Symbols) -> bool:
    """Whether a guard says what an assumption says; torch writes it in its own way.

    Two conditions on the same sizes are taken for one if no line of the user's asked, and they
    agree on all samples.

    Args:
        guard: as recorded.
        shapes: what was asked for.
        symbols: of the program.
    """
    if shapes is None or guard.stack or guard.kind != "runtime_assert":
        return False
    names = {
        symbols.name(str(free_symbol)): free_symbol for free_symbol in guard.condition.free_symbols
    }
    return any(
        set(relation.names) == set(names) and _agree(guard, relation, names)
        for relation in shapes.assumptions
    )


def _agree(guard: RecordedGuard, relation: Relation, names: Mapping[str, Any]) -> bool:
    tried = [*_SIZES, *_near(relation.left), *_near(relation.right)]
    numbers = random.Random(0)
    for _ in range(_SAMPLES):
        sizes = {name: numbers.choice(tried) for name in names}
        asked = {names[name]: sympy.Integer(size) for name, size in sizes.items()}
        try:
            holds = bool(guard.condition.xreplace(asked))
        except (ArithmeticError, TypeError, AssertionError):  # it has no value: a zero divisor
            continue
        if holds != relation.holds(sizes):
            return False
    return True


def _near(expression: Expression) -> Iterator[int]:
    """Sizes about the numbers of an expression."""
    for argument in expression.args:
        yield from _near(argument)
    if expression.is_number:
        size = int(expression.value)
        yield from (size // 2, size - 1, size, size + 1)


Consequence = Narrowing | Replacement


class Guards:
    """The recorded guards, in order; the same condition asked for by the same line is folded."""

    def __init__(self, recording: Recording) -> None:
        self.groups: list[list[RecordedGuard]] = []
        """Per folded guard, those that were recorded."""
        self.number: list[int] = []
        """Per recorded guard, its folded one."""
        folded: dict[tuple[str, Any], int] = {}
        for guard in recording.guards:
            number = folded.setdefault(
                (_normal_form(guard.condition), guard.stack), len(self.groups)
            )
            if number == len(self.groups):
                self.groups.append([])
            self.groups[number].append(guard)
            self.number.append(number)
        self.consequences: list[list[Consequence]] = [[] for _ in self.groups]
        for event in recording.events:
            if isinstance(event, Narrowing | Replacement) and event.cause >= 0:
                self.consequences[self.number[event.cause]].append(event)

    def conditions(self, program: LiveProgram) -> tuple[list[Expression], list[Expression]]:
        """Per guard what it asked, and the same with the sizes that are equal put in."""
        asked = [same[0].condition for same in self.groups]
        env = shape_env(program)
        return (
            [read_sympy(value) for value in asked],
            [read_sympy(apply_replacements(env, value)) for value in asked],
        )


def _normal_form(condition: Any) -> str:
    """A canonical form of a condition: the same for `0 <= 2*a` and `2*a >= 0`."""
    if not getattr(condition, "is_Relational", False):
        return str(condition)
    return min(str(condition), str(condition.reversed))


def facts_of_trace(recording: Recording) -> Callable[[str], SymbolFacts]:
    """The last facts about a symbol, by torch's name, of a trace that ended without a program."""
    env = recording.shape_env
    symbols = {str(symbol): symbol for symbol in list_traced_symbols(env)}

    def facts(name: str) -> SymbolFacts:
        symbol = symbols.get(name)
        if symbol is None:
            return SymbolFacts(None, None, None)
        example = symbol_value(env, symbol)
        equal = apply_replacements(env, symbol)
        if equal.is_number:
            return SymbolFacts(int_bound(equal), int_bound(equal), example)
        return SymbolFacts(*find_range(env, equal if equal.is_Symbol else symbol), example)

    return facts


def places_of_trace(symbols: Symbols, born: Mapping[str, InputPlace]) -> dict[int, list[Place]]:
    """Where the symbols of a failed attempt came from: it has no signature to point into.

    Args:
        symbols: of the attempt.
        born: per torch's name of a symbol, the input dim it was made for.
    """
    groups = {}
    for number, name in enumerate(symbols.table.entries):
        if name in born:
            text = symbols.text(name_symbol(name))
            same = [born[text] for text in born if symbols.key(text) == symbols.key(name)]
            groups[number] = [Place("input", -1, at.position, str(at), text) for at in same]
    return groups


def describe_guards(
    program: LiveProgram | None,
    guards: Guards,
    symbols: Symbols,
    stacks: Stacks,
    places: Mapping[str, InputPlace],
    signature: Signature,
    shapes: Shapes | None,
) -> list[Guard]:
    """The guards with their lines and effects.

    Args:
        program: None for a failed attempt.
        guards: what was recorded.
        symbols: of the program.
        stacks: of the Record.
        places: per torch's name of a symbol, the input dim it was made for.
        signature: of the program.
        shapes: what was asked for.
    """
    entries = {entry.path: number for number, entry in enumerate(signature.inputs) if entry.path}
    ranges = {str(key) for key in program.range_constraints} if program else set()
    described = []
    for same, consequences in zip(guards.groups, guards.consequences, strict=True):
        condition = same[0].condition
        involved = _left(program, condition, symbols, ranges)
        about = (places.get(str(free_symbol)) for free_symbol in condition.free_symbols)
        effect, result = _effect(consequences, symbols)
        described.append(
            Guard(
                symbols.guard_text(read_sympy(condition)),
                str(condition),
                sorted({symbols.number(symbol) for symbol in involved}),
                same[0].kind,  # type: ignore[arg-type]
                stacks.number(same[0].stack),
                len(same),
                effect,
                result,
                _BY_SHAPES if _is_assumed(same[0], shapes, symbols) else same[0].asked_by,
                sorted({entries[place.path] for place in about if place and place.path in entries}),
            )
        )
    return described


def _left(
    program: LiveProgram | None, condition: Any, symbols: Symbols, ranges: set[str]
) -> set[str]:
    """The symbols of a condition that are in the program; of a failure, all of them."""
    if program is None:
        return {str(symbol) for symbol in condition.free_symbols}
    left = {str(symbol) for symbol in symbols_left(program, condition)}
    return {symbol for symbol in left if symbols.find_number(symbol) or symbol in ranges}


def with_bounds(
    described: Sequence[Symbol],
    attempt: Attempt,
    recorded: Guards,
    guards: Sequence[Guard],
    shapes: Shapes | None,
) -> list[Symbol]:
    """The symbols with where their bounds come from."""
    texts = [guard.text for guard in guards]
    items = bounds_of(described, attempt.recording, recorded.number, texts, shapes, attempt.request)
    return [
        msgspec.structs.replace(symbol, bounds=bounds)
        for symbol, bounds in zip(described, items, strict=True)
    ]


def with_kept(guards: Sequence[Guard], kept: set[int]) -> list[Guard]:
    """The guards; one without effect that the program does not check is implied."""
    return [
        msgspec.structs.replace(guard, effect="implied")
        if guard.effect == "kept" and guard.kind == "guard" and number not in kept
        else guard
        for number, guard in enumerate(guards)
    ]


def describe_narrowing(event: Narrowing, symbols: Symbols) -> str:
    """`batch in [2, 16]`."""
    within = interval(int_bound(event.lower), int_bound(event.upper))
    return f"{symbols.guard_text(read_sympy(event.symbol))} in {within}"


def describe_replacement(event: Replacement, symbols: Symbols) -> str:
    """`y.shape[0] = seq`."""
    sympy = read_sympy(event.value)
    symbol, value = symbols.born(read_sympy(event.symbol)), symbols.guard_text(sympy)
    return f"{symbol} = {value if value != symbol else symbols.born(sympy)}"


def _effect(
    consequences: Sequence[Consequence], symbols: Symbols
) -> tuple[Literal["narrows", "fixes", "equates", "kept"], str]:
    """The strongest effect of a guard, and what is known since."""
    replaced = [consequence for consequence in consequences if isinstance(consequence, Replacement)]
    narrowed = [consequence for consequence in consequences if isinstance(consequence, Narrowing)]
    fixed = [replacement for replacement in replaced if replacement.value.is_number]
    if fixed:
        return "fixes", ", ".join(
            describe_replacement(replacement, symbols) for replacement in fixed
        )
    if replaced:
        return "equates", ", ".join(
            describe_replacement(replacement, symbols) for replacement in replaced
        )
    if narrowed:
        last = {narrowing.symbol: narrowing for narrowing in narrowed}
        return "narrows", ", ".join(
            describe_narrowing(narrowing, symbols) for narrowing in last.values()
        )
    return "kept", ""

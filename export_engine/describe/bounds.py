"""Where the bounds of each symbol's range come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgspec

from export_engine.attempt import Request
from export_engine.describe.file_names import FileNames
from export_engine.describe.symbol_facts import default_bounds
from export_engine.record import Bound, Symbol
from export_engine.shapes import Shapes
from export_engine.torch_internals import int_bound
from export_engine.trace import Narrowing, RecordedGuard, Recording, Replacement


def bounds_of(
    symbols: Sequence[Symbol],
    recording: Recording,
    folded: Sequence[int],
    texts: Sequence[str],
    shapes: Shapes | None,
    request: Request | None,
) -> list[list[Bound]]:
    """Per symbol, where its bounds come from.

    Args:
        symbols: described, by number.
        recording: of the attempt.
        folded: per recorded guard, its number in the Record.
        texts: per guard of the Record, its text.
        shapes: what was asked for.
        request: it was asked by this, whose fixes may have set a bound.
    """
    same = _equal_symbols(recording)
    changes = [event for event in recording.events if isinstance(event, Narrowing)]
    result = []
    for symbol in symbols:
        names = same.get(symbol.torch_name, {symbol.torch_name})
        own = [change for change in changes if str(change.symbol) in names]
        bounds = _bounds(symbol, own, recording.guards, folded, texts, shapes)
        result.append([_by_a_fix(bound, symbol.name, request) for bound in bounds])
    return result


def _by_a_fix(bound: Bound, name: str, request: Request | None) -> Bound:
    """A bound of the shapes, said to be a fix's where one set it."""
    if bound.origin != "dim" or request is None:
        return bound
    for fix in reversed(request.shape_fixes):
        asked = fix.before.dims().get(name) if fix.before else None
        before = asked and (asked.low if bound.side == "lower" else asked.high)
        if before != bound.value:
            place = fix.stack[-1] if fix.stack else None
            names = FileNames(request.cells)
            line = f", for {names.name_of(place.file)}:{place.line}" if place else ""
            return msgspec.structs.replace(
                bound, origin="fix", text=f"by the fix {fix.title}{line}"
            )
    return bound


def _bounds(
    symbol: Symbol,
    changes: Sequence[Narrowing],
    guards: Sequence[RecordedGuard],
    folded: Sequence[int],
    texts: Sequence[str],
    shapes: Shapes | None,
) -> Iterator[Bound]:
    asked = shapes.dims().get(symbol.name) if shapes else None
    sides: list[tuple[Literal["lower", "upper"], int | None, int | None]] = [
        ("lower", symbol.lower, asked.low if asked else None),
        ("upper", symbol.upper, asked.high if asked else None),
    ]
    defaults = {
        default_bound.side: default_bound
        for default_bound in default_bounds(symbol.kind, symbol.lower, symbol.upper)
    }
    for side, value, wanted in sides:
        if value is None:
            continue
        cause = _cause(changes, side, value)
        if value == wanted:
            yield Bound(side, value, "dim", f"dynamic_shapes sets this bound of {symbol.name}")
        elif cause >= 0:
            guard = guards[cause]
            origin: Literal["guard", "check"] = (
                "check"
                if guard.kind == "runtime_assert" or guard.asked_by == "torch._check"
                else "guard"
            )
            yield Bound(side, value, origin, texts[folded[cause]], folded[cause])
        else:
            yield defaults[side]


def _cause(changes: Sequence[Narrowing], side: str, value: int) -> int:
    """The guard that set a bound; -1 if none did."""
    for change in changes:
        bound: Any = change.lower if side == "lower" else change.upper
        if side in change.sides and int_bound(bound) == value:
            return change.cause
    return -1


def _equal_symbols(recording: Recording) -> dict[str, set[str]]:
    """Per symbol, those that were found equal to it, and itself."""
    groups: dict[str, set[str]] = {}
    for event in reversed(recording.events):
        if isinstance(event, Replacement) and event.value.is_Symbol:
            one, other = str(event.symbol), str(event.value)
            joined = groups.get(one, {one}) | groups.get(other, {other})
            for name in joined:
                groups[name] = joined
    return groups

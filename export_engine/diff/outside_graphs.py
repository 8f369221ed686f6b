"""Differences outside of the graphs: signature, ranges, guards."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.diff.rejections import rejected_differently
from export_engine.diff.side import Side
from export_engine.record import Difference, InputEntry, OutputEntry


def other_differences(before: Side, after: Side) -> Iterator[Difference]:
    """Of the signature, of symbols and their ranges, and of guards."""
    yield from _compared("input", _inputs(before), _inputs(after))
    yield from _compared("output", _outputs(before), _outputs(after))
    yield from _compared("symbol", _ranges(before), _ranges(after))
    yield from _compared("guard", _guards(before), _guards(after))
    for each in rejected_differently(before.record, after.record):
        yield Difference("sizes", each.sizes, each.before, each.after)


def _compared(kind: str, mine: dict[str, str], theirs: dict[str, str]) -> Iterator[Difference]:
    for name in {**mine, **theirs}:
        one, other = mine.get(name, ""), theirs.get(name, "")
        if one != other:
            yield Difference(kind, name, one, other)  # type: ignore[arg-type]


def _inputs(side: Side) -> dict[str, str]:
    found, users = {}, 0
    for entry in side.record.signature.inputs:
        user = entry.kind == "user_input"
        name = f"input {users}" if user else entry.target or entry.name
        users += user
        found[name] = f"{entry.kind.replace('_', ' ')} {_value(side, entry)}"
    return found


def _outputs(side: Side) -> dict[str, str]:
    return {
        f"output {number}" if not entry.target else entry.target: (
            f"{entry.kind.replace('_', ' ')} {_value(side, entry)}"
        )
        for number, entry in enumerate(side.record.signature.outputs)
    }


def _value(side: Side, entry: InputEntry | OutputEntry) -> str:
    return entry.constant or (side.types[entry.type] if entry.type >= 0 else "")


def _ranges(side: Side) -> dict[str, str]:
    return {
        side.text(each.name): each.range
        for each in side.record.symbols
        if each.lower is not None or each.upper is not None
    }


def _guards(side: Side) -> dict[str, str]:
    """The guards checked at run time; merely recorded ones vary from run to run."""
    rules = side.record.probe.rules
    return {side.text(each.text): "checked" for each in rules if each.kind == "guard"}

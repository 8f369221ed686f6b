"""Differences outside of the graphs: signature, ranges, guards."""

from __future__ import annotations

from collections.abc import Hashable, Iterator

from export_engine.diff.rejections import rejected_differently
from export_engine.diff.side import Side
from export_engine.record import Difference, GraphDiff, InputEntry, OutputEntry, canonical


def other_differences(before: Side, after: Side, main: GraphDiff) -> Iterator[Difference]:
    """Of the signature, of symbols and their ranges, and of guards.

    Args:
        before: the first program.
        after: the second.
        main: the difference of their main graphs, which tells of inputs of another type.
    """
    yield from _input_differences(before, after, main)
    yield from _compared("output", _outputs(before), _outputs(after))
    yield from _compared("symbol", _ranges(before), _ranges(after))
    yield from _guards(before, after)
    for each in rejected_differently(before.record, after.record):
        yield Difference("sizes", each.sizes, each.before, each.after)


def _compared(kind: str, mine: dict[str, str], theirs: dict[str, str]) -> Iterator[Difference]:
    for name in {**mine, **theirs}:
        one, other = mine.get(name, ""), theirs.get(name, "")
        if one != other:
            yield Difference(kind, name, one, other)  # type: ignore[arg-type]


def _input_differences(before: Side, after: Side, main: GraphDiff) -> Iterator[Difference]:
    told = {pair.before for pair in main.pairs if any(each.what == "type" for each in pair.changes)}
    ones, others = _inputs(before), _inputs(after)
    texts = [
        {name: f"{each.kind.replace('_', ' ')} {_value(side, each)}" for name, each in all_.items()}
        for side, all_ in ((before, ones), (after, others))
    ]
    for found in _compared("input", texts[0], texts[1]):
        one, other = ones.get(found.name), others.get(found.name)
        if not (one and other and one.kind == other.kind and one.node in told):
            yield found


def _inputs(side: Side) -> dict[str, InputEntry]:
    found, users = dict[str, InputEntry](), 0
    for entry in side.record.signature.inputs:
        user = entry.kind == "user_input"
        found[f"input {users}" if user else entry.target or entry.name] = entry
        users += user
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


def _guards(before: Side, after: Side) -> Iterator[Difference]:
    """The guards checked at run time; merely recorded ones vary from run to run."""
    one, other = _checked(before), _checked(after)
    for said, text in {**one, **other}.items():
        mine, theirs = (said in side or text in side.values() for side in (one, other))
        if mine != theirs:
            yield Difference("guard", text, "checked" * mine, "checked" * theirs)


def _checked(side: Side) -> dict[Hashable, str]:
    """The text of each guard, by what it says: `a <= b` is `b >= a`."""
    places = [each.text for each in side.record.probe.inputs]
    found: dict[Hashable, str] = {}
    for rule in side.record.probe.rules:
        if rule.kind != "guard":
            continue
        text = side.text(rule.text)
        names = {f"d{number}": place for number, place in enumerate(places)}
        said = tuple(names.get(str(each), each) for each in canonical(rule.formula))
        found.setdefault(said or text, text)
    return found

"""Differences outside of the graphs: signature, ranges, guards."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from export_engine.diff.rejections import rejected_differently
from export_engine.diff.side import Side
from export_engine.record import (
    Difference,
    GraphDiff,
    InputEntry,
    OutputEntry,
    canonical,
    split_path,
)

_STARRED = re.compile(r"^args[._](?=\d)")
_WRITTEN = "user_input"
"""In the kinds of outputs that name a node: what is written to an input, or its gradient."""


def other_differences(before: Side, after: Side, main: GraphDiff) -> Iterator[Difference]:
    """Of the signature, of symbols and their ranges, and of guards.

    Args:
        before: the first program.
        after: the second.
        main: the difference of their main graphs, which tells of inputs of another type.
    """
    yield from _input_differences(before, after, main)
    yield from _path_differences(before, after)
    yield from _compared("output", *_outputs(before, after))
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


def _path_differences(before: Side, after: Side) -> Iterator[Difference]:
    """User inputs that a caller passes otherwise, and buffers that only one program saves.

    An argument may be renamed; it may not take the name of another one.
    """
    ones, others = _inputs(before), _inputs(after)
    both = [(name, one, others[name]) for name, one in ones.items() if name in others]
    heads = [{_parts(each.path)[0] for each in side.values()} for side in (ones, others)]
    for name, one, other in both:
        if one.kind == other.kind == "user_input" and one.path != other.path:
            (first, *rest), (second, *more) = _parts(one.path), _parts(other.path)
            traded = first != second and (first in heads[1] or second in heads[0])
            if (rest != more or traded) and not _is_nameless(one.path, other.path):
                yield Difference("input", name, f"passed as {one.path}", f"passed as {other.path}")
        if one.kind == other.kind == "buffer" and one.persistent != other.persistent:
            yield Difference("input", name, _lasting(one), _lasting(other))


def _parts(path: str) -> list[str]:
    return split_path(path) or [path]


def _is_nameless(path: str, other: str) -> bool:
    """Whether two paths differ in how `*args` is written, which a program alone does not tell."""
    return _STARRED.sub("args.", path) == _STARRED.sub("args.", other)


def _lasting(entry: InputEntry) -> str:
    return "buffer" if entry.persistent else "buffer that is not saved with the state"


def _outputs(before: Side, after: Side) -> tuple[dict[str, str], dict[str, str]]:
    """Per output what it is; where a caller finds it, if that differs."""
    ours, theirs = ([*_numbered(side)] for side in (before, after))
    paths = [[each.path for _, each in side] for side in (ours, theirs)]
    return tuple(
        {
            name: f"{each.kind.replace('_', ' ')} {_value(side, each)}"
            + (f" at {each.path}" if paths[0] != paths[1] and each.path else "")
            for name, each in outputs
        }
        for side, outputs in ((before, ours), (after, theirs))
    )  # type: ignore[return-value]


def _numbered(side: Side) -> Iterator[tuple[str, OutputEntry]]:
    """The outputs by what they write to; those that a caller gets, by their number."""
    users = (each for each in side.record.signature.inputs if each.kind == "user_input")
    places = {each.name: f"input {number}" for number, each in enumerate(users)}
    for number, entry in enumerate(side.record.signature.outputs):
        written = places.get(entry.target, entry.target) if _WRITTEN in entry.kind else ""
        yield written or entry.target or f"output {number}", entry


def _value(side: Side, entry: InputEntry | OutputEntry) -> str:
    return entry.constant or (side.types[entry.type] if entry.type >= 0 else "")


def _ranges(side: Side) -> dict[str, str]:
    """The ranges of symbols that some value has: torch forgets the others when it saves."""
    record = side.record
    inside = {each.text: each.symbols for each in record.expressions}
    sizes = (size for each in record.types for size in (*each.shape, *each.stride, each.value))
    used = {number for size in sizes if isinstance(size, str) for number in inside.get(size, ())}
    used |= {each.symbol for each in record.probe.inputs}
    return {
        side.text(each.name): each.range
        for number, each in enumerate(record.symbols)
        if number in used and (each.lower is not None or each.upper is not None)
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

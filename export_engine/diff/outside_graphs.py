"""Differences outside of the graphs: signature, ranges, guards."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator

from export_engine.diff.rejections import find_different_rejections
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
    """Differences of the signature, of symbols and their ranges, and of guards.

    Args:
        before: the first program.
        after: the second.
        main: the difference of their main graphs, which lists inputs of a different type.
    """
    yield from _input_differences(before, after, main)
    yield from _path_differences(before, after)
    yield from _compare("output", *_outputs(before, after))
    yield from _compare_containers(before, after)
    yield from _compare("symbol", _ranges(before), _ranges(after))
    yield from _guards(before, after)
    for rejection in find_different_rejections(before.record, after.record):
        yield Difference("sizes", rejection.sizes, rejection.before, rejection.after)


def _compare(kind: str, mine: dict[str, str], theirs: dict[str, str]) -> Iterator[Difference]:
    for name in {**mine, **theirs}:
        one, other = mine.get(name, ""), theirs.get(name, "")
        if one != other:
            yield Difference(kind, name, one, other)  # type: ignore[arg-type]


def _input_differences(before: Side, after: Side, main: GraphDiff) -> Iterator[Difference]:
    told = {
        pair.before for pair in main.pairs if any(change.what == "type" for change in pair.changes)
    }
    ones, others = _inputs(before), _inputs(after)
    texts = [
        {
            name: f"{entry.kind.replace('_', ' ')} {_value(side, entry)}"
            for name, entry in all_.items()
        }
        for side, all_ in ((before, ones), (after, others))
    ]
    for difference in _compare("input", texts[0], texts[1]):
        one, other = ones.get(difference.name), others.get(difference.name)
        if not (one and other and one.kind == other.kind and one.node in told):
            yield difference


def _inputs(side: Side) -> dict[str, InputEntry]:
    entries, users = dict[str, InputEntry](), 0
    for entry in side.record.signature.inputs:
        user = entry.kind == "user_input"
        entries[f"input {users}" if user else entry.target or entry.name] = entry
        users += user
    return entries


def _path_differences(before: Side, after: Side) -> Iterator[Difference]:
    """User inputs that a caller passes differently, and buffers that only one program saves.

    An argument that is passed by position may be renamed; it may not take the name of another one.
    """
    ones, others = _inputs(before), _inputs(after)
    both = [(name, one, others[name]) for name, one in ones.items() if name in others]
    heads = [{_parts(entry.path)[0] for entry in side.values()} for side in (ones, others)]
    for name, one, other in both:
        if one.kind == other.kind == "user_input" and one.path != other.path:
            (first, *rest), (second, *more) = _parts(one.path), _parts(other.path)
            traded = first != second and (one.keyword or first in heads[1] or second in heads[0])
            if (rest != more or traded) and not _is_nameless(one.path, other.path):
                yield Difference("input", name, f"passed as {one.path}", f"passed as {other.path}")
        if one.kind == other.kind == "user_input" and one.keyword != other.keyword:
            yield Difference("input", name, _describe_passing(one), _describe_passing(other))
        if one.kind == other.kind == "buffer" and one.persistent != other.persistent:
            yield Difference("input", name, _lasting(one), _lasting(other))


def _compare_containers(before: Side, after: Side) -> Iterator[Difference]:
    """Lists that are tuples, and the like, if each leaf is at the same path."""
    ours, theirs = (side.record.signature for side in (before, after))
    passed = [
        [(entry.keyword, _parts(entry.path)[1:]) for entry in signature.inputs]
        for signature in (ours, theirs)
    ]
    returned = [[entry.path for entry in signature.outputs] for signature in (ours, theirs)]
    for kind, places, one, other in (
        ("input", passed, ours.takes, theirs.takes),
        ("output", returned, ours.returns, theirs.returns),
    ):
        if places[0] == places[1] and one and other:
            yield from _compare(kind, {"containers": one}, {"containers": other})


def _describe_passing(entry: InputEntry) -> str:
    return f"{entry.path} passed by {'keyword' if entry.keyword else 'position'}"


def _parts(path: str) -> list[str]:
    return split_path(path) or [path]


def _is_nameless(path: str, other: str) -> bool:
    """Whether two paths differ in how `*args` is written, which a program alone does not tell."""
    return _STARRED.sub("args.", path) == _STARRED.sub("args.", other)


def _lasting(entry: InputEntry) -> str:
    return "buffer" if entry.persistent else "buffer that is not saved with the state"


def _outputs(before: Side, after: Side) -> tuple[dict[str, str], dict[str, str]]:
    """Per output what it is; where a caller finds it, if that differs."""
    ours, theirs = ([*_number_outputs(side)] for side in (before, after))
    paths = [[output.path for _, output in side] for side in (ours, theirs)]
    return tuple(
        {
            name: f"{output.kind.replace('_', ' ')} {_value(side, output)}"
            + (f" at {output.path}" if paths[0] != paths[1] and output.path else "")
            for name, output in outputs
        }
        for side, outputs in ((before, ours), (after, theirs))
    )  # type: ignore[return-value]


def _number_outputs(side: Side) -> Iterator[tuple[str, OutputEntry]]:
    """The outputs by what they write to; those that a caller gets, by their number."""
    users = (entry for entry in side.record.signature.inputs if entry.kind == "user_input")
    places = {user.name: f"input {number}" for number, user in enumerate(users)}
    for number, entry in enumerate(side.record.signature.outputs):
        written = places.get(entry.target, entry.target) if _WRITTEN in entry.kind else ""
        yield written or entry.target or f"output {number}", entry


def _value(side: Side, entry: InputEntry | OutputEntry) -> str:
    return entry.constant or (side.types[entry.type] if entry.type >= 0 else "")


def _ranges(side: Side) -> dict[str, str]:
    """The ranges of symbols that some value has: torch forgets the others when it saves."""
    record = side.record
    inside = {expression.text: expression.symbols for expression in record.expressions}
    sizes = (
        size
        for value_type in record.types
        for size in (*value_type.shape, *value_type.stride, value_type.value)
    )
    used = {number for size in sizes if isinstance(size, str) for number in inside.get(size, ())}
    used |= {size.symbol for size in record.probe.inputs}
    return {
        side.text(symbol.name): symbol.range
        for number, symbol in enumerate(record.symbols)
        if number in used and (symbol.lower is not None or symbol.upper is not None)
    }


def _guards(before: Side, after: Side) -> Iterator[Difference]:
    """The guards checked at run time; merely recorded ones vary from run to run."""
    one, other = _list_guards(before), _list_guards(after)
    for item, text in {**one, **other}.items():
        mine, theirs = (item in side or text in side.values() for side in (one, other))
        if mine != theirs:
            yield Difference("guard", text, "checked" * mine, "checked" * theirs)


def _list_guards(side: Side) -> dict[Hashable, str]:
    """The text of each guard, by what it says: `a <= b` is `b >= a`."""
    places = [size.text for size in side.record.probe.inputs]
    result: dict[Hashable, str] = {}
    for rule in side.record.probe.rules:
        if rule.kind != "guard":
            continue
        text = side.text(rule.text)
        names = {f"d{number}": place for number, place in enumerate(places)}
        items = tuple(names.get(str(item), item) for item in canonical(rule.formula))
        result.setdefault(items or text, text)
    return result

"""Which outputs of a program are which inputs of another, or of its own next call.

Connections seen in example calls are certain. If none were seen, paths decide:
`past_key_values.0` is returned and accepted under one name, `new_cache.0` and `cache.0` mean the
same. Keys and values that have no name are known by the ops that put more into them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from export_engine.programs.component import Component, Given, Link
from export_engine.programs.continued_inputs import find_continued_inputs, is_continued
from export_engine.record import Flow, InputEntry, Seam, ValueType, split_path

_CACHE = re.compile(r"cache|past|(^|_)kv(_|$)|key_values?|(?<!hidden_)states?(_|$)", re.IGNORECASE)
_SAYS_NOTHING = {"new", "next", "present", "past", "updated", "out", "output", "prev", "previous"}
_HIDDEN = {"last_hidden_state", "hidden_states", "encoder_hidden_states", "image_features"}
"""Names of what an encoder gives and a decoder takes."""
_NAMED = 3
"""Tensors that a summary names."""


def seams_of(components: Sequence[Component], links: Collection[Link]) -> list[Seam]:
    """The seams of a set, in the order of their programs.

    Args:
        components: in the order in which they are called first.
        links: what was seen in example calls.
    """
    seams = []
    continued = [find_continued_inputs(component) for component in components]
    for source, giving in enumerate(components):
        for target, taking in enumerate(components):
            if target < source and not _is_linked(giving, taking, links):
                continue
            tensors = _tensors(giving, taking, links, continued[target])
            flows = [*tensors, *_states(giving, taking)]
            if flows:
                seams.append(Seam(source, target, flows, _summary(flows)))
    return seams


def is_cache(path: str) -> bool:
    """Whether a path is that of something kept from call to call."""
    return any(_CACHE.search(part) for part in _steps(path))


def is_named_alike(output: str, taken: str) -> bool:
    """Whether two paths name one thing of two calls: `next_pos` and `pos`."""
    return _parts(output) == _parts(taken)


def _is_linked(giving: Component, taking: Component, links: Collection[Link]) -> bool:
    return any((link.source, link.target) == (giving.name, taking.name) for link in links)


def _tensors(
    giving: Component,
    taking: Component,
    links: Collection[Link],
    continued: Mapping[str, str],
) -> list[Flow]:
    seen = {
        (link.output, link.input)
        for link in links
        if (link.source, link.target) == (giving.name, taking.name)
    }
    own = giving.name == taking.name
    sources = {(link.target, link.input) for link in links}
    flows, done, passed = [], set(), set()
    pairs = [(given, taken) for given in giving.given() for taken in taking.taken()]
    pairs.sort(
        key=lambda pair: not _is_observed(pair[0], pair[1][1].path, seen)
    )  # what was seen first
    for item, (number, taken) in pairs:
        is_known = _is_observed(item, taken.path, seen)
        more = is_continued(item, taken.path, taking.type_of(taken), continued)
        if number in done or not (is_known or more or _same(item.path, taken.path, own)):
            continue
        if not is_known and not own and (taking.name, taken.path) in sources:
            continue  # it was seen to come from elsewhere
        if not is_known and (item.node in passed or _other_place(item, taking.type_of(taken), own)):
            continue
        if not (is_known or more) and _only_alike(item, taken.path, taking.type_of(taken)):
            continue
        done.add(number)
        passed.add(item.node)
        flows.append(
            Flow(
                output=item.output,
                input=number,
                source_node=item.node,
                target_node=taken.node,
                source_path=item.path,
                target_path=taken.path,
                given=item.type.text,
                taken=taking.type_of(taken).text,
                kind="cache" if own or more or is_cache(taken.path) else "value",
                known_by=_find_evidence(item.type, taking.type_of(taken), is_known, more),
            )
        )
    return sorted(flows, key=lambda each: each.input)


def _find_evidence(
    given: ValueType, taken: ValueType, seen: bool, more: bool
) -> Literal["values", "name", "ops", "part"]:
    """How a flow is known; what was seen to flow and has other sizes is a part of what is given."""
    if not seen:
        return "ops" if more else "name"
    apart = len(given.shape) != len(taken.shape) or any(
        one != other
        for one, other in zip(given.shape, taken.shape, strict=True)
        if isinstance(one, int) and isinstance(other, int)
    )
    return "part" if apart else "values"


def _is_observed(given: Given, taken: str, seen: Collection[tuple[str, str]]) -> bool:
    """Whether example calls showed that a tensor goes to an input."""
    return not given.in_place and (given.place, taken) in seen


def _other_place(given: Given, taken: ValueType, own: bool) -> bool:
    """Whether two tensors have one number in their containers, and are plainly not the same.

    A cache may hold counters before its first call, and keys and values in their places after it.
    """
    numbered = given.path.rpartition(".")[2].isdigit()
    ranks = len(given.type.shape) != len(taken.shape)
    return numbered and ranks and (own or given.type.dtype != taken.dtype)


def _only_alike(given: Given, path: str, taken: ValueType) -> bool:
    """Whether two tensors have one name in other containers, and are plainly not the same.

    A tower gives a `pooler_output`, and so does the projector that follows it.
    """
    ours, theirs, sizes = _parts(given.path), _parts(path), given.type.shape
    if len(sizes) != len(taken.shape):
        return ours != theirs
    apart = any(
        one != other
        for one, other in zip(sizes, taken.shape, strict=True)
        if isinstance(one, int) and isinstance(other, int)
    )
    return apart and ours[-1] != theirs[-1]


def _states(giving: Component, taking: Component) -> list[Flow]:
    """Buffers that one program writes and another holds: by their memory, else by their names."""
    if giving.name == taking.name:
        return []
    written = giving.writes()
    flows = []
    for own in giving.record.signature.inputs:
        if own.kind != "buffer" or own.node not in written:
            continue
        pair = _held_as(giving, own, taking)
        if pair is None:
            continue
        number, buffer = pair
        flows.append(
            Flow(
                output=-1,
                input=number,
                source_node=written[own.node],
                target_node=buffer.node,
                source_path=own.target,
                target_path=buffer.target,
                given=giving.type_of(own).text,
                taken=taking.type_of(buffer).text,
                kind="state",
                known_by="name",
            )
        )
    return flows


def _held_as(
    giving: Component, own: InputEntry, taking: Component
) -> tuple[int, InputEntry] | None:
    """A buffer of one program in another, which may have it below a wrapper's name."""
    held = [
        (number, entry)
        for number, entry in enumerate(taking.record.signature.inputs)
        if entry.kind == "buffer" and entry.target
    ]
    mine = giving.weights.get(own.target)
    for number, entry in held:
        theirs = taking.weights.get(entry.target)
        if mine is not None and theirs is not None and mine.place and mine.place == theirs.place:
            return number, entry
    alike = [
        (number, entry)
        for number, entry in held
        if own.target == entry.target
        or own.target.endswith(f".{entry.target}")
        or entry.target.endswith(f".{own.target}")
    ]
    same = [pair for pair in alike if pair[1].target == own.target]
    return next(iter(same or (alike if len(alike) == 1 else [])), None)


def _same(output: str, taken: str, own: bool) -> bool:
    """Whether two paths name the same thing."""
    ours, theirs = _parts(output), _parts(taken)
    while ours and ours[0].isdigit():
        ours = ours[1:]  # a place in a tuple names nothing
    if not ours:
        return False
    if own:
        return ours == theirs and is_cache(taken)
    if ours == theirs or theirs[-len(ours) :] == ours:
        return True
    return ours[-1] in _HIDDEN and theirs[-1] in _HIDDEN


def _parts(path: str) -> list[str]:
    """A path without what says only when: `new_cache.0` as `cache`, `0`."""
    result = []
    for part in _steps(path):
        words = [word for word in part.lower().split("_") if word not in _SAYS_NOTHING]
        if words and part != "kwargs":
            result.append("_".join(words))
    return result


def _steps(path: str) -> tuple[str, ...]:
    return tuple(split_path(path) or path.split("."))


def _summary(flows: Sequence[Flow]) -> str:
    caches = [flow for flow in flows if flow.kind == "cache"]
    states = [flow for flow in flows if flow.kind == "state"]
    values = [flow for flow in flows if flow.kind == "value"]
    texts = []
    if caches:
        texts.append(f"{len(caches)} cache tensor{'' if len(caches) == 1 else 's'}")
    if states:
        texts.append(f"{len(states)} buffer{'' if len(states) == 1 else 's'} that it writes")
    texts += [flow.target_path for flow in values[:_NAMED]]
    if len(values) > _NAMED:
        texts.append(f"{len(values) - _NAMED} more")
    return ", ".join(texts)

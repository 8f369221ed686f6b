"""torch's pytree specs, which archives keep as JSON: where each leaf is in the call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import decoded
from export_engine.archive.names import cut


class _Spec(msgspec.Struct):
    type: str | None
    context: Any = None
    children_spec: list[_Spec] = []


_DECODER = msgspec.json.Decoder(tuple[int, _Spec])
_CONTEXT = msgspec.json.Decoder(Any)


def leaf_keys(text: str) -> list[list[str]] | None:
    """The keys on the way to each leaf; None for an unreadable spec.

    `[["0", "0"], ["1", "mask"]]` for the arguments of `model(x, mask=m)`: `0` are positional
    arguments, `1` keyword arguments.
    """
    if not text:
        return None
    try:
        _, spec = decoded(text.encode(), _DECODER, "A tree spec")
        return list(_leaves(spec, [], 0, [0]))
    except ValueError:  # an ArchiveError, or a spec whose parts do not fit
        return None


def _leaves(spec: _Spec, keys: list[str], depth: int, seen: list[int]) -> Iterator[list[str]]:
    seen[0] += 1
    if depth > limits.TREE_DEPTH or seen[0] > limits.TREE_LEAVES:
        raise ArchiveError("A tree spec is larger than torch writes.")
    if spec.type is None:
        yield keys
        return
    names = _keys(spec)
    for name, child in zip(names, spec.children_spec, strict=True):
        yield from _leaves(child, [*keys, name], depth + 1, seen)


def _keys(spec: _Spec) -> list[str]:
    """The keys of a container's children: dict keys, field names, else indices.

    The context is the container's own data as JSON, in a form that each type chooses; a list with
    one string per child holds their names.
    """
    count = len(spec.children_spec)
    context = spec.context
    if isinstance(context, str):
        try:
            context = decoded(context.encode(), _CONTEXT, "A tree spec")
        except ArchiveError:
            context = None
    for each in (context, *(context if isinstance(context, list) else ())):
        fits = isinstance(each, list) and len(each) == count
        if fits and all(isinstance(key, str | int) for key in each):
            return [cut(str(key)) for key in each]
    return [str(number) for number in range(count)]

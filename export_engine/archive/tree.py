"""torch's pytree specs, which archives keep as JSON: where each leaf is in the call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from export_engine.archive import limits
from export_engine.archive.errors import ArchiveError
from export_engine.archive.json_text import decode_json
from export_engine.archive.names import cut
from export_engine.describe import TreeSpec

_DECODER = msgspec.json.Decoder(tuple[int, TreeSpec])
_DICTS = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")
_CONTEXT = msgspec.json.Decoder(Any)


def leaf_keys(
    text: str, fields: Mapping[str, list[str]] = MappingProxyType({})
) -> list[list[str]] | None:
    """The keys on the way to each leaf; None for an unreadable spec.

    `[["0", "0"], ["1", "mask"]]` for the arguments of `model(x, mask=m)`: `0` are positional
    arguments, `1` keyword arguments.

    Args:
        text: the spec, as JSON.
        fields: per namedtuple the names of its fields.
    """
    if not text:
        return None
    try:
        _, spec = decode_json(text.encode(), _DECODER, "A tree spec")
        return list(_leaves(spec, [], 0, [0], fields))
    except ValueError:  # an ArchiveError, or a spec whose parts do not fit
        return None


def _leaves(
    spec: TreeSpec, keys: list[str], depth: int, seen: list[int], fields: Mapping[str, list[str]]
) -> Iterator[list[str]]:
    seen[0] += 1
    if depth > limits.TREE_DEPTH or seen[0] > limits.TREE_LEAVES:
        raise ArchiveError("A tree spec is too large or nested too deeply.")
    if spec.type is None:
        yield keys
        return
    names = _keys(spec, fields)
    for name, child in zip(names, spec.children_spec, strict=True):
        yield from _leaves(child, [*keys, name], depth + 1, seen, fields)


def _keys(spec: TreeSpec, fields: Mapping[str, list[str]]) -> list[str]:
    """The keys of a container's children: dict keys, field names, else indices.

    The context is the container's own data as JSON, in a form that each type chooses; a list with
    one string per child holds their names.
    """
    count = len(spec.children_spec)
    context = spec.context
    if spec.type == "collections.namedtuple" and isinstance(context, str):
        texts = fields.get(context, [])
        return list(map(cut, texts)) if len(texts) == count else _numbers(count)
    if isinstance(context, str):
        try:
            context = decode_json(context.encode(), _CONTEXT, "A tree spec")
        except ArchiveError:
            context = None
    if spec.type in _DICTS:
        if isinstance(context, dict):  # a defaultdict's, with its factory
            context = context.get("dict_context")
        if isinstance(context, list) and len(context) == count:
            return [cut(str(_key(key))) for key in context]
    for value in (context, *(context if isinstance(context, list) else ())):
        fits = isinstance(value, list) and len(value) == count
        if fits and all(isinstance(key, str | int) for key in value):
            return [cut(str(key)) for key in value]
    return _numbers(count)


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def _key(key: Any) -> Any:
    """A key of a dict; JSON has lists for tuples."""
    return tuple(map(_key, key)) if isinstance(key, list) else key

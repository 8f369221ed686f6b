"""JSON decoded by a schema, and whether it has fields that the schema does not know.

Unknown fields are not an error: a later torch may write them. A document is decoded by a strict
form of its types first, which costs nothing; only if that fails, by the types themselves.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import msgspec

_T = TypeVar("_T")
_UNKNOWN = "unknown field"
_seen: ContextVar[list[str] | None] = ContextVar("unknown fields", default=None)


class OpenStruct(msgspec.Struct):
    """Some keys of a dict that may have others, which are not unknown fields."""


class StrictDecoder(Generic[_T]):
    """Decodes a type, and notes where there is more than it knows."""

    def __init__(self, kind: Any) -> None:
        """Make one for a type made of structs, lists and dicts."""
        self._strict: msgspec.json.Decoder[_T] = msgspec.json.Decoder(_strict(kind))
        self._tolerant: msgspec.json.Decoder[_T] = msgspec.json.Decoder(kind)

    def decode(self, data: bytes | msgspec.Raw) -> _T:
        """A document, or a part of one. Raises msgspec.MsgspecError."""
        try:
            return self._strict.decode(data)
        except msgspec.ValidationError as error:
            if _UNKNOWN not in str(error):
                raise
            result = self._tolerant.decode(data)
            seen = _seen.get()
            if seen is not None and not seen:
                seen.append(str(error))
            return result


@contextmanager
def noting_unknown() -> Iterator[list[str]]:
    """msgspec's message on the first unknown field met inside; empty if there is none."""
    texts: list[str] = []
    token = _seen.set(texts)
    try:
        yield texts
    finally:
        _seen.reset(token)


@lru_cache(maxsize=256)
def _strict(kind: Any) -> Any:
    """A type whose structs refuse unknown fields; they are subclasses of those of the type."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return Annotated[(_strict(args[0]), *args[1:])]
    if origin in (list, dict):
        return origin[tuple(_strict(value) for value in args)]
    if origin in (Union, types.UnionType):
        return Union[tuple(_strict(value) for value in args)]  # noqa: UP007 - made at run time
    plain = not isinstance(kind, type) or not issubclass(kind, msgspec.Struct)
    if plain or issubclass(kind, OpenStruct):
        return kind
    fields = [
        (field.name, _strict(field.type), *_default(field))
        for field in msgspec.structs.fields(kind)
    ]
    return msgspec.defstruct(
        kind.__name__, fields, bases=(kind,), forbid_unknown_fields=True, module=kind.__module__
    )


def _default(each: msgspec.structs.FieldInfo) -> tuple[Any, ...]:
    if each.required:
        return ()
    if each.default is not msgspec.NODEFAULT:
        return (each.default,)
    return (msgspec.field(default_factory=each.default_factory),)

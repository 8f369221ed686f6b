"""Fields of a program in an archive that `schema` lacks, at any depth: a note names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import inspect

from export_engine.archive import limits, schema
from export_engine.archive.arguments import TYPES
from export_engine.archive.strict_decoding import OpenStruct

_SHOWN = 80
"""Characters of what an unknown field says."""


_PROGRAM = inspect.type_info(schema.ExportedProgram)
_KINDS = {
    **{name: inspect.type_info(kind) for name, kind in TYPES.items()},
    "as_graph": inspect.type_info(schema.GraphArgument),
}
"""The kinds of arguments, and what they are made of."""


def find_unknown_fields(data: bytes) -> Mapping[str, str]:
    """Per unknown field its path, `graph_module.graph.nodes[].cost`, and what the first one says.

    Args:
        data: a program, as JSON that was decoded without an error. One of more than
            `limits.LOOKED_THROUGH` values is not looked through.
    """
    if data.count(b",") > limits.LOOKED_THROUGH:
        return {}
    result: dict[str, str] = {}
    _look(msgspec.json.decode(data), _PROGRAM, "", result)
    return result


def _look(value: Any, known: inspect.Type, path: str, found: dict[str, str]) -> None:
    if isinstance(known, inspect.UnionType):
        known = _choose_type(value, known)
    if isinstance(known, inspect.StructType) and isinstance(value, dict):
        if issubclass(known.cls, OpenStruct):
            return
        fields = {field.encode_name: field.type for field in known.fields}
        for name, inner in value.items():
            if name in fields:
                _look(inner, fields[name], f"{path}.{name}" if path else name, found)
            elif len(found) < limits.UNKNOWN:
                shown = f"{path}.{name[:_SHOWN]}" if path else name[:_SHOWN]
                found.setdefault(shown, _text(inner))
    elif isinstance(known, inspect.ListType) and isinstance(value, list):
        for inner in value:
            _look(inner, known.item_type, f"{path}[]", found)
    elif isinstance(known, inspect.DictType) and isinstance(value, dict):
        _look_at_values(value, known, path, found)


def _look_at_values(
    value: dict[str, Any], known: inspect.DictType, path: str, found: dict[str, str]
) -> None:
    if not isinstance(known.value_type, inspect.RawType):
        for inner in value.values():
            _look(inner, known.value_type, f"{path}.*", found)
    elif "name" in value:  # the specs of a signature have the fields of a `Named` here, too
        _look(value, _KINDS["as_tensor"], path, found)
    else:
        for kind, inner in value.items():
            if kind in _KINDS:
                _look(inner, _KINDS[kind], f"{path}.{kind}", found)


def _choose_type(value: Any, known: inspect.UnionType) -> inspect.Type:
    """The type of a value among several; only a list or a dict has fields."""
    wanted = (inspect.ListType,) if isinstance(value, list) else ()
    if isinstance(value, dict):
        wanted = (inspect.StructType, inspect.DictType)  # type: ignore[assignment]
    return next((item for item in known.types if isinstance(item, wanted)), inspect.AnyType())


def _text(value: Any) -> str:
    text = msgspec.json.encode(value).decode(errors="replace")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

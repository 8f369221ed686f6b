"""TypeScript types of the Record, generated from its msgspec schema.

`python -m export_engine.record.typescript` prints them; a test fails when the file in the front end
differs from what this prints.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Collection, Iterable
from typing import Any

from msgspec import inspect

from export_engine.record.exportdb import ExportCase, GraphBreakPage
from export_engine.record.graph import OPS
from export_engine.record.json_schema import structs_of
from export_engine.record.program_diff import ProgramDiff, TextDiff
from export_engine.record.program_set import ProgramSet
from export_engine.record.record import SCHEMA_VERSION, Record
from export_engine.record.values import TensorSlice

_HEADER = """\
// Generated from export_engine/record/record.py by `make types`. The schema's comments are there.

/** Small integers, one per node or edge; a view into the message that brought them. */
export type Column = Int8Array | Int16Array | Int32Array;
"""


_ROOTS = (Record, ProgramSet, ProgramDiff, TextDiff, ExportCase, GraphBreakPage, TensorSlice)
"""The types sent to the page."""


def generate() -> str:
    """The text of `record.gen.ts`: one interface per Struct, dependencies first."""
    parts = [_HEADER, f"export const SCHEMA_VERSION = {SCHEMA_VERSION};\n"]
    parts.append(f"export const OPS = {_literals(OPS, ', ', '[', ']')} as const;\n")
    return "\n".join([*parts, *declarations(_ROOTS)])


def record_types() -> set[str]:
    """The names of the interfaces in `record.gen.ts`."""
    return {kind.__name__ for kind in structs_of(*_ROOTS)}


def declarations(roots: Iterable[Any], known: Collection[str] = ()) -> list[str]:
    """Declarations of the types that types consist of, dependencies first.

    Args:
        roots: types that msgspec can encode.
        known: names that are declared elsewhere.
    """
    kinds = structs_of(*roots)
    return [_declaration(inspect.type_info(kind)) for kind in kinds if kind.__name__ not in known]


def type_text(kind: Any) -> str:
    """A type as TypeScript names it."""
    return _type(inspect.type_info(kind))


def _declaration(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType(cls=cls, fields=fields):
            rows = "".join(f"  {field.encode_name}: {_type(field.type)};\n" for field in fields)
            return f"export interface {cls.__name__} {{\n{rows}}}\n"
        case inspect.NamedTupleType(cls=cls, fields=fields):
            items = ", ".join(f"{field.name}: {_type(field.type)}" for field in fields)
            return f"export type {cls.__name__} = [{items}];\n"
    raise TypeError(f"no declaration for {kind}")


def _type(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType(cls=cls) | inspect.NamedTupleType(cls=cls):
            return cls.__name__
        case inspect.DictType(key_type=key, value_type=value):
            return f"{{ [key: {_type(key)}]: {_type(value)} }}"
        case inspect.TupleType(item_types=items):
            return f"[{', '.join(map(_type, items))}]"
        case inspect.BytesType():
            return "DataView"
        case inspect.CustomType(cls=cls) if cls is array:
            return "Column"
        case inspect.ListType(item_type=item):
            text = _type(item)
            return f"({text})[]" if " | " in text else f"{text}[]"
        case inspect.UnionType(types=types):
            # msgspec sorts None first; a reader of TypeScript expects it last.
            ordered = sorted(types, key=lambda member: isinstance(member, inspect.NoneType))
            return " | ".join(_type(member) for member in ordered)
        case inspect.LiteralType(values=values):
            return _literals(values, " | ")
        case inspect.StrType():
            return "string"
        case inspect.IntType() | inspect.FloatType():
            return "number"
        case inspect.BoolType():
            return "boolean"
        case inspect.NoneType():
            return "null"
    raise TypeError(f"the Record's schema has a type that TypeScript output lacks: {kind}")


def _literals(values: tuple[object, ...], joint: str, left: str = "", right: str = "") -> str:
    return left + joint.join(f'"{value}"' for value in values) + right


if __name__ == "__main__":
    sys.stdout.write(generate())

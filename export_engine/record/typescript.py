"""TypeScript types of the Record, generated from its msgspec schema.

`python -m export_engine.record.typescript` prints them; a test fails when the file in the front end
differs from what this prints.
"""

from __future__ import annotations

import sys
from array import array

from msgspec import inspect

from export_engine.record.exportdb import ExportCase, GraphBreakPage
from export_engine.record.graph import OPS
from export_engine.record.json_schema import structs_of
from export_engine.record.program_diff import ProgramDiff, TextDiff
from export_engine.record.record import SCHEMA_VERSION, Record

_HEADER = """\
// Generated from export_engine/record/record.py by `make types`. The schema's comments are there.

/** Small integers, one per node or edge; a view into the message that brought them. */
export type Column = Int8Array | Int16Array | Int32Array;
"""


_ROOTS = (Record, ProgramDiff, TextDiff, ExportCase, GraphBreakPage)
"""What the page is sent, and all that it is made of."""


def generate() -> str:
    """The text of `record.gen.ts`: one interface per Struct, dependencies first."""
    structs = [
        kind
        for kind in inspect.multi_type_info(structs_of(*_ROOTS))
        if isinstance(kind, inspect.StructType)
    ]
    parts = [_HEADER, f"export const SCHEMA_VERSION = {SCHEMA_VERSION};\n"]
    parts.append(f"export const OPS = {_literals(OPS, ', ', '[', ']')} as const;\n")
    parts.extend(_interface(struct) for struct in structs)
    return "\n".join(parts)


def _interface(struct: inspect.StructType) -> str:
    fields = "".join(f"  {field.encode_name}: {_type(field.type)};\n" for field in struct.fields)
    return f"export interface {struct.cls.__name__} {{\n{fields}}}\n"


def _type(kind: inspect.Type) -> str:
    match kind:
        case inspect.StructType(cls=cls):
            return cls.__name__
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

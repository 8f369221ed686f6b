"""The Record's JSON Schema, for other tools: generated, with the comments of the fields."""

from __future__ import annotations

import ast
import inspect
import textwrap
from array import array
from typing import Any

import msgspec

from export_engine.record.record import SCHEMA_VERSION, Record


def record_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of what `wire.to_json` writes.

    A Record says which version of the schema it follows in its field `schema`. A version that
    changes a field or takes one away has a higher number; a field that is added has a default, and
    a reader that does not know it passes over it.
    """
    (root,), parts = msgspec.json.schema_components(
        [Record], schema_hook=_column, ref_template="#/$defs/{name}"
    )
    for kind in structs_of(Record):
        part, told = parts[kind.__name__], _comments(kind)
        part["description"] = inspect.cleandoc(kind.__doc__ or "")
        for name, field in part.get("properties", {}).items():
            if name in told:
                field["description"] = told[name]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Export Explorer Record, version {SCHEMA_VERSION}",
        **root,
        "$defs": parts,
    }


def _column(kind: type) -> dict[str, Any]:
    """The JSON form of a column of numbers."""
    if kind is array:
        return {"type": "array", "items": {"type": "integer"}}
    raise NotImplementedError


def structs_of(*roots: Any) -> list[type]:
    """The Structs and named tuples that types are made of, each after those it is made of."""
    classes: list[type] = []

    def visit(kind: msgspec.inspect.Type) -> None:
        match kind:
            case (
                msgspec.inspect.StructType(cls=cls, fields=fields)
                | msgspec.inspect.NamedTupleType(cls=cls, fields=fields)
            ):
                for field in fields:
                    visit(field.type)
                if cls not in classes:
                    classes.append(cls)
            case msgspec.inspect.ListType(item_type=item):
                visit(item)
            case msgspec.inspect.DictType(value_type=value):
                visit(value)
            case (
                msgspec.inspect.UnionType(types=types) | msgspec.inspect.TupleType(item_types=types)
            ):
                for each in types:
                    visit(each)

    for root in roots:
        visit(msgspec.inspect.type_info(root))
    return classes


def _comments(kind: type) -> dict[str, str]:
    """Per field of a class, the text below it in the source."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    result: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        if isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            result[field.target.id] = inspect.cleandoc(str(text.value.value))
    return result

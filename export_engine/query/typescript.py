"""The table of fields as TypeScript, for the search box: `make types` writes it."""

from __future__ import annotations

import json
import sys
from typing import get_args

from export_engine.query.fields import ALSO, FIELDS, LACKS, Field, Match, Needs

_HEAD = """// What a query can ask of a node. Do not edit: `make types` writes it.

"""


def generate() -> str:
    """The text of `fields.gen.ts`."""
    union = {
        name: " | ".join(json.dumps(argument) for argument in get_args(kind))
        for name, kind in (("Match", Match), ("Needs", Needs))
    }
    names = list(Field.__annotations__)
    declared = "".join(
        f"  {name}: {name.title() if name in ('match', 'needs') else 'string'};\n" for name in names
    )
    rows = "".join(f"  {{ {_row(names, field)} }},\n" for field in FIELDS)
    return (
        f"{_HEAD}export type Match = {union['Match']};\n"
        f"export type Needs = {union['Needs']};\n\n"
        f"export interface Field {{\n{declared}}}\n\n"
        f"export const FIELDS: readonly Field[] = [\n{rows}];\n\n"
        f"export const ALSO: {{ readonly [name: string]: string }} = {_table(ALSO)};\n\n"
        f"export const LACKS: {{ readonly [needs: string]: string }} = {_table(LACKS)};\n"
    )


def _row(names: list[str], field: Field) -> str:
    return ", ".join(f"{name}: {_text(text)}" for name, text in zip(names, field, strict=True))


def _table(table: dict[str, str]) -> str:
    rows = "".join(f"  {key}: {_text(value)},\n" for key, value in table.items())
    return f"{{\n{rows}}}"


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    sys.stdout.write(generate())

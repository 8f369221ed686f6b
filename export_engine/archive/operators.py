"""The targets of an archive's calls, by name: nothing is looked up in torch.

`operators.txt` lists torch's own operators with their schemas and tags. It is written by
`python -m export_engine.archive.operator_table`, and a test compares it with the installed torch.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from export_engine.archive import limits
from export_engine.record import Target, schema_arguments

_TABLE = Path(__file__).with_name("operators.txt")
_NAME = r"[A-Za-z_]\w{0,199}"
_OVERLOAD = re.compile(
    rf"(?:torch\.ops|executorch\.exir\.dialects\.edge\._ops)"
    rf"\.({_NAME})\.({_NAME}(?:\.{_NAME})*)\.({_NAME})"
)
"""An op of torch's, or ExecuTorch's edge dialect of one."""
_HIGHER_ORDER = re.compile(rf"torch\.ops\.higher_order\.({_NAME})")
_PYTHON = re.compile(rf"{_NAME}(?:\.{_NAME}){{0,20}}")
_EXTENSION = re.compile(rf"#({_NAME}):([\w.]{{1,200}})")


class _Known(NamedTuple):
    schema: str
    tags: list[str]


@lru_cache(maxsize=4096)
def target_of(text: str) -> Target:
    """The Target that a text of torch's names.

    A text that is not the name of an operator or a function is quoted.
    """
    if match := _HIGHER_ORDER.fullmatch(text):
        return Target(f"higher_order.{match[1]}", match[1], "higher_order")
    if match := _OVERLOAD.fullmatch(text):
        return _overload(match[1], match[2], match[3])
    if match := _EXTENSION.fullmatch(text):
        return Target(text, match[2], "custom")
    if _PYTHON.fullmatch(text):
        name = text.lstrip("_")
        return Target(name, text.rpartition(".")[2], "python")
    quoted = repr(text[: limits.TEXT])
    return Target(quoted, quoted, "python")


def is_named(text: str) -> bool:
    """Whether a text names an operator or a function."""
    return any(item.fullmatch(text) for item in (_HIGHER_ORDER, _OVERLOAD, _EXTENSION, _PYTHON))


def parameters(higher_order: str) -> list[str]:
    """The argument names of a higher-order operator; empty if unknown."""
    return _higher_order().get(higher_order, [])


def has_default(target: Target, argument: str) -> bool:
    """Whether an operator's schema has a default for an argument, or takes it by keyword only."""
    before, _, after = target.schema.partition(" *, ")
    return f" {argument}=" in before or f" {argument}" in after


def _overload(namespace: str, name: str, overload: str) -> Target:
    written = f"{namespace}.{name}.{overload}"
    kind = {"aten": "aten", "prims": "prim", "prim": "prim"}.get(namespace, "custom")
    known = _operators().get(written)
    if known is None:
        return Target(written, name, kind, overload=overload)  # type: ignore[arg-type]
    arguments = [
        schema_argument
        for schema_argument in schema_arguments(known.schema)
        if schema_argument.annotated
    ]
    return Target(
        written,
        name,
        kind,  # type: ignore[arg-type]
        schema=known.schema,
        overload=overload,
        mutates=[argument.name for argument in arguments if argument.writes],
        aliases=[argument.name for argument in arguments if not argument.writes],
        core="core" in known.tags,
        tags=known.tags,
    )


@lru_cache(maxsize=1)
def _operators() -> dict[str, _Known]:
    result = {}
    for line in _lines():
        schema, tab, tags = line.partition("\t")
        if tab:
            space, _, rest = schema.partition("(")[0].partition("::")
            name, _, overload = rest.partition(".")
            result[f"{space}.{name}.{overload or 'default'}"] = _Known(schema, tags.split())
    return result


@lru_cache(maxsize=1)
def _higher_order() -> dict[str, list[str]]:
    groups = {}
    for line in _lines():
        if "\t" not in line and line:
            name, _, text = line.partition("(")
            groups[name] = [part for part in text.rstrip(")").split(", ") if part]
    return groups


@lru_cache(maxsize=1)
def _lines() -> list[str]:
    return _TABLE.read_text(encoding="utf-8").splitlines()

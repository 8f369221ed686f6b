"""The initial state of a view, by names in its Record."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from export_engine.plain_errors import WrongArgument

if TYPE_CHECKING:
    from export_engine.record import Record

PANES = (
    "inspector",
    "source",
    "signature",
    "shapes",
    "findings",
    "guarantees",
    "runs",
    "cost",
    "values",
    "stages",
    "delegate",
    "code",
)
"""Those that a view always has, by their names in `view_state.ts`."""
_TEACHING = "teaching"
"""Not one pane: graph and source alone, in large type."""
_CALLED = {"verify": "guarantees"}
"""Panes whose tab has a different name."""


def first_look(
    record: Record, select: str | Sequence[str], opened: str | Sequence[str], tab: str
) -> dict[str, list[str]]:
    """The initial state of the page.

    Args:
        record: of the attempt that is shown.
        select: ops, or one module, symbol or line.
        opened: modules.
        tab: a pane, or `teaching`; empty for that of what the command did.

    Raises:
        ValueError: a name is not known.
    """
    names, modules, tab = _names(select), _names(opened), _CALLED.get(tab, tab)
    paths = {scope.path for scope in record.scopes if scope.path}
    ops = {record.strings[name] for graph in record.graphs for name in graph.name}
    symbols = {symbol.name for symbol in record.symbols}
    one = paths | symbols if len(names) == 1 else set()
    for name in names:
        if not _is_line(record, name) or len(names) > 1:
            _check("op, module, symbol or line" if one else "op", name, ops | one)
    for module in modules:
        _check("module", module, paths)
    if tab:
        _check("pane", tab, (*PANES, _TEACHING))
    asked = {"select": names, "open": modules, "tab": [tab] if tab else []}
    return {what: values for what, values in asked.items() if values}


def _names(given: str | Sequence[str]) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _is_line(record: Record, name: str) -> bool:
    match = re.fullmatch(r"(.*):\d+", name, re.DOTALL)
    return match is not None and any(file.name == match[1] for file in record.files)


def _check(what: str, name: str, known: Collection[str]) -> None:
    if name in known:
        return
    near = get_close_matches(name, known, n=3)
    hint = f" Closest: {', '.join(near)}." if near else ""
    raise WrongArgument(f"There is no {what} {name!r}.{hint}")

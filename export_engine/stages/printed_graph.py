"""Reads the graphs that torch prints into its trace: one op a line, with its type."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import NamedTuple


class PrintedPlace(NamedTuple):
    """A line of code that torch prints above the ops that come from it."""

    file: str
    line: int
    code: str


class PrintedOp(NamedTuple):
    """One line of a printed graph."""

    name: str
    target: str
    """`aten.addmm.default`; `getitem` for an item; empty where the line is not a call."""
    type: str
    """`f32[32, 64][64, 1]cpu`; empty where none is printed."""
    line: int
    """1-based."""
    expression: str
    """The call as printed."""
    place: PrintedPlace | None = None
    """The line of the user's code, where torch prints one above the op."""


_OP = re.compile(r'\s{8}(?P<name>\w+)(?:: "(?P<type>[^"]*)")? = (?P<value>.*)')
_FREED = re.compile(r";  [\w =]+ = None$")
_CALL = re.compile(r"(?:torch\.ops\.|torch\.)?(?P<target>[\w.]+)\(")
_PLACE = re.compile(r"\s{8}# File: (?P<file>.+):(?P<line>\d+) in .*?, code: (?P<code>.*)")
_ITEM = re.compile(r"\w+\[\d+\]")


def read_printed_graph(text: str) -> list[PrintedOp]:
    """The ops of the outermost graph, in order, without inputs and attributes of the module.

    Args:
        text: what `GraphModule.print_readable` printed.
    """
    ops, place = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("        return "):
            break
        if line.startswith("        # "):  # of a place, or that the next ops have none
            printed = _PLACE.fullmatch(line)
            place = PrintedPlace(printed[1], int(printed[2]), printed[3]) if printed else None
            continue
        match = _OP.fullmatch(line)
        if match is None:
            continue
        value = _FREED.sub("", match["value"])
        if read_attribute(value):
            continue
        target = _target(value)
        ops.append(PrintedOp(match["name"], target, match["type"] or "", number, value, place))
    return ops


_INPUT = re.compile(r'(\w+): "([^"]*)"')
_PLACEHOLDER = re.compile(r'\s{8}(\w+): "([^"]*)";\s*')
_GETATTR = re.compile(r'getattr\(([\w.]+), "(\w+)"\)')
_ATTRIBUTE = re.compile(r"self\.([\w.]+)")


class PrintedInput(NamedTuple):
    """An input of a printed graph."""

    type: str
    """As printed."""
    attribute: str
    """The parameter or buffer of the module that it is: `layers.0.weight`; empty for an input."""


def read_printed_inputs(text: str) -> dict[str, PrintedInput]:
    """The outermost graph's inputs and the tensors of its module, by name."""
    rows = iter(text.splitlines())
    header = next((row for row in rows if row.startswith("    def forward(")), "")
    inputs = {name: PrintedInput(printed, "") for name, printed in _INPUT.findall(header)}
    for row in rows:
        if row.startswith("        return "):
            break
        placeholder, op = _PLACEHOLDER.fullmatch(row), _OP.fullmatch(row)
        if placeholder is not None:
            inputs[placeholder[1]] = PrintedInput(placeholder[2], "")
        elif op is not None and op["type"]:
            attribute = read_attribute(_FREED.sub("", op["value"]))
            if attribute:
                inputs[op["name"]] = PrintedInput(op["type"], attribute)
    return inputs


def read_attribute(expression: str) -> str:
    """`layers.0.weight` of `getattr(self.layers, "0").weight`; empty for any other."""
    if "self." not in expression:
        return ""
    before = ""
    while before != expression:
        before, expression = expression, _GETATTR.sub(r"\1.\2", expression)
    match = _ATTRIBUTE.fullmatch(expression)
    return match[1] if match is not None else ""


def read_printed_outputs(text: str) -> list[str]:
    """The names in the outermost graph's return, in order."""
    row = next((row for row in text.splitlines() if row.startswith("        return ")), "")
    return _NAME.findall(row.removeprefix("        return "))


def read_operands(expression: str, names: Collection[str]) -> list[str]:
    """Which values an op reads, in order, as often as it is given them.

    Args:
        expression: the call as printed.
        names: of all values of the graph.
    """
    inside = expression.partition("(")[2] or expression
    return [word for word in _NAME.findall(inside) if word in names]


_NAME = re.compile(r"\w+")


def _target(value: str) -> str:
    call = _CALL.match(value)
    if call is not None:
        return call["target"]
    return "getitem" if _ITEM.fullmatch(value) else ""


_TYPE = re.compile(r"(?P<dtype>\w+)\[(?P<shape>[^\]]*)\](?:\[(?P<stride>[^\]]*)\])?")


class PrintedType(NamedTuple):
    """The type of a tensor, as printed."""

    dtype: str
    """`f32`."""
    shape: tuple[str, ...]
    stride: tuple[str, ...]
    """Empty where none is printed."""


@lru_cache(maxsize=4096)
def read_printed_type(text: str) -> PrintedType | None:
    """`f32[32, 64][64, 1]cpu` taken apart; None of what is not a tensor."""
    match = _TYPE.match(text)
    if match is None:
        return None
    return PrintedType(match["dtype"], _items(match["shape"]), _items(match["stride"] or ""))


def _items(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text.strip() else ()

"""Findings about integers that one program makes of floats and another reads back.

The scale and the zero point are read off the ops around the seam: torch's own quantize ops, or a
division and a multiplication by a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from export_engine.programs.component import Component, given_type
from export_engine.programs.finding import Between, Kind
from export_engine.programs.op_walk import Walk
from export_engine.record import Seam

_NARROW = {"int8", "uint8", "int16", "int4", "uint4"}
_SAME = re.compile(
    r"aten\.(_to_copy|to|clamp|round|view|reshape|transpose|permute|unsqueeze|squeeze|clone|cat|"
    r"contiguous|slice|select|expand|detach|alias|clamp_min|clamp_max|minimum|maximum)\b"
)
"""Ops that a scale passes through."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
_CLOSE = 1e-6
_MOST = 200


def found(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Between]:
    """Seams at which a tensor is quantized with one scale, and dequantized with another."""
    for number, seam in enumerate(seams):
        giving, taking = components[seam.source], components[seam.target]
        for flow in seam.flows:
            if given_type(giving, flow).dtype not in _NARROW:
                continue
            made, _ = _scale(Walk(giving.record), flow.source_node, back=True)
            read, node = _scale(Walk(taking.record), flow.target_node, back=False)
            if made is None or read is None or _equal(made, read):
                continue
            yield Between(
                kind=Kind.QUANTIZATION,
                severity="wrong",
                sentence=f"`{giving.name}` quantizes `{flow.source_path}` with {_said(made)}, and "
                f"`{taking.name}` reads it with {_said(read)}.",
                why="The integers mean other numbers in the one program than in the other.",
                component=seam.target,
                node=node,
                seam=number,
            )


_Parameters = tuple[float, float]
"""A scale and a zero point."""


def _scale(walk: Walk, start: int, back: bool) -> tuple[_Parameters | None, int]:
    """The parameters that a tensor is quantized or dequantized with, and the op that says so."""
    waiting: list[int] = [start]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        node = waiting.pop(0)
        if node in seen or node < 0:
            continue
        seen.add(node)
        said = _said_by(walk, node, back)
        if said is not None:
            return said, node
        name = walk.name(node)
        if node == start or _SAME.match(name) or "add" in name or "sub" in name:
            waiting += walk.inputs(node) if back else walk.readers(node)
    return None, -1


def _said_by(walk: Walk, node: int, back: bool) -> _Parameters | None:
    name = walk.name(node)
    if name.startswith("quantized_decomposed."):
        wanted = "quantized_decomposed.quantize" if back else "quantized_decomposed.dequantize"
        numbers = [float(each) for each in walk.arguments(node)[0][1:3] if _NUMBER.fullmatch(each)]
        return (numbers[0], numbers[1]) if name.startswith(wanted) and len(numbers) == 2 else None
    if not name.startswith(("aten.div", "aten.mul")):
        return None
    positions, names = walk.arguments(node)
    other = names.get("other", positions[1] if len(positions) > 1 else "")
    if not _NUMBER.fullmatch(other) or not float(other):
        return None
    factor = float(other)
    divides = name.startswith("aten.div")
    return (factor if divides == back else 1 / factor), 0.0


def _equal(one: _Parameters, other: _Parameters) -> bool:
    return all(
        abs(mine - theirs) <= _CLOSE * max(abs(mine), abs(theirs), _CLOSE)
        for mine, theirs in zip(one, other, strict=True)
    )


def _said(parameters: _Parameters) -> str:
    scale, zero = parameters
    return f"scale {scale:.6g}" + (f" and zero point {zero:g}" if zero else "")

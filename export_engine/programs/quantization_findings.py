"""Findings about integers that one program makes of floats and another reads back.

The scale and the zero point are read off the ops around the seam: torch's own quantize ops, or a
division and a multiplication by a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component, find_given_type
from export_engine.programs.op_walk import Walk
from export_engine.record import Seam

_NARROW = {"int8", "uint8", "int16", "int4", "uint4", "float8_e4m3fn", "float8_e5m2"}
_SAME = re.compile(
    r"aten\.(_to_copy|to|clamp|round|view|reshape|transpose|permute|unsqueeze|squeeze|clone|cat|"
    r"contiguous|slice|select|expand|detach|alias|clamp_min|clamp_max|minimum|maximum)\b"
)
"""Ops that a scale passes through."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")
_CLOSE = 1e-6
_MOST = 200


def check_quantization(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """Seams at which a tensor is quantized with one scale, and dequantized with another."""
    for number, seam in enumerate(seams):
        giving, taking = components[seam.source], components[seam.target]
        for flow in seam.flows:
            if find_given_type(giving, flow).dtype not in _NARROW:
                continue
            parameters, _ = _scale(giving, flow.source_node, back=True)
            read, node = _scale(taking, flow.target_node, back=False)
            if parameters is None or read is None or _agree(parameters, read):
                continue
            yield Finding(
                kind=Kind.SET_QUANTIZATION,
                severity="wrong",
                sentence=rules.SetQuantization.SENTENCE(
                    giving=giving.name,
                    source_path=flow.source_path,
                    written=_describe_parameters(parameters),
                    taking=taking.name,
                    read=_describe_parameters(read),
                ),
                why=rules.SetQuantization.WHY(),
                component=seam.target,
                node=node,
                seam=number,
            )


class _Parameters(NamedTuple):
    """Parameters that quantize floats to integers."""

    scale: float | str
    """A number, or the digest of the values of a tensor that the program holds."""
    zero: float
    name: str = ""
    """Of that tensor."""


def _scale(component: Component, start: int, back: bool) -> tuple[_Parameters | None, int]:
    """The parameters that a tensor is quantized or dequantized with, and the op with them."""
    walk = component.walk
    waiting: list[tuple[int, float]] = [(start, 0.0)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST:
        node, zero = waiting.pop(0)
        if node in seen or node < 0:
            continue
        seen.add(node)
        parameters = _read_parameters(component, walk, node, zero, back)
        if parameters is not None:
            return parameters, node
        name = walk.name(node)
        if name.startswith(("aten.add", "aten.sub")):
            shift = _number(walk, node)
            zero += shift if name.startswith("aten.add") == back else -shift
        elif node != start and not _SAME.match(name):
            continue
        waiting += [
            (number, zero) for number in (walk.inputs(node) if back else walk.readers(node))
        ]
    return None, -1


def _read_parameters(
    component: Component, walk: Walk, node: int, zero: float, back: bool
) -> _Parameters | None:
    name = walk.name(node)
    if name.startswith("quantized_decomposed."):
        wanted = "quantized_decomposed.quantize" if back else "quantized_decomposed.dequantize"
        numbers = [float(text) for text in walk.arguments(node)[0][1:3] if _NUMBER.fullmatch(text)]
        is_said = name.startswith(wanted) and len(numbers) == 2
        return _Parameters(numbers[0], numbers[1]) if is_said else None
    if not name.startswith(("aten.div", "aten.mul")):
        return None
    divides = name.startswith("aten.div")
    factor = _number(walk, node)
    if factor:
        return _Parameters(factor if divides == back else 1 / factor, zero)
    inputs = walk.inputs(node)
    held = {entry.node: entry.target for entry in component.record.signature.inputs if entry.target}
    target = held.get(inputs[1], "") if len(inputs) > 1 and divides == back else ""
    if target not in component.weights:
        return None
    return _Parameters(component.weights[target].content(), zero, target)


def _number(walk: Walk, node: int) -> float:
    """The number that an op has as its second argument; 0 where that is not a number."""
    positions, names = walk.arguments(node)
    other = names.get("other", positions[1] if len(positions) > 1 else "")
    return float(other) if _NUMBER.fullmatch(other) else 0.0


def _agree(one: _Parameters, other: _Parameters) -> bool:
    """Whether parameters are the same; those of which only one is a number are not compared."""
    if isinstance(one.scale, str) or isinstance(other.scale, str):
        apart = isinstance(one.scale, str) and isinstance(other.scale, str)
        return not (apart and one.scale != other.scale) and _close(one.zero, other.zero)
    return _close(one.scale, other.scale) and _close(one.zero, other.zero)


def _close(mine: float, theirs: float) -> bool:
    return abs(mine - theirs) <= _CLOSE * max(abs(mine), abs(theirs), _CLOSE)


def _describe_parameters(parameters: _Parameters) -> str:
    named = f"the scale `{parameters.name}`" if parameters.name else f"scale {parameters.scale:.6g}"
    return named + (f" and zero point {parameters.zero:g}" if parameters.zero else "")

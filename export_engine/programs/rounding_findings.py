"""Findings about floats that go through a narrower type on their way between programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component
from export_engine.programs.op_walk import VIEWS, Walk
from export_engine.record import Seam

_BITS = {"float64": 64, "float32": 32, "bfloat16": 16, "float16": 16}
_CASTS = ("aten.to.", "aten._to_copy.", "aten.half.", "aten.bfloat16.", "aten.float.")


def check_rounding(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """Tensors that one side of a seam makes narrower and wide again, one finding a side."""
    for number, seam in enumerate(seams):
        for at, back in ((seam.source, True), (seam.target, False)):
            if seam.source == seam.target and not back:
                continue
            rounded = [
                (path, *cast)
                for flow in seam.flows
                for path, start in (
                    [(flow.source_path, flow.source_node)]
                    if back
                    else [(flow.target_path, flow.target_node)]
                )
                if (cast := _find_narrow_cast(components[at], start, back)) is not None
            ]
            if not rounded:
                continue
            path, node, narrow, wide = rounded[0]
            more = f" and {len(rounded) - 1} more" if len(rounded) > 1 else ""
            verb = "returns" if back else "accepts"
            yield Finding(
                kind=Kind.SET_ROUNDED,
                severity="surprising",
                sentence=rules.SetRounded.SENTENCE(
                    component=components[at].name,
                    verb=verb,
                    path=path,
                    more=more,
                    wide=wide,
                    narrow=narrow,
                ),
                why=rules.SetRounded.WHY(wide=wide, narrow=narrow),
                component=at,
                node=node,
                seam=number,
            )


def _find_narrow_cast(component: Component, start: int, back: bool) -> tuple[int, str, str] | None:
    """The cast to a narrower type beside a tensor that is wide again, with both types."""
    walk = component.walk
    wide = walk.type(start).dtype
    if wide not in _BITS:
        return None
    return _before(walk, start, wide) if back else _after(walk, start, wide)


def _before(walk: Walk, node: int, wide: str) -> tuple[int, str, str] | None:
    while walk.name(node).startswith((*_CASTS, *VIEWS)):
        inputs = walk.inputs(node)
        dtype, text = walk.type(node).dtype, walk.type(inputs[0]).dtype
        if _is_narrower(dtype, wide):
            if _is_narrower(dtype, text):
                return node, dtype, wide
            if not walk.name(node).startswith(VIEWS):
                return None
        node = inputs[0]
    return None


def _after(walk: Walk, node: int, wide: str) -> tuple[int, str, str] | None:
    for reader in walk.readers(node):
        name, dtype = walk.name(reader), walk.type(reader).dtype
        if name.startswith(VIEWS):
            result = _after(walk, reader, wide)
            if result is not None:
                return result
        elif name.startswith(_CASTS) and _is_narrower(dtype, wide):
            widened = [
                number
                for number in walk.readers(reader)
                if walk.name(number).startswith(_CASTS) and walk.type(number).dtype == wide
            ]
            if widened and len(widened) == len(walk.readers(reader)):
                return reader, dtype, wide
    return None


def _is_narrower(one: str, other: str) -> bool:
    return _BITS.get(one, 0) < _BITS.get(other, 0) if one in _BITS else False

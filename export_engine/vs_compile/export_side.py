"""The exported program's response to a call's sizes, and its contract in a few lines."""

from __future__ import annotations

from typing import Literal

import torch

from export_engine.attempt import Request
from export_engine.record import CodePlace, Record, probe_sizes
from export_engine.source import find_last_frame, source_line
from export_engine.traced_sizes import leaf_values

Verdict = Literal["takes", "refuses", "unchecked", "no program"]


def at_sizes(record: Record, request: Request) -> tuple[Verdict, str, CodePlace | None]:
    """Whether the program takes a call, the rule that refuses it, and that rule's line."""
    if record.failure is not None:
        return "no program", "", None
    leaves = leaf_values(request)
    sizes = []
    for size in record.probe.inputs:
        value = leaves.get(record.signature.inputs[size.entry].path)
        sizes.append(
            value.shape[size.dim]
            if isinstance(value, torch.Tensor)
            else value
            if isinstance(value, int)
            else size.example
        )
    result = probe_sizes(record.probe, sizes)
    if not result.broken:
        return "takes", "", None
    rule = result.broken[0]
    stack = rule.stack if rule.stack >= 0 or rule.guard < 0 else record.guards[rule.guard].stack
    return (
        "refuses" if result.verdict == "refused" else "unchecked",
        rule.text,
        _place(record, stack),
    )


def contract(record: Record) -> list[str]:
    """The sizes that vary with their ranges, and the guards that are checked at run time."""
    if record.failure is not None:
        return []
    kept = [guard.text for guard in record.guards if guard.effect == "kept"]
    return [f"{symbol.name} in {symbol.range}" for symbol in record.symbols] + list(
        dict.fromkeys(kept)
    )


def failing_place(record: Record) -> CodePlace | None:
    """The line at which the export failed."""
    return _place(record, record.failure.stack) if record.failure else None


def _place(record: Record, stack: int) -> CodePlace | None:
    frame = find_last_frame(record, stack)
    if frame is None:
        return None
    return CodePlace(
        file=frame.name,
        line=frame.line,
        function=frame.function,
        text=source_line(record, frame.file, frame.line),
    )

"""Inputs that the program takes and does not use: tensors that nothing reads, numbers baked in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import readers
from export_engine.record import InputEntry, Record

if TYPE_CHECKING:
    from export_engine.attempt import Exported, Fix

_NUMBER = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?")


def check_unused_inputs(record: Record, exported: Exported | None) -> Iterator[Finding]:
    """One finding per input."""
    entries = [entry for entry in record.signature.inputs if entry.kind == "user_input"]
    yield from (
        _make_baked_number_finding(entry, exported) for entry in entries if _is_number(entry)
    )
    tensors = {
        entry.node: entry for entry in entries if entry.node >= 0 and _is_tensor(record, entry)
    }
    for node, users in readers(record, tensors).items() if record.graphs else ():
        if not users:
            yield _make_unused_finding(tensors[node])


def _is_number(entry: InputEntry) -> bool:
    return entry.constant is not None and _NUMBER.fullmatch(entry.constant) is not None


def _is_tensor(record: Record, entry: InputEntry) -> bool:
    return entry.constant is None and record.types[entry.type].kind == "tensor"


def _make_baked_number_finding(entry: InputEntry, exported: Exported | None) -> Finding:
    """A number among the inputs that the program takes one value of."""
    whole = str(entry.constant).lstrip("-").isdigit()
    fix = _fix(exported, entry.path) if whole else None
    advice = "Let it vary, or" if fix else "To have it vary,"
    return Finding(
        kind=Kind.BAKED_ARGUMENT,
        severity="note",
        sentence=rules.BakedArgument.SENTENCE(path=entry.path, constant=entry.constant),
        why=rules.BakedArgument.WHY(advice=advice),
        fix=fix,
    )


def _fix(exported: Exported | None, path: str) -> Fix | None:
    if exported is None or exported.request is None:
        return None
    from export_engine.findings.fixes import letting_vary

    return letting_vary(exported.request, path)


def _make_unused_finding(entry: InputEntry) -> Finding:
    return Finding(
        kind=Kind.UNUSED_INPUT,
        severity="note",
        sentence=rules.UnusedInput.SENTENCE(name=entry.path or entry.name),
        why=rules.UnusedInput.WHY(),
        node=entry.node,
    )

"""Weights with a name that torch.fx.GraphModule has itself, with which no program can be called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.findings.record_ops import place_of, readers
from export_engine.record import Record
from export_engine.torch_internals import find_own_names

if TYPE_CHECKING:
    from export_engine.attempt import Exported


def check_taken_names(record: Record, _: Exported | None) -> Iterator[Finding]:
    """One finding per name."""
    there = record.signature.inputs if record.graphs else ()
    held = [entry for entry in there if entry.target and entry.node >= 0]
    for name in find_own_names(entry.target for entry in held):
        first = next(entry for entry in held if entry.target.partition(".")[0] == name)
        what = "submodule" if "." in first.target else first.kind.replace("_", " ")
        yield Finding(
            kind=Kind.NAME_TAKEN,
            severity="wrong",
            sentence=rules.NameTaken.SENTENCE(what=what, name=name),
            why=rules.NameTaken.WHY(name=name),
            stack=place_of(record, readers(record, [first.node]).get(first.node, [])),
            node=first.node,
        )

"""Buffers that are one tensor under several names, and that the program writes to."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind, find_written_aliases
from export_engine.findings.program_ops import parse
from export_engine.record import Record


def check_aliased_buffers(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per two names."""
    nodes: list[object] = []
    for written_alias in find_written_aliases(exported.program):
        nodes = nodes or list(exported.program.graph.nodes)
        yield Finding(
            kind=Kind.ALIASED_BUFFERS,
            severity="surprising",
            sentence=written_alias.sentence,
            why=rules.AliasedBuffers.WHY(),
            stack=parse(written_alias.node),
            node=nodes.index(written_alias.node),
        )

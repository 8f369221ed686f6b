"""Contexts around the export that changed the program and are absent when it runs."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings.program_ops import parse
from export_engine.listing import join_names
from export_engine.record import Record

_ATTENTION = "scaled_dot_product_attention"
_WAYS_OUT = {
    "autocast": rules.Context.AUTOCAST(),
    "dtype": rules.Context.DTYPE(),
    "device": rules.Context.DEVICE(),
    "mode": rules.Context.MODE(),
    "deterministic": rules.Context.DETERMINISTIC(),
    "attention": rules.Context.ATTENTION(),
    "hook": rules.Context.HOOK(),
}
"""Per kind of context, what to do."""


def check_contexts(exported: Exported, record: Record) -> Iterator[Finding]:
    """One finding for all contexts, one per function of torch that was replaced."""
    recording = exported.recording
    yield from _check_context_effect(exported, record)
    for patch in recording.patches:
        yield Finding(
            kind=Kind.CONTEXT,
            severity="surprising",
            sentence=rules.Context.REPLACED(name=patch.name, function=patch.place.function),
            why=rules.Context.REPLACED_WHY(),
            stack=(patch.place,) if patch.place.file else (),
        )


def _check_context_effect(exported: Exported, record: Record) -> Iterator[Finding]:
    contexts, effect = exported.recording.contexts, exported.recording.context_effect
    names = join_names([context.name for context in contexts])
    if effect is not None:
        nodes = [node for node in exported.program.graph.nodes if node.name == effect.node]
        positions = [record.strings[name] for name in record.graphs[0].name]
        yield Finding(
            kind=Kind.CONTEXT,
            severity="wrong",
            sentence=rules.Context.CHANGED(names=names, effect=effect.text),
            why=rules.Context.CHANGED_WHY(
                cure=" ".join(dict.fromkeys(_WAYS_OUT[context.kind] for context in contexts))
            ),
            stack=parse(nodes[0]) if nodes else (),
            node=positions.index(effect.node) if effect.node in positions else -1,
            decided_by="sound",
        )
    elif any(context.kind == "attention" for context in contexts) and _attends(record):
        yield Finding(
            kind=Kind.CONTEXT,
            severity="note",
            sentence=rules.Context.NOT_CONTAINED(names=names),
            why=rules.Context.NOT_CONTAINED_WHY(cure=_WAYS_OUT["attention"]),
        )


def _attends(record: Record) -> bool:
    return any(_ATTENTION in target.name for target in record.targets)

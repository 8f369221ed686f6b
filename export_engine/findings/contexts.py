"""What held around the export and changed the program, and does not hold where it runs."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import Exported, Finding, Kind
from export_engine.findings.program_ops import parse
from export_engine.listing import listed
from export_engine.record import Record

_ATTENTION = "scaled_dot_product_attention"
_WAYS_OUT = {
    "autocast": "Enter `torch.autocast` in `forward`, or convert the model: `model.bfloat16()`.",
    "dtype": "Name the dtype where `forward` creates tensors: `dtype=x.dtype`.",
    "device": "Name the device where `forward` creates tensors: `device=x.device`.",
    "mode": "Export outside of the mode, or write what it does into the model.",
    "deterministic": "Also switch it on when the program runs.",
    "attention": "Also choose the kernel when the program runs.",
}
"""Per kind of context, what to do."""


def check_contexts(exported: Exported, record: Record) -> Iterator[Finding]:
    """One finding for all contexts, one per function of torch that was replaced."""
    recording = exported.recording
    yield from _changed(exported, record)
    for patch in recording.patches:
        yield Finding(
            kind=Kind.CONTEXT,
            severity="surprising",
            sentence=f"The export called `{patch.name}` as other code has replaced it, "
            f"`{patch.place.function}`.",
            why="The program has the ops of the replacement. Where eager runs without it, the two "
            "may differ. Export without the patch, or call the replacement in `forward`.",
            stack=(patch.place,) if patch.place.file else (),
        )


def _changed(exported: Exported, record: Record) -> Iterator[Finding]:
    contexts, effect = exported.recording.contexts, exported.recording.context_effect
    names = listed([each.name for each in contexts])
    if effect is not None:
        nodes = [node for node in exported.program.graph.nodes if node.name == effect.node]
        positions = [record.strings[name] for name in record.graphs[0].name]
        yield Finding(
            kind=Kind.CONTEXT,
            severity="wrong",
            sentence=f"{names} was active around the export and changed the program: "
            f"{effect.text}.",
            why="Where the program runs, there is no such context: it computes something else than "
            "the export declares, or something else than eager. "
            + " ".join(dict.fromkeys(_WAYS_OUT[each.kind] for each in contexts)),
            stack=parse(nodes[0]) if nodes else (),
            node=positions.index(effect.node) if effect.node in positions else -1,
        )
    elif any(each.kind == "attention" for each in contexts) and _attends(record):
        yield Finding(
            kind=Kind.CONTEXT,
            severity="note",
            sentence=f"{names} was active around the export; the program does not contain it.",
            why="Attention is one op of the program, and torch chooses its kernel where it runs. "
            + _WAYS_OUT["attention"],
        )


def _attends(record: Record) -> bool:
    return any(_ATTENTION in each.name for each in record.targets)

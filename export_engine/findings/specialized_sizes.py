"""Sizes that were to vary and do not."""

from __future__ import annotations

from collections.abc import Iterator

from export_engine import rules
from export_engine.attempt import Exported, Finding, Fix, Kind, Request
from export_engine.findings.record_ops import stack_of
from export_engine.record import Record, SizeInput
from export_engine.shapes import Auto, Dynamic, Named
from export_engine.trace import Replacement
from export_engine.traced_sizes import InputPlace, birth_dims, with_size


def check_specialized_sizes(exported: Exported, record: Record) -> Iterator[Finding]:
    """One finding per size."""
    request = exported.request
    shapes = request.shapes if request is not None else None
    if shapes is None:
        return
    causes = _causes(exported, record)
    for size in record.probe.inputs:
        path = record.signature.inputs[size.entry].path
        specs = shapes.leaves.get(path, ())
        dim = max(size.dim, 0)
        wanted = specs[dim] if dim < len(specs) else None
        if not isinstance(wanted, Auto | Dynamic | Named) or not isinstance(size.size, int):
            continue
        guard = causes.get(InputPlace(path, size.dim), -1)
        yield _make_fixed_size_finding(record, size, path, guard)


def _causes(exported: Exported, record: Record) -> dict[InputPlace, int]:
    """The guard that specialized each input dim."""
    paths = [entry.path for entry in record.signature.inputs if entry.kind == "user_input"]
    places = birth_dims(exported.recording.births, paths)
    guards = [event.guard for event in record.timeline if event.kind == "replacement"]
    replaced = [event for event in exported.recording.events if isinstance(event, Replacement)]
    return {
        places[str(event.symbol)]: guard
        for event, guard in zip(replaced, guards, strict=False)
        if event.value.is_number and str(event.symbol) in places
    }


def _make_fixed_size_finding(record: Record, size: SizeInput, path: str, guard: int) -> Finding:
    small = size.example in (0, 1) and guard < 0
    stack = stack_of(record, record.guards[guard].stack) if guard >= 0 else ()
    if small:
        why = rules.FixedSize.ZERO_ONE_WHY()
    elif guard >= 0:
        condition = record.guards[guard].text
        why = rules.FixedSize.CONDITION_WHY(condition=condition)
    else:
        why = rules.FixedSize.UNNAMED_WHY()
    return Finding(
        kind=Kind.FIXED_SIZE,
        severity="surprising",
        sentence=(rules.FixedSize.SENTENCE(size=size.text, example=size.example)),
        why=why,
        stack=stack,
        guard=guard,
        fix=_larger(size, path) if small else None,
    )


def _larger(size: SizeInput, path: str) -> Fix:
    def change(request: Request) -> Request:
        return with_size(request, [(path, size.dim)], 2)

    return Fix(
        kind="inputs",
        title=f"Export with an example where {size.text} is 2",
        why=rules.FixedSize.FIX(),
        change=change,
        before=f"{size.text} = {size.example}",
        after=f"{size.text} = 2",
    )

"""Findings about state: a buffer or a tensor that one program writes and another reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.listing import join_names
from export_engine.programs.component import Component
from export_engine.record import Seam


def check_state(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """Writes that another program does not see, or does not expect."""
    yield from _buffers(components, seams)
    yield from _inputs(components, seams)


def _buffers(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """A buffer that one program updates: each program has its own, as it was at the export."""
    for number, seam in enumerate(seams):
        states = [flow for flow in seam.flows if flow.kind == "state"]
        if not states:
            continue
        giving, taking = components[seam.source], components[seam.target]
        names = join_names([state.target_path for state in states])
        yield Finding(
            kind=Kind.SET_STATE,
            severity="wrong",
            sentence=rules.SetState.SENTENCE(giving=giving.name, names=names, taking=taking.name),
            why=rules.SetState.WHY(taking=taking.name),
            component=seam.source,
            node=states[0].source_node,
            seam=number,
        )


def _inputs(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """A tensor that goes to two programs, of which the first mutates it."""
    readers: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for number, seam in enumerate(seams):
        for flow in seam.flows:
            if flow.kind != "state" and flow.output >= 0:
                key = seam.source, flow.output
                readers.setdefault(key, []).append((seam.target, flow.input, number))
    for (source, _), takers in readers.items():
        for at, number, seam_number in takers:
            component = components[at]
            taken = component.record.signature.inputs[number]
            writer = component.writes().get(taken.node)
            others = [number for number, _, _ in takers if number not in (at, source)]
            if writer is None or not others or _is_given_on(component, taken.path):
                continue
            yield Finding(
                kind=Kind.SET_MUTATED,
                severity="surprising",
                sentence=rules.SetMutated.SENTENCE(
                    component=component.name,
                    path=taken.path,
                    reader=components[others[0]].name,
                    source=components[source].name,
                ),
                why=rules.SetMutated.WHY(),
                component=at,
                node=writer,
                seam=seam_number,
            )


def _is_given_on(component: Component, path: str) -> bool:
    """Whether a program returns what it takes under a path: a cache, whose new state goes on."""
    returned = {
        output.path for output in component.record.signature.outputs if output.kind == "user_output"
    }
    return path in returned

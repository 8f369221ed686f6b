"""Components → the ProgramSet: all that a view shows of what is between programs."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from export_engine.programs import (
    baked_findings,
    cache_findings,
    constant_findings,
    in_place_findings,
    order_findings,
    position_findings,
    quantization_findings,
    rounding_findings,
    seam_findings,
    shift_findings,
    state_findings,
    weight_findings,
)
from export_engine.programs.component import Component, Link
from export_engine.programs.finding_row import as_row
from export_engine.programs.flows import seams_of
from export_engine.programs.shared_symbols import find_shared_symbols
from export_engine.programs.shared_weights import find_shared_weights
from export_engine.record import ComponentRow, GenerationTrial, ProgramSet, count_ops
from export_engine.rules import SEVERITIES


def build_set(
    title: str,
    components: Sequence[Component],
    links: Collection[Link] = (),
    trials: Sequence[GenerationTrial] = (),
    notes: Sequence[str] = (),
) -> ProgramSet:
    """The set of some programs.

    Args:
        title: of the set.
        components: in the order in which they are called first. One that failed to export has no
            seams; the others are described all the same.
        links: what was seen to flow between them in example calls.
        trials: generations by the programs, if some were run.
        notes: sentences about the set as a whole.
    """
    seams = seams_of(components, links)
    weights = find_shared_weights(components, seams)
    findings = [
        *seam_findings.check_seams(components, seams),
        *state_findings.check_state(components, seams),
        *baked_findings.check_baked_numbers(components),
        *position_findings.check_positions(components, seams),
        *shift_findings.check_shifts(components, seams, weights.rows),
        *cache_findings.check_caches(components, seams),
        *in_place_findings.check_in_place_caches(components, seams),
        *order_findings.check_cache_order(components, seams),
        *rounding_findings.check_rounding(components, seams),
        *quantization_findings.check_quantization(components, seams),
        *weight_findings.check_weights(components, weights.rows),
        *constant_findings.check_constants(components, weights.rows),
    ]
    findings.sort(key=lambda each: SEVERITIES.index(each.severity))
    return ProgramSet(
        title=title,
        components=[_row(component) for component in components],
        seams=seams,
        symbols=find_shared_symbols(components, seams),
        weights=weights.rows,
        shared_bytes=weights.shared_bytes,
        duplicated_bytes=weights.duplicated_bytes,
        findings=[as_row(finding, list(components)) for finding in findings],
        trials=list(trials),
        notes=list(notes),
    )


def _row(component: Component) -> ComponentRow:
    record = component.record
    return ComponentRow(
        name=component.name,
        verdict=record.verdict,
        outcome=record.outcome,
        ops=sum(count_ops(graph.op) for graph in record.graphs),
        bytes=sum(entry.bytes for entry in record.signature.inputs),
        role=component.role,
    )

"""Findings at seams: dtypes, sizes and ranges of what one program gives and another takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from export_engine import rules
from export_engine.attempt import Finding, Kind
from export_engine.programs.component import Component, find_given_type
from export_engine.programs.size_ranges import Range, line_of, range_of
from export_engine.record import Flow, Seam

_TAKEN_APART = 2
"""torch takes sizes of 0 and 1 apart: a range that starts at 2 is not narrower for that."""


class _Where(TypedDict):
    component: int
    node: int
    seam: int


def check_seams(components: Sequence[Component], seams: Sequence[Seam]) -> Iterator[Finding]:
    """What does not fit at the seams of a set, each thing once a seam."""
    for number, seam in enumerate(seams):
        keys: set[tuple[Kind, str]] = set()
        for flow in seam.flows:
            for finding in _at(components, seams, number, flow):
                key = finding.kind, finding.why
                if key not in keys:
                    keys.add(key)
                    yield finding


def _at(
    components: Sequence[Component], seams: Sequence[Seam], number: int, flow: Flow
) -> Iterator[Finding]:
    seam = seams[number]
    giving, taking = components[seam.source], components[seam.target]
    taken = taking.record.signature.inputs[flow.input]
    one, other = find_given_type(giving, flow), taking.type_of(taken)
    named = f"`{flow.target_path}` of `{taking.name}`"
    own = seam.source == seam.target
    from_ = "its own last call" if own else f"`{giving.name}`"
    where: _Where = {"component": seam.target, "node": taken.node, "seam": number}
    if one.dtype != other.dtype:
        yield Finding(
            kind=Kind.SET_DTYPES,
            severity="wrong",
            sentence=rules.SetDtypes.SENTENCE(
                named=named, taken=other.dtype, giver=from_, given=one.dtype
            ),
            why=rules.SetDtypes.WHY(
                giving=giving.name, given=one.dtype, taking=taking.name, taken=other.dtype
            ),
            **where,
        )
    if flow.known_by == "part":
        return  # its sizes are those of what is given without what is cut off
    if len(one.shape) != len(other.shape):
        yield Finding(
            kind=Kind.SET_SIZES,
            severity="wrong",
            sentence=rules.SetSizes.RANK(
                named=named, taken=len(other.shape), giver=from_, given=len(one.shape)
            ),
            why=rules.SetSizes.RANK_WHY(),
            **where,
        )
        return
    for dim, (size, wanted) in enumerate(zip(one.shape, other.shape, strict=True)):
        given, accepted = range_of(giving.record, size), range_of(taking.record, wanted)
        if given is None or accepted is None or (own and _grows(giving, size, wanted)):
            continue
        if _is_full(taking, seams, number, flow, dim, given, accepted):
            continue
        yield from _sizes(components, seam, flow, dim, given, accepted, where)


def _fixes_rows(component: Component, rows: int) -> bool:
    """Whether all that a program takes has so many rows: it was exported for one batch."""
    sizes = [component.type_of(taken).shape for _, taken in component.taken()]
    return bool(sizes) and all(size[:1] == [rows] for size in sizes if len(size) > 1)


def _grows(component: Component, size: int | str, wanted: int | str) -> bool:
    """Whether a program gives its own next call a size of the symbol that it takes: `past + 1`."""
    if isinstance(size, int) or isinstance(wanted, int):
        return False
    one, other = line_of(component.record, size), line_of(component.record, wanted)
    return one is not None and other is not None and one[0] is other[0]


def _is_full(
    taking: Component,
    seams: Sequence[Seam],
    number: int,
    flow: Flow,
    dim: int,
    given: Range,
    accepted: Range,
) -> bool:
    """Whether what is given beyond what is taken is a cache to which nothing can be added.

    Of 128 positions a first call may fill all, and each later one needs one that is left.
    """
    last = seams[number].target
    goes_on = [
        input_flow
        for seam in seams
        if seam.source == seam.target == last
        for input_flow in seam.flows
        if input_flow.input == flow.input
    ]
    if not goes_on or given.upper is None or accepted.upper is None:
        return False
    reached = range_of(taking.record, find_given_type(taking, goes_on[0]).shape[dim])
    fits = max(accepted.lower, _TAKEN_APART) <= max(given.lower, _TAKEN_APART)
    return fits and reached is not None and reached.upper == given.upper > accepted.upper


def _sizes(
    components: Sequence[Component],
    seam: Seam,
    flow: Flow,
    dim: int,
    given: Range,
    accepted: Range,
    where: _Where,
) -> Iterator[Finding]:
    giving, taking = components[seam.source], components[seam.target]
    at = f"`{flow.target_path}.shape[{dim}]`"
    own = seam.source == seam.target
    from_ = "its own last call" if own else f"`{giving.name}`"
    if accepted.lower == accepted.upper:
        if given == accepted or (given.lower == given.upper == accepted.lower):
            return
        if given.lower == given.upper:
            yield Finding(
                kind=Kind.SET_SIZES,
                severity="wrong",
                sentence=rules.SetSizes.SIZE(
                    dim=at, taken=accepted.lower, taking=taking.name, giver=from_, given=given.lower
                ),
                why=rules.SetSizes.SIZE_WHY(dim=dim, given=given.lower, taken=accepted.lower),
                **where,
            )
        else:
            yield Finding(
                kind=Kind.SET_LENGTH,
                severity="wrong",
                sentence=rules.SetLength.FIXED_DIM(
                    dim=at, lower=accepted.lower, taking=taking.name, giver=from_, given=given
                ),
                why=rules.SetLength.FIXED_DIM_WHY(taking=taking.name, dim=dim),
                **where,
            )
        return
    if given.lower == given.upper and dim == 0 and _fixes_rows(giving, given.lower):
        yield Finding(
            kind=Kind.SET_LENGTH,
            severity="surprising",
            sentence=rules.SetLength.FIXED_ROWS(
                giving=giving.name,
                lower=given.lower,
                s="" if given.lower == 1 else "s",
                taking=taking.name,
                accepted=accepted,
            ),
            why=rules.SetLength.FIXED_ROWS_WHY(giving=giving.name),
            component=seam.source,
            node=flow.source_node,
            seam=where["seam"],
        )
    above = accepted.upper is not None and (given.upper is None or given.upper > accepted.upper)
    below = accepted.lower > _TAKEN_APART and given.lower < accepted.lower
    if above or below:
        yield Finding(
            kind=Kind.SET_RANGES,
            severity="wrong" if given.upper is not None or below else "surprising",
            sentence=rules.SetRanges.SENTENCE(
                upper=from_[:1].upper(),
                from_=from_[1:],
                dim=at,
                given=given,
                taking=taking.name,
                accepted=accepted,
            ),
            why=rules.SetRanges.WHY(dim=dim, given=given, accepted=accepted),
            **where,
        )

"""How the programs of a file generate, read as data and checked: a file may claim anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import prod

import msgspec

from export_engine.archive import limits
from export_engine.archive.json_text import check
from export_engine.archive.names import cut
from export_engine.archive.parts import GENERATION
from export_engine.archive.zip_members import Members
from export_engine.record import Constant, GenerationPlan, Passed, PlannedCall

_AGAIN = "Make the set with explorer.explore_generation and save it again"


def read_plan(members: Members, programs: Collection[str], title: str) -> GenerationPlan:
    """The plan in a file; one with `why_not` where there is none, or none that is valid.

    Args:
        members: of the file.
        programs: its programs.
        title: of the file.
    """
    if GENERATION not in members:
        return GenerationPlan(
            why_not=f"{title} does not record how its programs generate. {_AGAIN}, or call each: "
            f"kit[{next(iter(programs), '')!r}].program.module()."
        )
    try:
        data = members.read(GENERATION, limits.PLAN_BYTES)
        check(data, f"{title}, {GENERATION}")
        generation_plan = msgspec.json.decode(data, type=GenerationPlan)
        wrong = "" if generation_plan.why_not else next(_wrong(generation_plan, programs), "")
    except (ValueError, RecursionError) as error:
        wrong = str(error)
    if wrong:
        return GenerationPlan(
            why_not=f"The generation plan of {title} is not valid ({cut(wrong)[:300]}). {_AGAIN}."
        )
    return generation_plan


def _wrong(plan: GenerationPlan, programs: Collection[str]) -> Iterator[str]:
    """What does not fit together in a plan."""
    texts = set(programs)
    if not plan.first or not plan.later:
        yield "it calls no program"
    for call in (*plan.first, *plan.later):
        yield from _wrong_call(call, texts)
    entries = dict(plan.logits)
    for calls in (plan.first, plan.later):
        if calls and calls[-1].program not in entries:
            yield f"it does not record which output of {calls[-1].program!r} has the logits"
    if not plan.prompt and not plan.start:
        yield "it starts without a token"


def _wrong_call(call: PlannedCall, programs: Collection[str]) -> Iterator[str]:
    sources = [entry.source for entry in call.inputs]
    passed = [
        name for source in sources if isinstance(source, Passed) for name, _ in source.outputs
    ]
    for name in (call.program, *passed):
        if name not in programs:
            yield f"there is no program {name!r}"
    if len({entry.place for entry in call.inputs}) < len(call.inputs):
        yield f"{call.program!r} receives the same input twice"
    for source in sources:
        if isinstance(source, Constant) and prod(source.shape) != len(source.values):
            yield f"a constant of shape {source.shape[:8]} has {len(source.values)} values"

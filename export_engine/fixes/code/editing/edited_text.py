"""The text that a rewrite of a failure begins with: what edits have made of the file, and where."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from export_engine.attempt import Diagnosis, Failed, Kind, Request, text_in_effect
from export_engine.diagnose import SizesViolated
from export_engine.source import Location, Stack


class FailingText(NamedTuple):
    """A diagnosed line, in the text that is run."""

    request: Request
    diagnosis: Diagnosis
    place: Location
    """The line as the diagnosis has it."""
    text: str
    line: int
    """Where it is in `text`."""


def failing_text(attempt: Failed, kinds: Collection[Kind]) -> FailingText | None:
    """The text at a failure of one of these kinds; None for others, or where it has no place."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return None
    if diagnosis.kind not in kinds:
        return None
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    return FailingText(request, diagnosis, place, text, line)


def stacks_of(attempt: Failed, kind: str = "") -> list[Stack]:
    """The stack of the diagnosis, and those of the problems with sizes, or of one kind of them."""
    diagnosis = attempt.diagnosis
    assert diagnosis is not None
    facts = diagnosis.facts
    problems = facts.problems if isinstance(facts, SizesViolated) else ()
    return [diagnosis.stack, *(problem.stack for problem in problems if kind in ("", problem.kind))]


def find_fixing_places(attempt: Failed) -> list[Location]:
    """Lines that may fix a size: that of the diagnosis, and of each fixed size."""
    return list(dict.fromkeys(stack[-1] for stack in stacks_of(attempt, "fixed") if stack))

"""Tests a condition on a size before it is stated: does eager reject what it excludes?

A trace follows the path of the example, and what it needs of a size holds for that path alone. If
the model runs at a size that the condition excludes, the model does not require it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from export_engine.attempt import Diagnosis, Failed, Request
from export_engine.diagnose import FOR_OTHERS, SizesViolated
from export_engine.fixes.excluded_calls import calls_without
from export_engine.shapes import ShapeViolation, name_of
from export_engine.verify import runs_in_eager

_MOST = 3
_MOST_SIZES = 4
_WHY = (
    "The code branches on the size. The trace follows the example's branch, and the program is "
    "correct only for sizes that take it."
)


def confirm_conditions(attempt: Failed) -> Diagnosis | None:
    """The diagnosis without conditions that eager does not require."""
    diagnosis, request = attempt.diagnosis, attempt.request
    facts = diagnosis.facts if diagnosis is not None else None
    if diagnosis is None or request is None or not isinstance(facts, SizesViolated):
        return diagnosis
    for problem in facts.problems[:_MOST]:
        size = find_accepted_size(problem, request)
        if size is not None:
            sentence = diagnosis.sentence.replace(problem.text, as_traced(problem, size))
            sentence = sentence.replace(FOR_OTHERS, ": for some sizes")
            why = diagnosis.why if problem.kind == "fixed" else _WHY
            diagnosis = replace(diagnosis, sentence=_begun(sentence), why=why)
    return diagnosis


def as_traced(problem: ShapeViolation, size: int) -> str:
    """A problem as what the trace needs, where the model takes another size: a clause."""
    if problem.kind == "fixed":
        dim = problem.dims[0]
        fixed = f"{name_of(dim)} is fixed at {dim.example} while tracing"
        return f"{fixed} (the model also runs at {size})"
    if problem.kind == "tied":
        text = problem.text.removesuffix(" must hold")
        other = f"{name_of(problem.changed[0])} = {size}"
    else:
        text = problem.text.replace(" must be ", " is ", 1).replace(" must not be ", " is not ", 1)
        other = str(size)
    return f"the program is correct only if {text} (the model also runs at {other})"


def _begun(sentence: str) -> str:
    return f"T{sentence[1:]}" if sentence.startswith("the program") else sentence


def find_accepted_size(problem: ShapeViolation, request: Request) -> int | None:
    """A size that a problem's condition excludes and the eager model takes; None if none is."""
    for size, call in islice(calls_without(request, problem), _MOST_SIZES):
        if runs_in_eager(call):
            return size
    return None

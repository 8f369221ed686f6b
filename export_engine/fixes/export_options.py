"""torch's export options that let some calls export, each with what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from export_engine.attempt import Diagnosis, Exported, Failed, Fix, Kind, Option, Request
from export_engine.diagnose import SizesViolated, is_unrolled
from export_engine.fixes.excluded_calls import calls_without
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress
from export_engine.shapes import name_of
from export_engine.verify import runs_in_eager

_MOST = 3
_KINDS = frozenset({Kind.SHAPES_VIOLATED, Kind.ZERO_ONE})
_OPTIONS: dict[Option, tuple[str, str, str]] = {
    "backed_size_oblivious": (
        "Treat sizes 0 and 1 like any other",
        "torch then does not guard on 0 and 1, where many conditions come from.",
        "Code that behaves differently at size 0 or 1, such as broadcasting, is traced as for "
        "larger sizes.",
    ),
    "prefer_deferred_runtime_asserts_over_guards": (
        "Keep guards on sizes as runtime assertions",
        "Guards that cannot be proved no longer fail the export.",
        "The program asserts them at run time, and rejects sizes that violate them.",
    ),
}


def offered(attempt: Failed, progress: Callable[[Progress], None] | None = None) -> Iterator[Fix]:
    """The tried options with which the call exports and every wanted dim stays dynamic."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    if isinstance(diagnosis.facts, SizesViolated) and _is_a_number(diagnosis):
        return  # no option lets a loop run on, or gives a plain number back its symbol
    for option, (title, why, gives_up) in _OPTIONS.items():
        if option in request.options:
            continue
        options = request.options | {option}
        if progress:
            progress(Progress(0, 0, f"trying the switch {option}", "fix"))
        found = try_request(request.with_changes(options=options))
        if not isinstance(found, Exported) or _is_wrong(found):
            continue
        rejected = _rejected(found, request, diagnosis)
        yield Fix(
            kind="options",
            title=title,
            why=why,
            narrows=bool(rejected),
            gives_up=f"{gives_up} {rejected}".rstrip(),
            change=lambda request, option=option: request.with_changes(  # type: ignore[misc]
                options=request.options | {option}
            ),
            before="",
            after=option,
            stack=diagnosis.stack,
            leads_to=found,
        )


def _rejected(found: Exported, request: Request, diagnosis: Diagnosis) -> str:
    """A sentence on a call that the model takes and the program rejects, by a condition kept."""
    problems = diagnosis.facts.problems if isinstance(diagnosis.facts, SizesViolated) else ()
    program = found.program.module()
    for problem in problems[:_MOST]:
        for size, call in islice(calls_without(request, problem), _MOST):
            if runs_in_eager(call) and not runs_in_eager(call.with_changes(target=program)):
                dims = problem.changed or problem.dims
                return f"The program rejects {name_of(dims[0])} = {size}, which the model takes."
    return ""


def _is_a_number(diagnosis: Diagnosis) -> bool:
    """Whether the code made a plain number of a size, or ran a loop over it."""
    facts = diagnosis.facts
    fixed = isinstance(facts, SizesViolated) and any(p.kind == "fixed" for p in facts.problems)
    return is_unrolled(diagnosis.stack) or fixed


def _is_wrong(found: Exported) -> bool:
    return found.agreement is not None and found.agreement.verdict in ("differs", "refused")

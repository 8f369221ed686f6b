"""torch's export options that let some calls export, each with what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from export_engine.attempt import Diagnosis, Exported, Failed, Fix, Kind, Option
from export_engine.diagnose import SizesViolated, is_unrolled
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress

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
        yield Fix(
            kind="options",
            title=title,
            why=why,
            gives_up=gives_up,
            change=lambda request, option=option: request.with_changes(  # type: ignore[misc]
                options=request.options | {option}
            ),
            before="",
            after=option,
            stack=diagnosis.stack,
            leads_to=found,
        )


def _is_a_number(diagnosis: Diagnosis) -> bool:
    """Whether the code made a plain number of a size, or ran a loop over it."""
    facts = diagnosis.facts
    fixed = isinstance(facts, SizesViolated) and any(p.kind == "fixed" for p in facts.problems)
    return is_unrolled(diagnosis.stack) or fixed


def _is_wrong(found: Exported) -> bool:
    return found.agreement is not None and found.agreement.verdict in ("differs", "refused")

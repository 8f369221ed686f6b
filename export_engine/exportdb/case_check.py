"""ExportDB's declared support levels compared with actual exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture, model_kept
from export_engine.defects import log_internal_error
from export_engine.diagnose import diagnose
from export_engine.error_text import error_text
from export_engine.exportdb.case_list import cases
from export_engine.exportdb.case_source import other_args, request_of
from export_engine.progress import Progress
from export_engine.record import CaseCheck, ExportCase, ModeOutcome
from export_engine.verify import call, compare, compare_named


def check_all(progress: Callable[[Progress], None] | None = None) -> list[CaseCheck]:
    """Exports every case in both modes, and compares the results with eager.

    Args:
        progress: called before each case.

    Raises:
        KeyboardInterrupt: interrupted.
    """
    items = cases()
    case_checks = []
    for number, case in enumerate(items):
        if progress:
            progress(Progress(number, len(items), case.name, "case"))
        case_checks.append(check_case(case))
    return case_checks


def check_case(case: ExportCase) -> CaseCheck:
    """One case in both modes."""
    outcomes = [_outcome(case, strict) for strict in (False, True)]
    good = "agrees" if case.level == "supported" else "failed"
    return CaseCheck(
        case.name, case.level, outcomes, all(outcome.outcome == good for outcome in outcomes)
    )


def _outcome(case: ExportCase, strict: bool) -> ModeOutcome:
    request = request_of(case.name, case.source, strict=strict)
    attempt = capture(request)
    outcome: Literal["agrees", "differs", "failed"] = "failed"
    if isinstance(attempt, Failed):
        text = _reason(attempt)
    else:
        assert isinstance(attempt, Exported)
        text = _difference(attempt, request)
        outcome = "differs" if text else "agrees"
    return ModeOutcome(
        "strict" if strict else "non-strict",
        outcome,
        text or "Exported; the outputs match eager.",
        attempt.seconds,
    )


def _reason(attempt: Failed) -> str:
    diagnosis = diagnose(attempt)
    return f"{diagnosis.kind.value}: {diagnosis.sentence}"


def _difference(attempt: Exported, request: Request) -> str:
    """How the program differs from eager, for the example and the case's extra inputs."""
    program = attempt.program.module()
    extra = other_args(request)
    calls = [request] if extra is None else [request, request.with_changes(args=extra)]
    for number, tried_call in enumerate(calls):
        text = _differs(program, tried_call)
        if text:
            return f"Exported, but with {'its other' if number else 'the example'} inputs: {text}"
    return ""


def _differs(program: Any, request: Request) -> str:
    try:
        with model_kept(request.target):
            theirs = call(request.target, request, seed=0)
        ours = call(program, request, seed=0)
    except Exception as error:  # noqa: BLE001 - what a case raises is its outcome
        log_internal_error(error, "running a case of the ExportDB")
        return error_text(error, 300)
    difference = compare(ours.result, theirs.result)
    if difference.same:
        difference = compare_named(ours.inputs, theirs.inputs)
    return difference.detail

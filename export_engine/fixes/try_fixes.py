"""Tries a Request, or fixes of a failed one: exports, and compares with eager at other sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from export_engine.attempt import Agreement, Attempt, Exported, Fix, Request, Trial
from export_engine.capture import capture
from export_engine.defects import log_internal_error
from export_engine.error_text import format_with_type
from export_engine.findings import momentary_values
from export_engine.progress import Progress
from export_engine.torch_internals import NameTaken, NotCallable
from export_engine.verify import check


def try_request(request: Request, progress: Callable[[Progress], None] | None = None) -> Attempt:
    """The attempt; one that exported has its `agreement`.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    attempt = capture(request, progress)
    if isinstance(attempt, Exported):
        return replace(attempt, agreement=_check(attempt))
    return attempt


def _check(attempt: Exported) -> Agreement:
    """The check; if it fails, one that says why and leaves the program unchecked.

    Two programs with the same baked-in value agree only by chance. A cache does not count: the
    check calls the model twice.
    """
    try:
        agreement = check(attempt)
        baked = momentary_values(attempt, caches=False) if agreement.verdict == "agrees" else []
    except NameTaken as error:
        text = str(error).rstrip(".")
        return Agreement((), reason=f"{text[0].lower()}{text[1:]}")
    except NotCallable as error:
        return Agreement((Trial({}, "refused"),), reason=str(error))
    except Exception as error:  # noqa: BLE001 - kept; inputs that cannot be created again, for one
        doing = "comparing a fixed program with eager"
        log_internal_error(error, doing)
        return Agreement((), reason=f"the comparison itself failed, {format_with_type(error)}")
    if not baked:
        return agreement
    text = baked[0].sentence
    chance = Trial({}, "differs", detail=f"it matches only by chance. {text}")
    return replace(agreement, trials=(*agreement.trials, chance), baked=text)


def apply_fixes(
    attempt: Attempt, fixes: Sequence[Fix], progress: Callable[[Progress], None] | None = None
) -> Attempt:
    """The attempt that fixes of another lead to, applied together.

    Raises:
        ValueError: no fix is given, or the attempt has no request.
        KeyboardInterrupt: the user interrupted.
    """
    if not fixes or attempt.request is None:
        raise ValueError("Name at least one fix of an attempt that was made here.")
    request = attempt.request
    for fix in fixes:
        request = fix.apply(request)
    leads_to = fixes[0].leads_to if len(fixes) == 1 else None
    if leads_to is not None:
        return replace(leads_to, request=request)
    return try_request(request, progress)

"""Tries a Request, or fixes of a failed one: exports, and compares with eager at other sizes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from export_engine.attempt import Agreement, Attempt, Exported, Fix, Request, Trial
from export_engine.capture import capture
from export_engine.defects import passed_over
from export_engine.error_text import typed_text
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
        return replace(attempt, agreement=_checked(attempt))
    return attempt


def _checked(attempt: Exported) -> Agreement:
    """The check; if it fails, one that says why and leaves the program unchecked.

    Two programs with the same baked-in value agree only by chance. A cache does not count: the
    check calls the model twice.
    """
    try:
        found = check(attempt)
        baked = momentary_values(attempt, caches=False) if found.verdict == "agrees" else []
    except NameTaken as error:
        said = str(error).rstrip(".")
        return Agreement((), reason=f"{said[0].lower()}{said[1:]}")
    except NotCallable as error:
        return Agreement((Trial({}, "refused"),), reason=str(error))
    except Exception as error:  # noqa: BLE001 - kept; inputs that cannot be created again, for one
        doing = "comparing a fixed program with eager"
        passed_over(error, doing)
        return Agreement((), reason=f"the comparison itself failed, {typed_text(error)}")
    if not baked:
        return found
    said = baked[0].sentence
    chance = Trial({}, "differs", detail=f"it agrees by chance only. {said}")
    return replace(found, trials=(*found.trials, chance), baked=said)


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
    known = fixes[0].leads_to if len(fixes) == 1 else None
    if known is not None:
        return replace(known, request=request)
    return try_request(request, progress)

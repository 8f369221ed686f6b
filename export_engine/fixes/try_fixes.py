"""Tries a Request, or fixes of a failed one: exports, and compares with eager at other sizes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeVar

from export_engine.attempt import (
    Agreement,
    Attempt,
    Diagnosis,
    Exported,
    Failed,
    Fix,
    Request,
    Trial,
)
from export_engine.capture import capture
from export_engine.defects import log_internal_error
from export_engine.diagnose import SizesViolated, diagnose
from export_engine.error_text import format_with_type
from export_engine.findings import momentary_values
from export_engine.process import undone
from export_engine.progress import Progress, Report
from export_engine.shapes import Shapes
from export_engine.torch_internals import NameTaken, NotCallable
from export_engine.traced_sizes import ShapeViolation
from export_engine.verify import check

T = TypeVar("T")


def try_request(request: Request, progress: Report | None = None) -> Attempt:
    """The attempt; one that exported has its `agreement`."""
    attempt = remember(_key(request), request, lambda: _try(request, progress))
    return replace(attempt, request=request)


def _try(request: Request, progress: Report | None) -> Attempt:
    attempt = capture(request, progress)
    if isinstance(attempt, Exported):
        return replace(attempt, agreement=_check(attempt))
    return attempt


def _key(request: Request) -> tuple[Hashable, ...]:
    """The key of an export's outcome: the same objects, and the same changes."""
    shapes = (request.shapes, id(request.dynamic_shapes))
    what = (id(request.target), id(request.args), id(request.kwargs), shapes, request.edits)
    how = (request.strict, request.eval_mode, request.options, request.setups, request.within)
    return (*what, *how)


def remember(key: tuple[Hashable, ...], request: Request, make: Callable[[], T]) -> T:
    """Return a function's result, cached by its key in this search for fixes.

    Args:
        key: says what is asked, by ids of what the request holds.
        request: is held, so that its ids are nobody else's.
        make: called where it is not remembered.
    """
    if not _memory:
        return make()
    results = _memory[0]
    if key not in results:
        results[key] = request, make()
        for old in list(results)[:-_MOST_REMEMBERED]:
            del results[old]
    result: T = results[key][1]
    return result


@undone
def search_memory() -> Iterator[None]:
    """Inside, what `remember` was asked once is not computed again."""
    if _memory:
        yield
        return
    _memory.append({})
    try:
        yield
    finally:
        _memory.clear()


@undone
def telling(progress: Report | None) -> Iterator[None]:
    """Inside, `tell` calls `progress`."""
    token = _report.set(progress)
    try:
        yield
    finally:
        _report.reset(token)


def tell(text: str, what: str = "fix") -> None:
    """Says what a search for fixes does next, also by a fix's title, or what it found."""
    if (report := _report.get()) is not None:
        report(Progress(0, 0, lower_first(text) if what == "fix" else text, what))


def lower_first(text: str) -> str:
    """A text that begins in lower case, to follow others in a sentence."""
    return f"{text[:1].lower()}{text[1:]}"


def both_titles(first: str, second: str) -> str:
    """The titles of two fixes as one of both: `Do this, do that, and bound n`."""
    *done, last = first.split(_AND)
    parts = [*done, last, *lower_first(second).split(_AND)]
    return f"{', '.join(parts[:-1])}{_AND}{parts[-1]}"


_AND = ", and "


_report: ContextVar[Report | None] = ContextVar("report", default=None)
_MOST_REMEMBERED = 12
_memory: list[dict[tuple[Hashable, ...], tuple[Request, Any]]] = []
"""Empty outside of `search_memory`."""


def _check(attempt: Exported) -> Agreement:
    """The check; if it fails, one that says why and leaves the program unchecked.

    Two programs with the same baked-in value agree only by chance. A cache does not count: the
    check calls the model twice.
    """
    try:
        agreement = check(attempt)
        baked = momentary_values(attempt, caches=False) if agreement.verdict == "agrees" else []
    except NameTaken as error:
        return Agreement((), reason=lower_first(str(error).rstrip(".")))
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


def read_failure(attempt: Failed) -> tuple[Request, Diagnosis]:
    """The failure and its diagnosis; providers are called only if there are both."""
    assert attempt.request is not None
    assert attempt.diagnosis is not None
    return attempt.request, attempt.diagnosis


def list_problems(attempt: Attempt | None) -> tuple[ShapeViolation, ...]:
    """The conditions that a failure's sizes violate, diagnosed here if needed."""
    if not isinstance(attempt, Failed):
        return ()
    facts = (attempt.diagnosis or diagnose(attempt)).facts
    return facts.problems if isinstance(facts, SizesViolated) else ()


def try_shapes(request: Request, shapes: Shapes) -> Attempt:
    """The attempt with other shapes."""
    tell(f"trying {shapes}")
    return try_request(request.with_changes(shapes=shapes))


def change_shapes(before: Shapes, after: Shapes, **fields: Any) -> Fix:
    """The fix from some shapes to others, with further fields of `Fix`."""
    return Fix(
        kind="shapes",
        change=lambda request: request.with_changes(shapes=after),
        before=str(before),
        after=str(after),
        **fields,
    )


def apply_fixes(attempt: Attempt, fixes: Sequence[Fix], progress: Report | None = None) -> Attempt:
    """The attempt that fixes of another lead to, applied together.

    Raises:
        ValueError: no fix is given, or the attempt has no request.
        KeyboardInterrupt: the user interrupted.
    """
    if not fixes or attempt.request is None:
        raise ValueError("Pass at least one fix of an attempt that was exported in this session.")
    request = attempt.request
    for fix in fixes:
        request = fix.apply(request)
    leads_to = fixes[0].leads_to if len(fixes) == 1 else None
    if leads_to is not None:
        return replace(leads_to, request=request)
    return try_request(request, progress)

"""A failed attempt in a few words: the error's class, one sentence, and the user's frames."""

from __future__ import annotations

import traceback

from export_engine.attempt import Failed
from export_engine.description.tables import Stacks
from export_engine.record import Failure
from export_engine.stacks import Location, Stack, is_shown, without_repeats

_LONGEST_SENTENCE = 300


def describe_failure(attempt: Failed, stacks: Stacks) -> Failure:
    """What a view shows of a failure."""
    error = attempt.error
    message = str(getattr(error, "msg", None) or error).strip()
    return Failure(
        type(error).__name__,
        _sentence(error, message),
        message,
        "".join(traceback.format_exception(error)),
        stacks.number(failing_stack(error)),
    )


def failing_stack(error: BaseException) -> Stack:
    """The user's frames at the line that failed.

    Strict mode interprets the user's code and keeps its frames on the exception; in non-strict mode
    they are in the traceback, perhaps of the exception that torch replaced by this one.
    """
    seen: BaseException | None = error
    while seen is not None:
        kept = getattr(seen, "real_stack", None)
        if kept:
            found = _shown(Location(f.filename, f.lineno or 0, f.name) for f in kept)
            if found:
                return found
        found = _from_traceback(seen)
        if found:
            return found
        seen = seen.__cause__ or seen.__context__
    return ()


def _from_traceback(error: BaseException) -> Stack:
    locations = [
        Location(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    started = [n for n, location in enumerate(locations) if location.function == "run_export"]
    inside = locations[started[0] + 1 :] if started else locations
    return _shown(inside)


def _shown(locations: object) -> Stack:
    return without_repeats(each for each in locations if is_shown(each.file))  # type: ignore[attr-defined]


def _sentence(error: BaseException, message: str) -> str:
    """The first paragraph of torch's message, or the class of an error that says nothing."""
    first = message.split("\n\n", maxsplit=1)[0].strip()
    first = " ".join(first.split())
    if not first:
        return f"torch.export raised {type(error).__name__} and gave no reason."
    return first if len(first) <= _LONGEST_SENTENCE else first[: _LONGEST_SENTENCE - 1] + "…"

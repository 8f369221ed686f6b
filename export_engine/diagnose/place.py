"""Where an export failed: the user's frames, in both modes."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator

from export_engine.stacks import Location, Stack, is_shown, without_repeats


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that torch replaced by it, the outermost first."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def failing_stack(error: BaseException) -> Stack:
    """The user's frames at the line that failed.

    Strict mode interprets the user's code and keeps its frames on the exception; in non-strict mode
    they are in the traceback, perhaps of the exception that torch replaced by this one.
    """
    for each in chain(error):
        kept = getattr(each, "real_stack", None) or ()
        found = _shown(Location(f.filename, f.lineno or 0, f.name) for f in kept)
        found = found or _from_traceback(each)
        if found:
            return found
    return ()


def _from_traceback(error: BaseException) -> Stack:
    locations = [
        Location(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    started = [n for n, location in enumerate(locations) if location.function == "run_export"]
    return _shown(locations[started[0] + 1 :] if started else locations)


def _shown(locations: Iterable[Location]) -> Stack:
    return without_repeats(each for each in locations if is_shown(each.file))

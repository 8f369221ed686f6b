"""The user's line at which a model takes a different branch at some sizes than at the example's.

Both calls are run in eager, and the lines that they run are compared: the last one that both run is
the branch, or the loop. Where both run the same lines, it is one of those that compares a size with
a number near it.
"""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from export_engine.defects import log_internal_error
from export_engine.source import TORCH, Location, is_shown, original_file
from export_engine.verify.numbers_in_code import Number

_MOST_LINES = 200_000
_LONGEST = 80


class _Line(NamedTuple):
    """A line that was run."""

    place: Location
    depth: int
    """In how many of the user's functions."""


def find_asking_line(
    run: Callable[[Callable[[Any], Any], bool], object],
    numbers: Iterable[Number],
    sizes: Mapping[str, int],
) -> Location | None:
    """The line that asks; None where none is found.

    Args:
        run: calls the model at the sizes at which it agrees, or with True at those at which it does
            not. It is given what to wrap around the model.
        numbers: that the code compares sizes with, with their lines.
        sizes: at which it does not agree.
    """
    lines: list[list[_Line]] = []
    for wrong in (False, True):
        ran: list[_Line] = []
        try:
            run(partial(_record_lines, ran=ran), wrong)
        except Exception as error:  # noqa: BLE001 - what it ran until then is known
            log_internal_error(error, "finding the line that checks a size")
        lines.append(ran)
    usual, other = lines
    for at, (one, two) in enumerate(zip(usual, other, strict=False)):
        if one != two:
            return _before(other[:at], min(one.depth, two.depth))
    shorter, longer = sorted(lines, key=len)
    if shorter and len(shorter) != len(longer):
        return _before(shorter, longer[len(shorter)].depth)
    return _comparing([line.place for line in other], numbers, sizes)


def _before(common: list[_Line], depth: int) -> Location | None:
    """The last of the lines that both run, but for those of functions that it called."""
    return next((line.place for line in reversed(common) if line.depth <= depth), None)


def line_shown(place: Location) -> str:
    """The text of a line: ``line 9 `if x.shape[0] == 1:` ``."""
    text = " ".join(linecache.getline(place.file, place.line).split())
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    return f"line {place.line} `{text}`" if text else f"line {place.line}"


def _comparing(
    ran: list[Location], numbers: Iterable[Number], sizes: Mapping[str, int]
) -> Location | None:
    """The likeliest of the lines that were run and compare a size with a number near its own."""
    places = {(original_file(location.file), location.line): location for location in ran}
    near = [
        (number.rank, min(abs(number.value - size) for size in sizes.values()), place)
        for number in numbers
        if sizes and (place := places.get((original_file(number.file), number.line))) is not None
    ]
    close = [pair for pair in near if pair[1] <= 1]
    return min(close, key=lambda each: each[:2])[2] if close else None


def _record_lines(called: Callable[..., Any], ran: list[_Line]) -> Callable[..., Any]:
    """A function whose calls note the lines of the user's that they run."""
    depth = 0

    def note(frame: FrameType, event: str, _: object) -> Any:
        nonlocal depth
        if event == "line" and len(ran) < _MOST_LINES:
            code = frame.f_code
            ran.append(_Line(Location(code.co_filename, frame.f_lineno, code.co_name), depth))
        depth -= event == "return"
        return note

    def enter(frame: FrameType, event: str, _: object) -> Any:
        nonlocal depth
        path = frame.f_code.co_filename
        if not is_shown(path) or path.startswith(TORCH):
            return None
        depth += 1
        return note

    def call(*args: Any, **kwargs: Any) -> Any:
        before = sys.gettrace()
        sys.settrace(enter)
        try:
            return called(*args, **kwargs)
        finally:
            sys.settrace(before)

    return call

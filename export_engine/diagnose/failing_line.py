"""Locates a failure: the user's frames, in both modes, and the failing expression."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from traceback import FrameSummary
from types import TracebackType
from typing import Any

import torch

from export_engine.source import (
    Code,
    Location,
    Position,
    Question,
    Span,
    Stack,
    code_of,
    is_shown,
    outside_helpers,
    without_repeats,
)

_LONGEST_CHAIN = 50
_TORCH = torch.__path__[0] + "/"
_EXPORTDB = _TORCH + "_export/db/examples/"


@dataclass(frozen=True)
class Place:
    """A failing line, and the part of it."""

    stack: Stack = ()
    position: Position | None = None
    """Positions of the instruction in the innermost frame."""

    @cached_property
    def code(self) -> Code | None:
        """The file of the innermost frame."""
        return code_of(self.stack[-1].file) if self.stack else None

    @cached_property
    def expression(self) -> ast.expr | None:
        """The expression that was being evaluated."""
        if self.code is None:
            return None
        return self.code.expression(self.position or Position(self.stack[-1].line))

    @cached_property
    def question(self) -> Question | None:
        """The question that Python asked of its value."""
        if self.code is None or self.expression is None:
            return None
        return self.code.question(self.expression)

    @property
    def text(self) -> str:
        """The source of the expression; empty where it is not known."""
        return self.text_of(self.expression)

    @property
    def span(self) -> Span | None:
        """The position of the expression."""
        return self.span_of(self.expression)

    def text_of(self, node: ast.expr | None) -> str:
        """The source of a node of the same file."""
        return self.code.text(node) if self.code and node else ""

    def span_of(self, node: ast.expr | ast.stmt | None) -> Span | None:
        """The position of a node of the same file."""
        return self.code.span(node) if self.code and node else None


def chain(error: BaseException) -> Iterator[BaseException]:
    """An error and those that it replaced, outermost first."""
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen and len(seen) < _LONGEST_CHAIN:
        yield each
        seen.add(id(each))
        each = each.__cause__ or each.__context__


def failing_stack(error: BaseException) -> Stack:
    """The user's frames at the line that failed."""
    return failing_place(error).stack


def failing_place(error: BaseException) -> Place:
    """The place that failed.

    Strict mode interprets the user's code and keeps its frames on the exception; in non-strict mode
    they are in the traceback, perhaps of the replaced exception. A branch of torch.cond is
    interpreted in both modes; code that an operator calls, such as a fake kernel, runs in both.
    """
    errors = list(chain(error))
    interpreted = [(number, _dynamo_frames(error)) for number, error in enumerate(errors)]
    number, inner = next(((n, frames) for n, frames in interpreted if frames), (-1, []))
    if number < 0:
        return _place(next(filter(None, map(_ran, errors)), []))
    before = next(filter(None, map(_ran, errors[: number + 1])), [])
    behind = next(filter(None, map(_ran, errors[number + 1 :])), [])
    inner = max((frames for _, frames in interpreted), key=len)
    return _place([*before, *inner, *behind])


def variables_at(error: BaseException, place: Place) -> Mapping[str, Any]:
    """The local variables at a place that ran; empty in strict mode, which interprets the code."""
    result: Mapping[str, Any] = {}
    wanted = place.stack[-1][:2] if place.stack else ("", 0)
    for chained_error in chain(error):
        for tb in _entries(chained_error.__traceback__):
            if (tb.tb_frame.f_code.co_filename, tb.tb_lineno) == wanted:
                result = tb.tb_frame.f_locals
    return result


def place_before(error: BaseException, files: tuple[str, ...]) -> Place | None:
    """The place of the user's that called into one of torch's files; None if nothing ran there.

    Args:
        error: as it was raised.
        files: the ends of their paths.
    """
    for chained_error in chain(error):
        interpreted = list(getattr(chained_error, "real_stack", None) or ())
        for number, frame in enumerate(interpreted):
            if str(getattr(frame, "filename", "")).endswith(files):
                return find_dynamo_place(interpreted[:number])
    frames = _run_by_export(error)
    for number, (location, _) in enumerate(frames):
        if location.file.endswith(files):
            before = frames[:number]
            return _place(
                [(location, _position(tb)) for location, tb in before if is_shown(location.file)]
            )
    return None


def is_torch(file: str) -> bool:
    """Whether a file is one of torch's own, its example cases apart."""
    return file.startswith(_TORCH) and not file.startswith(_EXPORTDB)


_Frame = tuple[Location, Position | None]


def _place(frames: list[_Frame]) -> Place:
    """The place of the innermost frame that is not torch's own."""
    stack = list(without_repeats(location for location, _ in frames))
    while len(stack) > 1 and is_torch(stack[-1].file):
        stack.pop()
    if not stack:
        return Place()
    stack = list(outside_helpers(tuple(stack)))
    # By the line alone: the frame of a comprehension is shown under its function's name.
    line = stack[-1][:2]
    positions = [position for location, position in frames if location[:2] == line]
    return Place(tuple(stack), positions[-1])


def find_dynamo_place(frames: Iterable[Any]) -> Place:
    """The place of frames that Dynamo interpreted."""
    return _place(_visible_frames(frames))


def _dynamo_frames(error: BaseException) -> list[_Frame]:
    """The frames that Dynamo keeps on an error."""
    return _visible_frames(getattr(error, "real_stack", None) or ())


def _visible_frames(frames: Iterable[Any]) -> list[_Frame]:
    """Of frames that Dynamo interpreted, those to show. They have columns, but no end line."""
    pairs: list[_Frame] = []
    for frame in frames:
        if isinstance(frame, FrameSummary) and is_shown(frame.filename):
            line, column = frame.lineno or 0, getattr(frame, "colno", None)
            position = Position(line, column, None, getattr(frame, "end_colno", None))
            pairs.append((Location(frame.filename, line, frame.name), position))
    return pairs


def _ran(error: BaseException) -> list[_Frame]:
    """The frames of a traceback that are shown, from the call of torch.export on."""
    frames = _run_by_export(error)
    return [(location, _position(tb)) for location, tb in frames if is_shown(location.file)]


def _run_by_export(error: BaseException) -> list[tuple[Location, TracebackType]]:
    frames = [
        (Location(tb.tb_frame.f_code.co_filename, tb.tb_lineno, tb.tb_frame.f_code.co_name), tb)
        for tb in _entries(error.__traceback__)
    ]
    started = [n for n, (location, _) in enumerate(frames) if location.function == "run_export"]
    return frames[started[0] + 1 :] if started else frames


def _entries(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def _position(tb: TracebackType) -> Position | None:
    """The position of a frame's current instruction; an instruction is two bytes."""
    positions = tb.tb_frame.f_code.co_positions()
    line, end_line, column, end_column = next(
        islice(positions, tb.tb_lasti // 2, None), (None, None, None, None)
    )
    return Position(line, column, end_line, end_column) if line is not None else None

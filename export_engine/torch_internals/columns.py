"""Columns of the lines that strict mode interprets.

Up to torch 2.12, Dynamo keeps only the line of each frame that it interprets, and of the innermost
one the line where its statement starts. The translator of a frame knows its instruction, and so
both line and columns.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dis import Positions
from traceback import FrameSummary, StackSummary
from types import FrameType
from typing import Any, NamedTuple

from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import Notes, hook


class _At(NamedTuple):
    """Where the translator of a frame is."""

    file: str
    function: str
    positions: Positions


def columns_kept(into: Notes) -> AbstractContextManager[None]:
    """Makes the stacks that Dynamo gives have columns, where this torch leaves them out."""

    def make(original: Callable[[], StackSummary]) -> Any:
        def extract_stack() -> StackSummary:
            stack = original()
            if torch_has.INSTRUCTION and any(_lacks_columns(frame) for frame in stack):
                with torch_has.INSTRUCTION.tolerate(into):
                    return _with_columns(stack, _translators(sys._getframe(1)))
            return stack

        return staticmethod(extract_stack)

    return hook(torch_has.EXTRACT_STACK, make)


def _lacks_columns(frame: FrameSummary) -> bool:
    return getattr(frame, "colno", None) is None


def _with_columns(stack: StackSummary, translators: Iterator[_At]) -> StackSummary:
    """Innermost first, each frame takes the instruction of the next translator of its function."""
    frames: list[FrameSummary] = []
    waiting = list(translators)
    for frame in reversed(stack):
        places = [n for n, at in enumerate(waiting) if at[:2] == (frame.filename, frame.name)]
        if not places or not _lacks_columns(frame):
            frames.append(frame)
            continue
        at = waiting[places[0]].positions
        waiting = waiting[places[0] + 1 :]
        frames.append(
            FrameSummary(
                frame.filename,
                at.lineno or frame.lineno,
                frame.name,
                lookup_line=False,
                end_lineno=at.end_lineno,
                colno=at.col_offset,
                end_colno=at.end_col_offset,
            )
        )
    return StackSummary.from_list(reversed(frames))


def _translators(frame: FrameType | None) -> Iterator[_At]:
    """Where each translator that runs now is, innermost first."""
    while frame is not None:
        if frame.f_code.co_name == "step":
            translator = frame.f_locals.get("self")
            instruction = torch_has.INSTRUCTION.of(translator)
            code = getattr(translator, "f_code", None)
            positions = getattr(instruction, "positions", None)
            if code is not None and positions is not None:
                yield _At(code.co_filename, code.co_name, positions)
        frame = frame.f_back

"""Tries a Request: exports it, and compares what comes out with eager at other sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from export_engine.attempt import Attempt, Exported
from export_engine.checking import check
from export_engine.request import Request
from export_engine.tracing import Progress, capture


def try_request(request: Request, progress: Callable[[Progress], None] | None = None) -> Attempt:
    """The attempt; one that exported has its `agreement`.

    Raises:
        KeyboardInterrupt: the user interrupted.
    """
    attempt = capture(request, progress)
    if isinstance(attempt, Exported):
        return replace(attempt, agreement=check(attempt))
    return attempt

"""The answer to a request of the page: a value, or a reason to refuse."""

from __future__ import annotations

from typing import Any

Answer = tuple[Any, list[bytes]]
"""A value that JSON can carry, and buffers."""


class Refusal(Exception):
    """Why a request of the page is rejected. The message is shown unchanged."""

    def __init__(self, reason: str, report: str = "") -> None:
        """Make one.

        Args:
            reason: the text.
            report: of a defect of Export Explorer's own: what to send.
        """
        super().__init__(reason)
        self.report = report

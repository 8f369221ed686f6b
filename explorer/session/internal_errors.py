"""A defect of Export Explorer as the user sees it: a sentence and a report to send."""

from __future__ import annotations

from export_engine.defects import OURS, describe_defect, is_ours, log_internal_error, report_of

__all__ = ["OURS", "OwnDefect", "find_defect"]


class OwnDefect(RuntimeError):
    """Export Explorer itself failed. The message is the sentence; `report` is what to send."""

    def __init__(self, error: BaseException, doing: str) -> None:
        """Make one, and log what happened.

        Args:
            error: what was raised in our code.
            doing: what was being done, as a clause.
        """
        log_internal_error(error, doing)
        self.report = report_of(error, doing)
        super().__init__(describe_defect(error, doing))

    def _render_traceback_(self) -> list[str]:
        """IPython shows the sentence, and the report to be copied."""
        return [str(self), "", "To report it, send this:", "", self.report]


def find_defect(error: BaseException, doing: str) -> OwnDefect | None:
    """The defect that caused an exception; None if it is about the user's input."""
    if isinstance(error, OwnDefect):
        return error
    return OwnDefect(error, doing) if is_ours(error) else None

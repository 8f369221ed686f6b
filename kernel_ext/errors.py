"""Errors of misused magics."""

from __future__ import annotations


class ExportUsageError(Exception):
    """An invalid line. The message can be shown unchanged."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this instead of a traceback."""
        return [str(self)]


def pointing(message: str, text: str, column: int) -> ExportUsageError:
    """An error that shows the text with a caret under a column."""
    return ExportUsageError(f"{message}\n    {text}\n    {' ' * max(column, 0)}^")

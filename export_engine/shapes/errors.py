"""ShapesError: an invalid text or spec, shown with a caret under the place."""

from __future__ import annotations

from export_engine.plain_errors import PlainError

_AROUND = 60
"""Characters shown on either side of the place; a longer line is cut."""


class ShapesError(PlainError, ValueError):
    """An invalid text or spec. `str(error)` can be shown unchanged.

    Args:
        message: what is wrong and what to do next.
        text: the text it is wrong in.
        column: where in the text, counted from 0; None where no text is known.
    """

    def __init__(self, message: str, text: str = "", column: int | None = None) -> None:
        self.message = message
        self.text = text
        self.column = column
        super().__init__(message if column is None else f"{message}\n{_underline(text, column)}")

    def __reduce__(self) -> tuple[type[ShapesError], tuple[str, str, int | None]]:
        return ShapesError, (self.message, self.text, self.column)


class Misfit(ShapesError):
    """A leaf, or one of its dims, does not fit a call. The holder of the text adds the position."""

    def __init__(self, message: str, path: str, position: int | None = None) -> None:
        self.path = path
        self.position = position
        super().__init__(message)


def _underline(text: str, column: int) -> str:
    """The line that a column is on, and a caret under it."""
    start = text.rfind("\n", 0, column) + 1
    line, place = text[start:].split("\n", 1)[0], column - start
    head, tail = line[:place], line[place:]
    if len(head) > _AROUND:
        head = "…" + head[-_AROUND:]
    if len(tail) > _AROUND:
        tail = tail[:_AROUND] + "…"
    shown = "".join(text if text.isprintable() else " " for text in head + tail)
    return f"    {shown}\n    {' ' * len(head)}^"

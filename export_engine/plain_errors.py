"""Errors about what was asked, whose text says all: a notebook shows it without the frames."""

from __future__ import annotations


class PlainError(Exception):
    """Beside the kind of error that it is: `class ShapesError(PlainError, ValueError)`."""

    def _render_traceback_(self) -> list[str]:
        """IPython shows this in place of a traceback."""
        return [str(self)]


class WrongArgument(PlainError, ValueError):
    """A value that a call does not take: which one, and what it takes."""


class NotWritable(PlainError, OSError):
    """A file cannot be written where it should be: why."""


def told(error: BaseException) -> str:
    """What an error says, with its class where the text does not say all."""
    return str(error) if isinstance(error, PlainError) else f"{type(error).__name__}: {error}"

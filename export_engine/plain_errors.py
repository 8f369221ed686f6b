"""Errors about what was asked, whose text says all: a notebook shows it without the frames."""

from __future__ import annotations

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064"
    "\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]|(?<![^\x00-\x7f])[\u200c\u200d]"
)
"""Control characters, line separators, bidirectional marks, what is not seen, and unassigned code
points. A joiner joins letters of some scripts and parts of emoji; after ASCII it joins nothing."""


def harmless(text: object) -> str:
    """Text without control characters; line ends and tabs stay."""
    return _CONTROL.sub("\ufffd", str(text).replace("\r\n", "\n"))


class PlainError(Exception):
    """A second base besides the kind of error: `class ShapesError(PlainError, ValueError)`.

    Python prints an error's text unescaped, and names in it may come from a file.
    """

    def __str__(self) -> str:
        return harmless(super().__str__())

    def _render_traceback_(self) -> list[str]:
        """IPython shows this in place of a traceback."""
        return [str(self)]


class WrongArgument(PlainError, ValueError):
    """A value that a call does not take: which one, and what it takes."""


class NotWritable(PlainError, OSError):
    """A file cannot be written where it should be: why."""


def describe_error(error: BaseException) -> str:
    """The message of an error, with its class if the message is not enough."""
    return str(error) if isinstance(error, PlainError) else f"{type(error).__name__}: {error}"

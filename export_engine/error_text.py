"""The message of an error, in one line."""

from __future__ import annotations

import re

from export_engine.defects import message_of

_ADDED = re.compile(r"While executing %| in graph: %|Original exception Traceback")
"""torch.fx adds the node that it ran and where that came from; torch.export.save a traceback."""


def error_text(error: BaseException | None, most: int = 200) -> str:
    """The message of an error in at most so many characters.

    Its type comes before a message that is only a name, and replaces an empty one.
    """
    text = " ".join(_ADDED.split(message_of(error))[0].split())
    kind = type(error).__name__
    return (f"{kind}: {text}" if is_bare(error, text) else text)[:most] or kind


def format_with_type(error: BaseException, most: int = 200) -> str:
    """The same, always with the type before it: `OSError: no driver`."""
    kind, text = type(error).__name__, error_text(error, most)
    return text if text.startswith(kind) else f"{kind}: {text}"


def is_bare(error: BaseException | None, said: str) -> bool:
    """Whether the message of an error is a name alone, as a KeyError's is: `'batch'`."""
    return bool(said) and (isinstance(error, KeyError) or " " not in said)

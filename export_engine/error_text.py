"""What an error says, in one line."""

from __future__ import annotations

_MOST = 200
_ADDED = "While executing %"
"""torch.fx adds the node that it ran, and where that came from."""


def error_text(error: BaseException | None) -> str:
    """The message of an error in at most 200 characters; its type where it says nothing."""
    said = " ".join(str(error).partition(_ADDED)[0].split())
    return said[:_MOST] or type(error).__name__

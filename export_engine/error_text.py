"""What an error says, in one line."""

from __future__ import annotations

_ADDED = "While executing %"
"""torch.fx adds the node that it ran, and where that came from."""


def error_text(error: BaseException | None, most: int = 200) -> str:
    """The message of an error in at most so many characters; its type where it says nothing."""
    said = " ".join(str(error).partition(_ADDED)[0].split())
    return said[:most] or type(error).__name__

"""Why code is not rewritten."""

from __future__ import annotations


class CannotRewrite(ValueError):
    """Why code cannot be rewritten soundly. The message can be shown as it is."""

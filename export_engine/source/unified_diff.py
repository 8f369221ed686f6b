"""Two texts as a unified diff."""

from __future__ import annotations

import difflib


def format_diff(before: str, after: str, name: str, now: str | None = None) -> str:
    """The change from one text to another; empty where there is none.

    Args:
        before: the first text.
        after: the second.
        name: what to call the first.
        now: what to call the second; the same by default.
    """
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), name, now or name, lineterm=""
    )
    return "\n".join(lines)

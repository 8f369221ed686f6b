"""Names in a sentence: the first few, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


def join_names(names: Sequence[str], most: int = 3) -> str:
    """Names as a sentence has them: `a`, `b`, `c` and 2 more."""
    told = ", ".join(f"`{name}`" for name in names[:most])
    return f"{told} and {len(names) - most:,} more" if len(names) > most else told

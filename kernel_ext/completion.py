"""Tab completion after `%export`: its options, then names for the call."""

from __future__ import annotations

from typing import Any

from kernel_ext.command import OPTIONS

_LONG = [option for option in OPTIONS if option.startswith("--")]


def complete(shell: Any, event: Any) -> list[str]:
    """IPython's hook: what may follow on the line. Raises TryNext to leave it to Python."""
    from IPython.core.error import TryNext

    symbol = str(event.symbol)
    before = str(event.line)[: len(str(event.line)) - len(symbol)].split()
    if symbol.startswith("-"):
        return [option for option in OPTIONS if option.startswith(symbol)]
    if before and before[-1] == "--load":
        raise TryNext
    if before and before[-1] == "--as":
        return []
    names = [
        name
        for name, value in shell.user_ns.items()
        if callable(value) and not name.startswith("_") and name.startswith(symbol)
    ]
    return names + (_LONG if not symbol else [])

"""Options that are skipped because the export failed."""

from __future__ import annotations

_OF_A_PROGRAM = (
    "contracts",
    "diff",
    "decompose",
    "verify",
    "run",
    "ready",
    "profile",
    "stages",
    "delegate",
    "save",
)


def left_undone(asked: object) -> str:
    """`Skipped because the export failed: --verify, --save m.pt2.`; empty if nothing was asked.

    Args:
        asked: what a command asks, an attribute for each option.
    """
    entries = {name: getattr(asked, name, None) for name in _OF_A_PROGRAM}
    options = [
        f"--{name} {value}" if isinstance(value, str) else f"--{name}"
        for name, value in entries.items()
        if value
    ]
    return f"Skipped because the export failed: {', '.join(options)}." if options else ""

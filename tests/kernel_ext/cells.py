"""Runs cells in an IPython without a notebook."""

from __future__ import annotations

from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


def run(shell: InteractiveShell, cell: str) -> tuple[Any, str]:
    """What came of a cell, and all that it showed."""
    with capture_output() as captured:
        result = shell.run_cell(cell)
    return result, captured.stdout + "".join(
        output.data.get("text/plain", "") for output in captured.outputs
    )


def shown(shell: InteractiveShell, cell: str) -> str:
    """All that a cell showed."""
    return run(shell, cell)[1]

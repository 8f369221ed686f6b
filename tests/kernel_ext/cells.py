"""Runs cells in an IPython without a notebook."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config


@contextmanager
def own_shell() -> Iterator[InteractiveShell]:
    """An IPython of its own, which writes no history, and of which nothing is left."""
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    try:
        yield shell
    finally:
        InteractiveShell.clear_instance()
        # It would be held until Python ends, and then collect all garbage once more
        atexit.unregister(shell.atexit_operations)


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

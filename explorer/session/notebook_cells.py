"""The cells of the notebook that this process runs, by the file names that Python has for them."""

from __future__ import annotations

import sys
from typing import Any


def cell_names(shell: Any = None) -> dict[str, str]:
    """Python's file name of each cell that has run, and the name to show for it.

    Args:
        shell: IPython's; by default the one that runs. Without any, there are no cells, and IPython
            is not imported to find out.
    """
    running = getattr(sys.modules.get("IPython"), "get_ipython", None)
    if shell is None and running is not None:
        shell = running()
    numbers = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return {path: f"Cell In[{number}]" for path, number in numbers.items()}

"""The IPython extension: `%load_ext kernel_ext` brings `%export` and `%%export`.

Loading it imports no torch; the first export does.
"""

from __future__ import annotations

from typing import Any

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(ipython: Any) -> None:
    """Registers the magics and their completion."""
    from kernel_ext.completion import complete
    from kernel_ext.magics import ExportMagics

    ipython.register_magics(ExportMagics)
    ipython.set_hook("complete_command", complete, re_key=r"%{1,2}export\b.*")


def unload_ipython_extension(ipython: Any) -> None:
    """Takes the magics away again."""
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("export", None)

"""The IPython extension: `%load_ext kernel_ext` registers `%export` and the other magics.

Loading it imports no torch; the first export does.
"""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["load_ipython_extension", "unload_ipython_extension"]


def load_ipython_extension(ipython: Any) -> None:
    """Registers the magics and their completion."""
    from kernel_ext.completion import export_matcher
    from kernel_ext.exportdb_magic import ExportDBMagics
    from kernel_ext.magics import ExportMagics

    ipython.register_magics(ExportMagics, ExportDBMagics)
    if export_matcher not in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.append(export_matcher)
    if _begun not in ipython.events.callbacks["pre_run_cell"]:
        ipython.events.register("pre_run_cell", _begun)


def _begun(info: Any) -> None:
    """Lets go of what the cell showed when it was run before."""
    module = sys.modules.get("explorer.display.widget")
    if module is not None:
        module.begin_cell(getattr(info, "cell_id", None) or info.raw_cell)


def unload_ipython_extension(ipython: Any) -> None:
    """Takes the magics and their completion away again."""
    from kernel_ext.completion import export_matcher

    for kind in ("line", "cell"):
        for name in ("export", "export_diff", "exportdb", "graph_breaks", "view"):
            ipython.magics_manager.magics[kind].pop(name, None)
    if export_matcher in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.remove(export_matcher)
    if _begun in ipython.events.callbacks["pre_run_cell"]:
        ipython.events.unregister("pre_run_cell", _begun)

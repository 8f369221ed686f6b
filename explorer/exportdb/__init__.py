"""ExportDB and the graph break pages of the installed torch, from Python.

import explorer
explorer.exportdb.browse()                        # on the last line of a cell: the browser
explorer.exportdb.search("torch.cond")            # cases, as plain data
explorer.exportdb.try_case("cond_operands")       # exports it in both modes: an Exploration
print(explorer.exportdb.check())                  # all cases: declared and actual behaviour
explorer.exportdb.graph_breaks("data-dependent")  # pages of torch's registry
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from explorer.exploration import Exploration
from explorer.exportdb.check_report import CheckReport
from explorer.exportdb.library import Library

if TYPE_CHECKING:
    from export_engine.progress import Progress
    from export_engine.record import ExportCase, GraphBreakPage

__all__ = ["browse", "case", "cases", "check", "graph_breaks", "search", "try_case"]


def cases() -> list[ExportCase]:
    """All cases of the installed torch, by name."""
    from export_engine.exportdb import cases as all_cases

    return list(all_cases())


def case(name: str) -> ExportCase:
    """The case of a name. Raises ValueError, with the nearest name, if there is none."""
    from export_engine.exportdb import case as named

    return named(name)


def search(query: str) -> list[ExportCase]:
    """The cases of a tag, or those that have all words in name, tags, description or source."""
    from export_engine.exportdb import search as found

    return found(query)


def graph_breaks(query: str = "") -> list[GraphBreakPage]:
    """The pages of torch's graph breaks with all these words; all pages without words."""
    from export_engine.exportdb import search_graph_breaks

    return search_graph_breaks(query)


def try_case(
    name: str, source: str | None = None, progress: Callable[[Progress], None] | None = None
) -> Exploration:
    """Exports a case in both modes.

    Args:
        name: the case's.
        source: a different source; it defines `model` and `example_args`, runs in its own module,
            and does not see your names.
        progress: called while it runs.

    Raises:
        ValueError: there is no such case, or the source cannot be run.
        KeyboardInterrupt: interrupted.
    """
    from explorer.exportdb.explore_case import explore_case

    return explore_case(name, case(name).source if source is None else source, progress)


def check(progress: Callable[[Progress], None] | None = None) -> CheckReport:
    """Exports every case in both modes and compares it with eager; `print` the result.

    Raises:
        KeyboardInterrupt: interrupted.
    """
    from export_engine.exportdb import check_all, torch_version

    return CheckReport(check_all(progress), torch_version())


def browse(query: str = "") -> Library:
    """The browser of all cases and graph breaks.

    Args:
        query: a case to open, or a tag or words to search for.
    """
    return Library.of_cases(query)

"""ExportDB, torch's library of cases: read, searched, tried live, and checked.

cases() ─search─▶ case ─source, edited or not─▶ a module of its own ─▶ Request ─capture─▶ …
"""

from export_engine.exportdb.cases import NoSuchCase, case, cases, search, torch_version
from export_engine.exportdb.checking import check_all
from export_engine.exportdb.graph_breaks import graph_break_pages, search_graph_breaks
from export_engine.exportdb.lookouts import lookouts
from export_engine.exportdb.source_text import SourceProblem, request_of

__all__ = [
    "NoSuchCase",
    "SourceProblem",
    "case",
    "cases",
    "check_all",
    "graph_break_pages",
    "lookouts",
    "request_of",
    "search",
    "search_graph_breaks",
    "torch_version",
]

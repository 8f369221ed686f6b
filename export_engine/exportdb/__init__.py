"""ExportDB, torch's library of cases: read, searched, tried live, and checked.

cases() ─search─▶ case ─source, edited or not─▶ a module of its own ─▶ Request ─capture─▶ …
"""

from typing import TYPE_CHECKING

from export_engine.lazy_names import lazy_names

if TYPE_CHECKING:
    from export_engine.exportdb.case_check import check_all as check_all
    from export_engine.exportdb.case_list import NoSuchCase as NoSuchCase
    from export_engine.exportdb.case_list import case as case
    from export_engine.exportdb.case_list import cases as cases
    from export_engine.exportdb.case_list import search as search
    from export_engine.exportdb.case_list import torch_version as torch_version
    from export_engine.exportdb.case_source import SourceProblem as SourceProblem
    from export_engine.exportdb.case_source import request_of as request_of
    from export_engine.exportdb.graph_breaks import graph_break_pages as graph_break_pages
    from export_engine.exportdb.graph_breaks import search_graph_breaks as search_graph_breaks
    from export_engine.exportdb.where_to_look import lookouts as lookouts
else:
    __getattr__, __dir__ = lazy_names(__name__)

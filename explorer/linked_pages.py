"""One page of torch's own explanations, for any view that links to it."""

from __future__ import annotations

from typing import Any

from explorer.main_thread import in_main_thread
from widgets import Answer, Refusal


def page_answer(ask: str, request: dict[str, Any]) -> Answer:
    """A case of ExportDB (`case`) or a page on a graph break (`break`), by name.

    Raises:
        Refusal: there is none of this name.
    """
    import msgspec

    from export_engine.exportdb import NoSuchCase, case, graph_break_pages
    from export_engine.source import python_lines

    name = str(request.get("name"))
    if ask == "break":
        page = next((each for each in graph_break_pages() if each.name == name), None)
        if page is None:
            raise Refusal(f"This torch has no page {name} in its registry of graph breaks.")
        return {"page": msgspec.to_builtins(page)}, []
    try:
        found = in_main_thread(lambda: case(name))  # at first, it runs the texts of all cases
    except NoSuchCase as error:
        raise Refusal(str(error)) from error
    return {"case": msgspec.to_builtins(found), "lines": python_lines(found.source)}, []

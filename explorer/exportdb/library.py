"""The browser of torch's own explanations: ExportDB's cases and graph breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from explorer.exploration import Exploration
from explorer.text.escape import escape_html, harmless

if TYPE_CHECKING:
    from export_engine.record import ExportCase, GraphBreakPage

Section = Literal["cases", "breaks"]
_MOST_ROWS = 60


class Library:
    """Cases and graph breaks to browse. Leave it on the last line of a cell to see it."""

    def __init__(self, section: Section, query: str) -> None:
        """Make one.

        Args:
            section: which of the two is open.
            query: a name to open, or what to search for.
        """
        self.section: Section = section
        self.query = query.strip()
        self.exploration: Exploration | None = None
        """The result of the last exported case."""

    @classmethod
    def of_cases(cls, query: str = "") -> Self:
        """The browser, open at the cases."""
        return cls("cases", query)

    @classmethod
    def of_graph_breaks(cls, query: str = "") -> Self:
        """The browser, open at the graph breaks."""
        return cls("breaks", query)

    @property
    def found(self) -> list[ExportCase] | list[GraphBreakPage]:
        """The results of the query; only the one that it names, if it names one."""
        from export_engine.exportdb import search, search_graph_breaks

        if self.section == "breaks":
            pages = search_graph_breaks(self.query)
            return [page for page in pages if page.name == self.query.upper()] or pages
        cases = search(self.query)
        return [case for case in cases if case.name == self.query] or cases

    def widget(self) -> Any:
        """The browser. Raises FrontEndMissing."""
        from explorer.exportdb.library_handlers import LibraryHandlers
        from widgets import LibraryWidget

        answers = LibraryHandlers(self._take_trial)
        widget = LibraryWidget(
            section=self.section, query=self.query, answer=answers, fallback=self._static
        )
        answers.show = widget
        return widget

    def _take_trial(self, exploration: Exploration) -> None:
        self.exploration = exploration

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from widgets import FrontEndMissing

        try:
            return self.widget()._repr_mimebundle_(**options)
        except FrontEndMissing as missing:
            return self._static(note=str(missing))

    def __repr__(self) -> str:
        return "\n".join(harmless(line) for line in self._lines())

    def _lines(self) -> list[str]:
        items = self.found
        if not items:
            return [self._nothing()]
        if len(items) == 1:
            return _page_lines(items[0])
        what = "graph breaks" if self.section == "breaks" else "cases of ExportDB"
        rows = [f"{item.name:<32} {item.title}" for item in items[:_MOST_ROWS]]
        left = len(items) - len(rows)
        more = [f"and {left:,} more; add words to narrow the search"] if left else []
        return [f"{len(items):,} {what}", *rows, *more]

    def _nothing(self) -> str:
        what = "%graph_breaks" if self.section == "breaks" else "%exportdb"
        if not self.query:
            return "This version of torch ships no cases."
        return f"Nothing matches all of these words: {self.query}. {what} alone lists everything."

    def _static(self, note: str = "") -> dict[str, str]:
        """The fallback where no widget runs."""
        text = note or "Run the notebook to browse, edit and export these."
        page = f"<pre>{escape_html(self, 20_000)}</pre><p><small>{escape_html(text)}</small></p>"
        return {"text/plain": repr(self), "text/html": page}


def _page_lines(found: ExportCase | GraphBreakPage) -> list[str]:
    """All of one case or page."""
    from export_engine.record import ExportCase

    if isinstance(found, ExportCase):
        inputs = ", ".join(f"{case_input.path}: {case_input.text}" for case_input in found.inputs)
        return [
            f"{found.name} ({found.level}; {', '.join(found.tags) or 'no tags'})",
            f"inputs: {inputs}",
            *([f"dynamic shapes: {found.shapes}"] if found.shapes else []),
            *([f"explains: {'; '.join(found.explains)}"] if found.explains else []),
            "",
            *found.source.splitlines(),
        ]
    return [
        f"{found.name}: {found.title}",
        *found.explanations,
        *(f"hint: {hint}" for hint in found.hints),
        found.url,
    ]

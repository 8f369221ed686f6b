"""One pane of a session, or all of them, shown in a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from explorer.session.session import Session
from explorer.text.escape import harmless

Pane = Literal["all", "graph", "signature", "source", "shapes", "code"]


class View:
    """One pane of the current attempt, shown in its own cell."""

    def __init__(
        self, session: Session, pane: Pane, first: Mapping[str, list[str]] | None = None
    ) -> None:
        """Make one.

        Args:
            session: whose current attempt.
            pane: `all`, graph, signature, source, shapes or code.
            first: what is to be seen first; see `explorer.session.initial_view`.
        """
        self._session = session
        self._pane = pane
        self._first = first

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from widgets import FrontEndMissing

        try:
            from explorer.display.widget import widget_of

            widget = widget_of(self._session, self._static(), self._pane, first=self._first)
            return widget._repr_mimebundle_(**options)
        except FrontEndMissing as missing:
            return self._static(note=str(missing))

    def __repr__(self) -> str:
        from explorer.text.attempt_text import summary
        from explorer.text.pane_text import pane_text

        record = self._session.entry.record
        if self._pane == "all" or record.failure:
            release, name = self._session.entry.release, self._session.name
            headline = release.sentence if release.begun and not record.failure else ""
            others = self._session.other_verdicts
            return summary(record, others, headline, name, release.doubted)
        title = harmless(f"{record.title}: {record.verdict}")
        return "\n".join([title, *pane_text(record, self._pane)])

    def _static(self, **options: str) -> dict[str, str]:
        """The fallback where no widget runs."""
        from explorer.text.static_picture import static_html

        record, others = self._session.entry.record, self._session.other_verdicts
        page = static_html(record, self._pane, others, **options)
        return {"text/plain": repr(self), "text/html": page}

"""One pane of an exploration, or all of them, to stand in a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from explorer.escape import harmless

if TYPE_CHECKING:
    from explorer.exploration import Exploration


class View:
    """One pane of an exploration, to stand in a cell of its own."""

    def __init__(self, exploration: Exploration, pane: str) -> None:
        """Make one.

        Args:
            exploration: whose pane.
            pane: `all`, graph, signature, source, shapes or code.
        """
        self._exploration = exploration
        self._pane = pane

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from widgets import FrontEndMissing

        try:
            return self._exploration.widget(self._pane, self._static())._repr_mimebundle_(**options)
        except FrontEndMissing as missing:
            return self._static(note=str(missing))

    def __repr__(self) -> str:
        from explorer.pane_text import pane_text
        from explorer.text import summary

        record = self._exploration.record
        if self._pane == "all" or record.failure:
            return summary(record, self._exploration.other_verdicts)
        title = harmless(f"{record.title}: {record.verdict}")
        return "\n".join([title, *pane_text(record, self._pane)])

    def _static(self, **options: str) -> dict[str, str]:
        """What is shown where no widget runs."""
        from explorer.picture import static_html

        exploration = self._exploration
        page = static_html(exploration.record, self._pane, exploration.other_verdicts, **options)
        return {"text/plain": repr(self), "text/html": page}

"""The differences of two programs, for a terminal, a review and a test."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.old_names import OldSaves
from explorer.session.entry import Entry
from explorer.session.session import Session
from explorer.text.attempt_text import fold
from explorer.text.comparison_text import MOST, ComparisonText, summary_of
from explorer.text.escape import escape_html

if TYPE_CHECKING:
    from export_engine.record import ProgramDiff


class Comparison(OldSaves):
    """The difference of two programs, up to the names of nodes and symbols.

    Show it by leaving it on the last line of a cell, `print` it, or use `ok` in a test.
    """

    def __init__(self, before: Entry, after: Entry) -> None:
        """Compare.

        Args:
            before: an attempt that exported, as its session lends it.
            after: another.

        Raises:
            ValueError: one of them has no program.
        """
        from explorer.results.weight_differences import diff_of

        self._entries = before, after
        self.before = before.record
        self.after = after.record
        self.diff: ProgramDiff = diff_of(before, after)

    @property
    def ok(self) -> bool:
        """Whether the programs are proven to be identical up to names of nodes and symbols."""
        return self.diff.identical

    @property
    def summary(self) -> str:
        """One line: `2 ops changed, 1 added, none removed of 1,187`."""
        return summary_of(self.diff, self.before, self.after)

    def lines(self, most: int = MOST) -> list[str]:
        """The differences, a few lines each, as wide as the terminal.

        Args:
            most: how many ops to show.
        """
        title, summary, *more = ComparisonText(self.diff, self.before, self.after).lines(most)
        weights = [fold(self.weights)] if self.weights else []
        return [title, summary, *weights, *more]

    @cached_property
    def weights(self) -> str:
        """The weights with different values, which `ok` ignores; empty if there are none."""
        from explorer.results.weight_differences import weights_sentence

        return weights_sentence(*self._entries)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def save(self, path: str | Path) -> Path:
        """Writes one HTML file with both programs, compared.

        Raises:
            OSError: the file cannot be written.
            FrontEndMissing: the front end was not built.
        """
        from explorer.display.report import write_report

        return write_report(self.session(), path, compared=0)

    def session(self) -> Session:
        """Both programs as attempts of one session, the second on screen."""
        first, second = self._entries
        session = Session([first, second.with_place(parent=0)])
        session.use(1)
        return session

    def _repr_mimebundle_(self, **options: Any) -> Any:
        from widgets import FrontEndMissing

        still = {"text/plain": str(self), "text/html": f"<pre>{escape_html(str(self))}</pre>"}
        try:
            from explorer.display.widget import widget_of

            widget = widget_of(self.session(), still, compared=0)
        except FrontEndMissing:
            return still
        return widget._repr_mimebundle_(**options)

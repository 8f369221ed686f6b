"""Answers the page's requests about ExportDB and graph breaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from explorer.display.handlers import MessageHandlers, answer_message
from explorer.page import messages as m
from explorer.session.main_thread import in_main_thread
from explorer.session.session import Session
from widgets import Answer, LibraryWidget, Refusal

if TYPE_CHECKING:
    from explorer.exploration import Exploration
    from export_engine.progress import Progress

LONGEST_SOURCE = 100_000
"""Characters; a longer text of a case is refused."""


class LibraryHandlers:
    """Answers for one browser; requests about a tried case go to its session."""

    def __init__(self, keep: Callable[[Exploration], None]) -> None:
        """Make one.

        Args:
            keep: called with the result of a tried case.
        """
        self._keep = keep
        self._session: Session | None = None
        """The session of the last tried case."""
        self._answers: MessageHandlers | None = None
        self.show: LibraryWidget | None = None
        """The widget that shows the tried case."""

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """One answer. Raises Refusal with a sentence."""
        if ask in m.LIBRARY_ASKS:
            return answer_message(self, m.LIBRARY_ASKS, ask, request)
        if self._answers is None:
            raise Refusal("Nothing has been exported yet. Choose a case and press Export it live.")
        return self._answers(ask, request)

    def check(self, request: msgspec.Struct) -> None:
        """Raises Refusal where a text is too long."""
        if isinstance(request, m.CaseText) and len(request.source) > LONGEST_SOURCE:
            raise Refusal(
                f"The text has {len(request.source):,} characters; at most {LONGEST_SOURCE:,} "
                "are allowed."
            )

    def _cases(self, _: m.Nothing) -> m.CaseList:
        from export_engine.exportdb import cases, torch_version

        items = in_main_thread(cases)  # at first, it runs the texts of all cases
        return m.CaseList(list(items), torch_version())

    def _breaks(self, _: m.Nothing) -> m.BreakList:
        from export_engine.exportdb import graph_break_pages

        return m.BreakList(list(graph_break_pages()))

    def _colour(self, asked: m.CaseText) -> m.Lines:
        from export_engine.source import python_lines

        return m.Lines(python_lines(asked.source))

    def _try(self, asked: m.CaseTrial) -> m.CaseTried:
        from explorer.exportdb.explore_case import explore_case
        from export_engine.exportdb import SourceProblem, lookouts

        try:
            exploration = explore_case(asked.name, asked.source, self._report)
        except SourceProblem as problem:
            return m.CaseTried(str(problem), problem.line)
        except (TypeError, ValueError) as error:
            return m.CaseTried(str(error))
        self._keep(exploration)
        self._session = session = exploration.session
        self._answers = MessageHandlers(session)
        self._put(session)
        session.watch(lambda: self._put(session))
        return m.CaseTried("", lookouts=lookouts(exploration.record))

    def _put(self, session: Session) -> None:
        """Shows a session, unless another was tried since."""
        if self.show is None or self._session is not session:
            return
        if self._answers is not None:
            self._answers.progress = self.show.progress
        self.show.update(**session.state())

    def _report(self, progress: Progress) -> None:
        if self.show is not None:
            self.show.progress(progress.done, progress.total, progress.label or progress.what)

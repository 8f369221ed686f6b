"""What the page asks of ExportDB and the graph breaks, and the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from explorer.main_thread import in_main_thread
from explorer.page_requests import Answers
from explorer.session import Session
from widgets import Answer, LibraryWidget, Refusal

if TYPE_CHECKING:
    from explorer.exploration import Exploration
    from export_engine.progress import Progress

LONGEST_SOURCE = 100_000
"""Characters; a longer text of a case is refused."""


class LibraryAnswers:
    """Answers for one browser; what is asked of a tried case goes to the session of that."""

    def __init__(self, keep: Callable[[Exploration], None]) -> None:
        """Make one.

        Args:
            keep: called with what became of a case that was tried.
        """
        self._keep = keep
        self._session: Session | None = None
        """Of the case that was tried last."""
        self._answers: Answers | None = None
        self.show: LibraryWidget | None = None
        """The widget that shows what is tried."""

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """One answer. Raises Refusal with a sentence."""
        import msgspec

        if ask == "cases":
            from export_engine.exportdb import cases, torch_version

            known = in_main_thread(cases)  # at first, it runs the texts of all cases
            return {"cases": msgspec.to_builtins(known), "torch": torch_version()}, []
        if ask == "breaks":
            from export_engine.exportdb import graph_break_pages

            return {"pages": msgspec.to_builtins(graph_break_pages())}, []
        if ask == "colour":
            from export_engine.source import python_lines

            return {"lines": python_lines(_source(request))}, []
        if ask == "try":
            return in_main_thread(lambda: self._try(str(request.get("name")), _source(request)))
        if self._answers is None:
            raise Refusal("Nothing has been exported yet. Choose a case and press Export it live.")
        return self._answers(ask, request)

    def _try(self, name: str, source: str) -> Answer:
        from explorer.exportdb.explore_case import explored
        from export_engine.exportdb import SourceProblem, lookouts

        try:
            exploration = explored(name, source, self._report)
        except SourceProblem as problem:
            return {"problem": str(problem), "line": problem.line, "lookouts": []}, []
        except (TypeError, ValueError) as error:
            return {"problem": str(error), "line": 0, "lookouts": []}, []
        except KeyboardInterrupt as interrupt:
            raise Refusal("Interrupted. Nothing has changed.") from interrupt
        self._keep(exploration)
        self._session = session = exploration.session
        self._answers = Answers(session)
        self._put(session)
        session.watch(lambda: self._put(session))
        return {"problem": "", "line": 0, "lookouts": lookouts(exploration.record)}, []

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


def _source(request: dict[str, Any]) -> str:
    source = request.get("source")
    if not isinstance(source, str):
        raise Refusal("The text of the case did not arrive. Reload the page.")
    if len(source) > LONGEST_SOURCE:
        raise Refusal(
            f"The text has {len(source):,} characters; at most {LONGEST_SOURCE:,} are allowed."
        )
    return source

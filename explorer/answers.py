"""What the page asks of a session, and the answers."""

from __future__ import annotations

from typing import Any

from explorer.session import Entry, Session
from widgets import Answer, Refusal


class Answers:
    """Answers the questions of `widgets/frontend/src/host.ts` for one session."""

    def __init__(self, session: Session) -> None:
        """Make one.

        Args:
            session: whose attempts are asked about.
        """
        self._session = session

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """One answer. Raises Refusal with a sentence."""
        answers = {"record": self._record, "source": self._source, "code": self._code}
        if ask not in answers:
            raise Refusal(f"This kernel does not know the question {ask!r}. Reload the page.")
        return answers[ask](self._entry(request), request)

    def _entry(self, request: dict[str, Any]) -> Entry:
        return self._session.entries[_number(request, "attempt", len(self._session.entries))]

    def _record(self, entry: Entry, _: dict[str, Any]) -> Answer:
        return None, [entry.encoded]

    def _source(self, entry: Entry, request: dict[str, Any]) -> Answer:
        from export_engine.source import SourceMissing, source_lines

        file = _number(request, "file", len(entry.record.files))
        try:
            return {"lines": source_lines(entry.record, file)}, []
        except SourceMissing as missing:
            raise Refusal(str(missing)) from missing

    def _code(self, entry: Entry, request: dict[str, Any]) -> Answer:
        from export_engine.coloured import python_lines
        from export_engine.printed import printed_graph

        graph = _number(request, "graph", len(entry.record.graphs))
        printed = printed_graph(entry.record, graph)
        return {"lines": python_lines("\n".join(printed.lines)), "nodes": printed.nodes}, []


def _number(request: dict[str, Any], key: str, count: int) -> int:
    value = request.get(key)
    if not isinstance(value, int) or not 0 <= value < count:
        raise Refusal(f"There is no {key} {value!r}. Run the cell again.")
    return value

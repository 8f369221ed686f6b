"""What the page asks of a session, and the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from explorer.linked_pages import page_answer
from explorer.main_thread import in_main_thread
from explorer.session import FixError, Session
from explorer.session_entry import Entry
from widgets import Answer, Refusal

if TYPE_CHECKING:
    from export_engine.progress import Progress


class Answers:
    """Answers the questions of `widgets/frontend/src/host.ts` for one session."""

    def __init__(self, session: Session) -> None:
        """Make one.

        Args:
            session: whose attempts are asked about.
        """
        self._session = session
        self.progress: Callable[[int, int, str], None] | None = None
        """Told how far an action is: done, total (0: not known), what it is at."""

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """One answer. Raises Refusal with a sentence."""
        views = {
            "record": self._record,
            "source": self._source,
            "code": self._code,
            "decomposable": self._decomposable,
            "diff": self._diff,
            "texts": self._texts,
            "setups": self._setups,
        }
        actions = {
            "trust": self._trust,
            "apply": self._apply,
            "autofix": self._autofix,
            "use": self._use,
            "verify": self._verify,
            "decompose": self._decompose,
            "run": self._run,
            "profile": self._profile,
        }
        if ask in ("case", "break"):
            return page_answer(ask, request)
        number = _number(request, "attempt", len(self._session.entries))
        if ask in views:
            return views[ask](self._session.entries[number], request)
        if ask not in actions:
            raise Refusal(f"This kernel does not know the request {ask!r}. Reload the page.")
        try:
            return in_main_thread(lambda: actions[ask](number, request)), []
        except FixError as error:
            raise Refusal(str(error)) from error
        except KeyboardInterrupt as interrupt:
            raise Refusal("Interrupted. Nothing has changed.") from interrupt

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
        from export_engine.source import printed_graph, python_lines

        graph = _number(request, "graph", len(entry.record.graphs))
        printed = printed_graph(entry.record, graph)
        return {"lines": python_lines("\n".join(printed.lines)), "nodes": printed.nodes}, []

    def _decomposable(self, _: Entry, __: dict[str, Any]) -> Answer:
        from export_engine.attempt import decomposable

        return {"ops": decomposable()}, []

    def _diff(self, entry: Entry, request: dict[str, Any]) -> Answer:
        import msgspec

        from export_engine.diff import diff_records

        other = self._session.entries[_number(request, "other", len(self._session.entries))]
        try:
            return msgspec.to_builtins(diff_records(other.record, entry.record)), []
        except ValueError as error:
            raise Refusal(str(error)) from error

    def _texts(self, entry: Entry, request: dict[str, Any]) -> Answer:
        import msgspec

        from export_engine.diff import text_differences

        other = self._session.entries[_number(request, "other", len(self._session.entries))]
        return msgspec.to_builtins(text_differences(other.record, entry.record)), []

    def _apply(self, number: int, request: dict[str, Any]) -> dict[str, Any]:
        fixes = request.get("fixes")
        if not isinstance(fixes, list) or not all(isinstance(fix, int) for fix in fixes):
            raise Refusal("The request names no fixes to apply. Reload the page.")
        return {"attempt": self._session.apply(number, fixes, self._report)}

    def _autofix(self, number: int, _: dict[str, Any]) -> dict[str, Any]:
        before = len(self._session.entries)
        report = self._session.autofix(number, self._report)
        added = len(self._session.entries) > before
        last = len(self._session.entries) - 1 if added else number
        return {"attempt": last, "report": report.sentence}

    def _verify(self, number: int, request: dict[str, Any]) -> dict[str, Any]:
        sizes = request.get("sizes")
        if not isinstance(sizes, int) or not 1 <= sizes <= 1000:
            raise Refusal("Choose between 1 and 1000 sizes to compare at.")
        return {"sentence": self._session.verify(number, sizes, self._report).sentence}

    def _decompose(self, number: int, request: dict[str, Any]) -> dict[str, Any]:
        table = request.get("table")
        if not isinstance(table, str):
            raise Refusal("The request names no ops to decompose. Reload the page.")
        return {"attempt": self._session.decompose(number, table, self._report)}

    def _setups(self, _: Entry, __: dict[str, Any]) -> Answer:
        from explorer.running import available

        return available(), []

    def _run(self, number: int, request: dict[str, Any]) -> dict[str, Any]:
        from explorer.running import run
        from export_engine.run import Plan

        names, device = request.get("backends"), request.get("device")
        if not isinstance(names, list) or not names or not isinstance(device, str):
            raise Refusal("Choose a device and at least one backend.")
        sizes = _sizes(request)
        plan = Plan(devices=[device], backends=[str(name) for name in names], sizes=sizes)
        before = self._session.entries[number].runs
        try:
            run(self._session, number, plan, progress=self._report)
        except KeyboardInterrupt:
            if self._session.entries[number].runs == before:
                raise
            return {"sentence": "Interrupted. Finished runs are kept."}
        return {"sentence": ""}

    def _profile(self, number: int, request: dict[str, Any]) -> None:
        from explorer.running import profile

        device, sizes = str(request.get("device")), _sizes(request)
        profile(self._session, number, device, sizes=sizes, progress=self._report)

    def _trust(self, number: int, _: dict[str, Any]) -> None:
        self._session.trust(number)

    def _use(self, number: int, _: dict[str, Any]) -> None:
        self._session.use(number)

    def _report(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress(progress.done, progress.total, progress.label or progress.what)


def _number(request: dict[str, Any], key: str, count: int) -> int:
    value = request.get(key)
    if not isinstance(value, int) or not 0 <= value < count:
        raise Refusal(f"There is no {key} {value!r}. Run the cell again.")
    return value


def _sizes(request: dict[str, Any]) -> dict[str, int] | None:
    """Values of symbols by their names; None: those of the example."""
    sizes = request.get("sizes")
    if not sizes:
        return None
    if not isinstance(sizes, dict) or not all(isinstance(each, int) for each in sizes.values()):
        raise Refusal("A size is a whole number.")
    return {str(name): size for name, size in sizes.items()}

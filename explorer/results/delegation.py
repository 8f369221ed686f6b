"""What a backend takes of a program, and why it leaves the rest: `ex.delegate("xnnpack")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from explorer.session.session import FixError, Session
from explorer.text.delegation_text import (
    delegation_lines,
    outside_line,
    reason_of,
    table_lines,
)
from explorer.text.escape import harmless
from explorer.text.validate_options import check_writable

if TYPE_CHECKING:
    from export_engine.delegate import (
        DelegatedOp,
        Delegation,
        DelegationBackend,
        DelegationFix,
        OpTable,
        Partition,
    )
    from export_engine.progress import Progress
    from export_engine.record import Overlay, Record

_INSIDE = "#2f7d4f"
_OUTSIDE = "#b4501e"
_PARTLY = "#8a6d1a"


class DelegationResult:
    """What a backend takes of a program. `print` it; the view colours the ops by it.

    `.outside` are the ops that it leaves, each with `reason`, `rule` and `place`; `.stage` is the
    number of the attempt that shows the lowered program, whose partitions open.
    """

    def __init__(self, session: Session, number: int, found: Delegation, stage: int) -> None:
        """Make one.

        Args:
            session: of the program.
            number: the attempt's.
            found: what the backend took.
            stage: the number of the attempt that shows the lowered program; -1 where none does.
        """
        self._session = session
        self._number = number
        self.data = found
        """All of it as plain data."""
        self.stage = stage

    @property
    def share(self) -> float:
        """The share of FLOPs that the backend runs, from 0 to 1."""
        return self.data.share_of_flops

    @property
    def share_of_ops(self) -> float:
        """The share of ops on tensors that the backend runs, from 0 to 1."""
        return self.data.share_of_ops

    @property
    def partitions(self) -> tuple[Partition, ...]:
        """The partitions, in the order of their numbers."""
        return tuple(self.data.partitions)

    @property
    def outside(self) -> tuple[DelegatedOp, ...]:
        """The ops on tensors that the backend leaves, each with the reason."""
        return tuple(self.data.outside)

    @property
    def lines(self) -> list[str]:
        """Each op outside in a line: its reason, and the line of your code."""
        return [harmless(outside_line(op)) for op in self.data.outside]

    def fixes(
        self, progress: Callable[[Progress], None] | None = None
    ) -> tuple[DelegationFix, ...]:
        """Rewrites that bring ops into the delegate, each lowered and compared with eager.

        `str(fix)` says what it gains; `apply(fix)` makes it the current attempt. Seconds a kind.

        Args:
            progress: called before each kind.

        Raises:
            FixError: the program is of a file that is not trusted.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.delegate import find_backend, find_fixes

        attempt = self._session.exported(self._number, "fix", progress)
        record = self._session.entries[self._number].record
        backend = find_backend(self.data.backend)
        return tuple(find_fixes(attempt, record, backend, self.data, progress))

    def apply(self, fix: DelegationFix) -> int:
        """Makes the rewritten program a new attempt, and the current one; returns its number."""
        attempt = self._session.exported(self._number, "fix")
        return self._session.add_rewritten(attempt, self._number, fix, f"For {self.data.title}")

    def autofix(self, progress: Callable[[Progress], None] | None = None) -> DelegationFix | None:
        """Applies all rewrites that are lossless and gain, together; None where none is.

        Args:
            progress: called before each try.

        Raises:
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.delegate import find_backend, fix_all

        attempt = self._session.exported(self._number, "fix", progress)
        record = self._session.entries[self._number].record
        fix = fix_all(attempt, record, find_backend(self.data.backend), self.data, progress)
        if fix is not None:
            self.apply(fix)
        return fix

    def to_json(self, path: str | Path) -> Path:
        """Writes the delegation as JSON.

        Raises:
            OSError: the file cannot be written.
        """
        import msgspec

        file = Path(path)
        check_writable(file)
        file.write_bytes(msgspec.json.encode(self.data))
        return file

    def __repr__(self) -> str:
        return harmless("\n".join(delegation_lines(self.data)))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(op.op)}</code></td><td>{escape(reason_of(op))}</td>"
            f"<td>{escape(str(op.place))}</td><td><code>{escape(op.place.code)}</code></td></tr>"
            for op in self.data.outside
        )
        head = escape(repr(self).partition("\nOutside")[0])
        table = "<tr><th>op</th><th>why it is outside</th><th>line</th><th>code</th></tr>"
        return harmless(f"<pre>{head}</pre><table>{table}{rows}</table>")


class OpTableResult:
    """Which ops which backends can take. `print` it; nothing was lowered."""

    def __init__(self, table: OpTable) -> None:
        """Make one.

        Args:
            table: what each backend said.
        """
        self.data = table
        """The table as plain data."""

    def why(self, backend: str) -> dict[str, str]:
        """Why a backend does not take an op, by the name of the op's node."""
        return dict(self.data.reasons.get(backend, {}))

    def __repr__(self) -> str:
        return harmless("\n".join(table_lines(self.data)))

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


def delegate(
    session: Session,
    number: int,
    backend: str = "xnnpack",
    progress: Callable[[Progress], None] | None = None,
) -> DelegationResult:
    """Lowers a copy of an attempt's program, and lays what was found over its ops.

    Raises:
        FixError: it has no program, there is no such backend here, or the backend fails on it.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.defects import log_internal_error
    from export_engine.delegate import delegate as delegate_here
    from export_engine.delegate import find_backend
    from export_engine.error_text import format_with_type
    from export_engine.progress import Progress

    attempt = session.exported(number, "lower", progress)
    record = session.entries[number].record
    try:
        chosen = find_backend(backend)
    except ValueError as error:
        raise FixError(str(error)) from error
    if progress is not None:
        progress(Progress(0, 0, f"lowering for {chosen.title}", "fix"))
    try:
        delegated = delegate_here(attempt, record, chosen)
    except Exception as error:
        log_internal_error(error, f"lowering for {chosen.title}")
        raise FixError(
            f"{chosen.title} cannot take this program: {format_with_type(error)}"
        ) from error
    stage = -1
    if delegated.stage is not None:
        stage = session.add_stage(delegated.stage, number, f"Lowered for {chosen.title}")
        _lay(session, stage, chosen.title, _stage_marks(delegated.delegation))
    _lay(session, number, chosen.title, _marks(delegated.delegation, record))
    return DelegationResult(session, number, delegated.delegation, stage)


def make_table(session: Session, number: int, backends: str | Sequence[str]) -> OpTableResult:
    """Which ops of an attempt's program backends can take.

    Raises:
        FixError: it has no program, or there is no such backend.
    """
    from export_engine.delegate import delegation_backends, make_op_table

    attempt = session.exported(number, "ask about")
    entries = delegation_backends()
    names = [backends] if isinstance(backends, str) else list(backends)
    names = list(entries) if names == ["all"] else names
    unknown = [backend for backend in names if backend not in entries]
    if unknown:
        there = ", ".join(entries)
        raise FixError(f"There is no delegation backend {unknown[0]!r}. There are: {there}.")
    chosen: list[DelegationBackend] = [entries[backend] for backend in names]
    return OpTableResult(make_op_table(attempt.program, chosen))


Marks = dict[str, tuple[str, str]]
"""Per node by name: a colour and a note."""


def _marks(found: Delegation, record: Record) -> Marks:
    """The ops of the program: inside, outside, or partly, and why."""
    ops: dict[str, list[DelegatedOp]] = {}
    for op in found.ops:
        if op.origin and op.kind == "tensor":
            ops.setdefault(op.origin, []).append(op)
    marks: Marks = {}
    for origin, other_op in ops.items():
        outside = [item for item in other_op if not item.is_inside]
        partitions = sorted({item.partition for item in other_op if item.is_inside})
        told = [f"outside: {reason_of(item)}" for item in outside]
        if partitions:
            numbers = ", ".join(map(str, partitions))
            told.insert(0, f"in partition {numbers}")
        colour = _INSIDE if not outside else _OUTSIDE if not partitions else _PARTLY
        marks[origin] = colour, "; ".join(dict.fromkeys(told))
    names = {record.strings[name] for name in record.graphs[0].name}
    return {name: mark for name, mark in marks.items() if name in names}


def _stage_marks(found: Delegation) -> Marks:
    """The ops of the lowered program that stayed outside."""
    return {
        op.name: (_OUTSIDE, f"outside: {reason_of(op)}") for op in found.outside if not op.graph
    }


def _lay(session: Session, number: int, title: str, marks: Marks) -> None:
    """Lays colours and notes over an attempt's ops, in place of those of an earlier delegation."""
    entry = session.entries[number]
    graph = entry.record.graphs[0]
    places = {entry.record.strings[name]: at for at, name in enumerate(graph.name)}
    entries = {name: mark for name, mark in marks.items() if name in places}
    overlays = [
        _overlay(f"{title}: {text}", "colour", dict.fromkeys(names, colour), places)
        for colour, text in _SAID.items()
        if (names := [name for name, mark in entries.items() if mark[0] == colour])
    ]
    notes = {name: note[:_MOST_TEXT] for name, (_, note) in entries.items()}
    overlays += [_overlay(f"{title}: why", "text", notes, places)] if notes else []
    replaced = {f"{title}: {text}" for text in (*_SAID.values(), "why")}
    kept = [overlay for overlay in entry.overlays if overlay.name not in replaced]
    session.keep(number, overlays=(*kept, *overlays))


_SAID = {_INSIDE: "inside", _OUTSIDE: "outside", _PARTLY: "partly inside"}


def _overlay(
    name: str, kind: Literal["colour", "text"], texts: dict[str, str], places: dict[str, int]
) -> Overlay:
    from export_engine.record import Overlay

    return Overlay(
        name=name,
        kind=kind,
        graphs=[0] * len(texts),
        nodes=[places[text] for text in texts],
        texts=list(texts.values()),
    )


_MOST_TEXT = 400

"""The ops that a backend takes, and why it leaves the rest: `ex.delegate("xnnpack")`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from explorer.results.shown_data import ShownData
from explorer.session.session import FixError, Session
from explorer.text.delegation_text import (
    delegation_lines,
    outside_line,
    reason_of,
    table_lines,
)
from explorer.text.escape import harmless

if TYPE_CHECKING:
    from export_engine.delegate import Delegated, DelegationBackend, DelegationFix
    from export_engine.progress import Progress
    from export_engine.record import DelegatedOp, Delegation, OpTable, Partition, TriedFix


class DelegationResult(ShownData):
    """The ops that a backend takes. `print` it; the view colours the ops.

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
        self.data: Delegation = found
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

        `str(fix)` shows the gain; `apply(fix)` makes it the current attempt. Seconds a kind.

        Args:
            progress: called before each kind.

        Raises:
            FixError: the program is of a file that is not trusted.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.delegate import find_backend, find_fixes

        attempt = self._session.require_exported(self._number, "fix", progress)
        fixes = find_fixes(attempt, find_backend(self.data.backend), self.data, progress)
        self._keep_fixes([fix.data for fix in fixes])
        return tuple(fixes)

    def apply(self, fix: DelegationFix) -> int:
        """Makes the rewritten program a new attempt, and the current one; returns its number.

        Its delegation, and the stage that shows it, come with it.
        """
        self._session.require_exported(self._number, "fix")
        number = self._session.add_rewritten(self._number, fix, f"For {self.data.title}")
        _keep_delegated(self._session, number, fix.delegated)
        return number

    def autofix(self, progress: Callable[[Progress], None] | None = None) -> DelegationFix | None:
        """Applies all rewrites that are lossless and gain; returns None if there are none.

        Args:
            progress: called before each try.

        Raises:
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.delegate import find_backend, fix_all

        attempt = self._session.require_exported(self._number, "fix", progress)
        fix = fix_all(attempt, find_backend(self.data.backend), self.data, progress)
        if fix is not None:
            self.apply(fix)
        return fix

    def apply_kinds(
        self, kinds: str, progress: Callable[[Progress], None] | None = None
    ) -> DelegationFix:
        """Applies a fix by its `kind`, as `fixes()` told it: it is made, lowered and compared.

        Raises:
            FixError: there is no such kind, or it applies to no op outside.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.delegate import find_backend, try_kinds
        from export_engine.progress import Progress

        attempt = self._session.require_exported(self._number, "fix", progress)
        if progress is not None:
            progress(Progress(0, 0, f"lowering with {kinds} rewritten", "fix"))
        fix = try_kinds(attempt, find_backend(self.data.backend), self.data, kinds.split(", "))
        if fix is None:
            raise FixError(f"No op outside {self.data.title} can be rewritten by {kinds!r}.")
        self.apply(fix)
        return fix

    def _keep_fixes(self, fixes: list[TriedFix]) -> None:
        """Adds fixes to the delegation that the view shows."""
        import msgspec

        self.data = msgspec.structs.replace(self.data, fixes=fixes)
        _keep(self._session, self._number, self.data)

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


class OpTableResult(ShownData):
    """The ops that each backend can take. `print` it; nothing was lowered."""

    def __init__(self, table: OpTable) -> None:
        """Make one.

        Args:
            table: what each backend said.
        """
        self.data: OpTable = table
        """The table as plain data."""

    def why(self, backend: str) -> dict[str, str]:
        """Why a backend does not take an op, by the name of the op's node."""
        answers = (answer for answer in self.data.answers if answer.backend == backend)
        return {name: reason for answer in answers for name, reason in answer.refused.items()}

    def __repr__(self) -> str:
        return harmless("\n".join(table_lines(self.data)))


def delegate(
    session: Session,
    number: int,
    backend: str = "xnnpack",
    progress: Callable[[Progress], None] | None = None,
    *,
    measure: bool = False,
) -> DelegationResult:
    """Lowers a copy of an attempt's program, and marks its ops with the result.

    Raises:
        FixError: it has no program, there is no such backend here, or the backend fails on it.
        KeyboardInterrupt: interrupted; nothing has changed.
    """
    from export_engine.defects import log_internal_error
    from export_engine.delegate import LoweringError, find_backend, find_places
    from export_engine.delegate import delegate as delegate_here
    from export_engine.error_text import format_with_type
    from export_engine.progress import Progress

    attempt = session.require_exported(number, "lower", progress)
    record = session.entries[number].record
    try:
        chosen = find_backend(backend)
    except ValueError as error:
        raise FixError(str(error)) from error
    if progress is not None:
        progress(Progress(0, 0, f"lowering for {chosen.title}", "fix"))
    try:
        delegated = delegate_here(attempt, record, chosen, measure=measure)
    except LoweringError as error:
        place = find_places(record).get(error.op)
        where = f" ({place})" if place is not None and str(place) else ""
        raise FixError(f"{chosen.title} fails at `{error.op}`{where}: {error}") from error
    except Exception as error:
        log_internal_error(error, f"lowering for {chosen.title}")
        raise FixError(
            f"{chosen.title} cannot take this program: {format_with_type(error)}"
        ) from error
    stage = _keep_delegated(session, number, delegated)
    return DelegationResult(session, number, delegated.delegation, stage)


def find_delegation(session: Session, number: int, backend: str) -> DelegationResult:
    """The delegation of an attempt's program for a backend.

    Raises:
        FixError: it was not asked.
    """
    for delegation in session.entries[number].record.delegations:
        if delegation.backend == backend and not delegation.is_stage:
            return DelegationResult(session, number, delegation, -1)
    raise FixError(f"This program was not lowered for {backend!r}.")


def _keep_delegated(session: Session, number: int, delegated: Delegated) -> int:
    """Adds a delegation to an attempt, and the stage that shows it; returns the stage's number."""
    import msgspec

    delegation, stage = delegated.delegation, -1
    if delegated.stage is not None:
        stage = session.add_stage(delegated.stage, number, f"Lowered for {delegation.title}")
        _keep(session, stage, msgspec.structs.replace(delegation, is_stage=True))
    _keep(session, number, delegation)
    return stage


def _keep(session: Session, number: int, delegation: Delegation) -> None:
    others = (
        item for item in session.entries[number].delegations if item.backend != delegation.backend
    )
    session.keep(number, delegations=(*others, delegation))


def make_table(session: Session, number: int, backends: Sequence[str]) -> OpTableResult:
    """Which ops of an attempt's program backends can take; of no backends, all that are known.

    Raises:
        FixError: it has no program, or there is no such backend.
    """
    from export_engine.delegate import delegation_backends, make_op_table

    attempt = session.require_exported(number, "ask about")
    entries = delegation_backends()
    names = list(backends or entries)
    unknown = [backend for backend in names if backend not in entries]
    if unknown:
        there = ", ".join(entries)
        raise FixError(f"There is no delegation backend {unknown[0]!r}. Available: {there}.")
    chosen: list[DelegationBackend] = [entries[backend] for backend in names]
    table = make_op_table(attempt.program, chosen)
    session.keep(number, op_table=table)
    return OpTableResult(table)

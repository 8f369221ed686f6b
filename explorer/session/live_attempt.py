"""An attempt in memory, as a session keeps it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.session.stored import StoredAttempt

if TYPE_CHECKING:
    from export_engine.archive import HeldWeight
    from export_engine.attempt import Attempt, DecompositionTable, Exported, Failed, Request
    from export_engine.findings import Finding
    from export_engine.progress import Report
    from export_engine.record import Record


@dataclass(frozen=True, eq=False)  # it holds tensors, which say for each element if it is equal
class LiveAttempt(StoredAttempt):
    """An attempt in memory."""

    attempt: Attempt

    @property
    def live(self) -> Attempt:
        return self.attempt

    @property
    def ok(self) -> bool:
        from export_engine.attempt import Exported, GivenGraph

        return isinstance(self.attempt, Exported | GivenGraph)

    @property
    def request(self) -> Request | None:
        return self.attempt.request

    @property
    def table(self) -> DecompositionTable | None:
        level = getattr(self.attempt, "level", None)
        return None if level is None else level.table

    def load(self, parent: Callable[[], Exported], progress: Report | None = None) -> Attempt:
        return self.attempt

    def describe(self, verify_findings: tuple[Finding, ...]) -> Record:
        from export_engine.describe import describe
        from export_engine.source import user_error

        try:
            return describe(self.attempt, verify_findings)
        except Exception as error:
            theirs = user_error(error)
            reason = "This is a bug in Export Explorer; please report it with the error above."
            raise RuntimeError(
                f"torch.export succeeded, but the program cannot be described. {theirs or reason}"
            ) from error

    def find(
        self, record: Record, verify_findings: tuple[Finding, ...]
    ) -> tuple[Finding, ...] | None:
        from export_engine.attempt import Exported, GivenGraph
        from export_engine.findings import find_findings, in_order

        if isinstance(self.attempt, GivenGraph):
            return None
        if not isinstance(self.attempt, Exported):
            return ()
        if self.attempt.kept is not None:
            return None
        return in_order([*find_findings(self.attempt, record), *verify_findings])

    def weights(self, names: Collection[str]) -> Mapping[str, HeldWeight] | None:
        from export_engine.attempt import Exported
        from export_engine.programs import weights_of

        return weights_of(self.attempt.program) if isinstance(self.attempt, Exported) else None

    def constants(self) -> dict[str, bytes]:
        from export_engine.attempt import Exported
        from export_engine.programs import constants_of

        return constants_of(self.attempt.program) if isinstance(self.attempt, Exported) else {}

    def drop(self, record: Record) -> StoredAttempt:
        from explorer.session.dropped_program import drop
        from export_engine.attempt import Exported, Failed

        if isinstance(self.attempt, Exported):
            return drop(self.attempt, record) or self
        return _light(self, self.attempt) if isinstance(self.attempt, Failed) else self


def _light(stored: LiveAttempt, failed: Failed) -> LiveAttempt:
    """A failure without its partial graph, and without the programs that its fixes lead to."""
    held = (failed.recording.graph, failed.recording.shape_env, *(f.leads_to for f in failed.fixes))
    if all(value is None for value in held):
        return stored
    fixes = tuple(
        replace(fix, leads_to=None, tried=True) if fix.leads_to is not None else fix
        for fix in failed.fixes
    )
    recording = replace(failed.recording, graph=None, shape_env=None)
    return LiveAttempt(replace(failed, fixes=fixes, recording=recording))

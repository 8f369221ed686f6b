"""The Entry: an attempt of a session, with its Record and later results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from explorer.session.live_attempt import LiveAttempt

if TYPE_CHECKING:
    from explorer.page.messages import AttemptHead
    from explorer.session.stored import StoredAttempt
    from explorer.text.release_verdict import Release
    from export_engine.attempt import Attempt, Fix, Request
    from export_engine.findings import Finding
    from export_engine.record import (
        Delegation,
        OpTable,
        Overlay,
        Profile,
        Record,
        RunRow,
        Stages,
    )
    from export_engine.values import Compared, Watched
    from export_engine.verify import Verified


@dataclass(frozen=True)
class Entry:
    """An attempt with its Record."""

    label: str
    """Its label: `strict`, `non-strict`."""
    stored: StoredAttempt
    parent: int = -1
    """The entry that it came from; -1 for the first."""
    step: str = ""
    """The steps that led here: the titles of the fixes."""
    verified: Verified | None = None
    """The guarantees of its program, if checked."""
    verify_findings: tuple[Finding, ...] = ()
    """Findings of Verify: sizes at which it differs from eager, layers that its twin lacks."""
    runs: tuple[RunRow, ...] = ()
    """The runs of its program, oldest first."""
    profile: Profile | None = None
    """The profile of its program, if measured."""
    stages: tuple[Stages, ...] = ()
    """Compilations of its program, oldest first."""
    delegations: tuple[Delegation, ...] = ()
    """The delegations of its program, the last of each backend."""
    op_table: OpTable | None = None
    """Which ops of its program which backends can take, if they were asked."""
    watched: Watched | None = None
    """The last run that was watched, if any."""
    compared: Compared | None = None
    """The last two runs that were held against each other, if any."""
    overlays: tuple[Overlay, ...] = ()
    """Overlays of the user on its nodes."""
    revision: int = 0
    """Incremented with new results: a view with an older number asks for the Record again."""

    @classmethod
    def of(cls, attempt: Attempt, label: str = "", parent: int = -1, step: str = "") -> Entry:
        """The entry of an attempt in memory; its label is its mode by default."""
        return cls(label or attempt.mode, LiveAttempt(attempt), parent, step)

    @property
    def attempt(self) -> Attempt | None:
        """The attempt, where it is in memory."""
        return self.stored.live

    @property
    def ok(self) -> bool:
        """Whether the attempt gave a program."""
        return self.stored.ok

    @property
    def request(self) -> Request | None:
        """The exported call; None for a file."""
        return self.stored.request

    def with_results(self, **fields: Any) -> Entry:
        """A copy with other fields. Descriptions that exist are kept."""
        entry = replace(self, revision=self.revision + 1, **fields)
        same = entry.verify_findings == self.verify_findings
        entries = {n: self.__dict__[n] for n in _OF_ATTEMPT if same and n in self.__dict__}
        entry.__dict__.update(entries)
        return entry

    def with_attempt(self, stored: StoredAttempt, from_file: bool) -> Entry:
        """The same entry once its attempt is in memory; the Record of a file then shows it."""
        if from_file:
            return replace(self, stored=stored, revision=self.revision + 1)
        return self.holding(stored)

    def drop(self) -> Entry:
        """The same entry, without its program if that can be rebuilt."""
        if self.stored.live is None:
            return self
        self.findings  # noqa: B018 - read off the program, once
        light = self.stored.drop(self.kept)
        return self if light is self.stored else self.holding(light)

    def holding(self, stored: StoredAttempt) -> Entry:
        """The same entry, with or without the program, or borrowed. Its Record stays."""
        return self.with_place(stored=stored)

    def with_place(self, **fields: Any) -> Entry:
        """The same entry at another place of a session: other fields, and the same Record."""
        entry = replace(self, **fields)
        entry.__dict__.update({n: self.__dict__[n] for n in _OF_RECORD if n in self.__dict__})
        return entry

    @cached_property
    def record(self) -> Record:
        """The attempt's Record, with later results."""
        import msgspec

        from export_engine.describe import with_decided
        from export_engine.run import with_runs
        from export_engine.verify import with_verification

        record = self._described
        record = with_verification(record, self.verified) if self.verified else record
        if self.verified and self._found is not None:
            record = with_decided(record, self._found)
        record = with_runs(record, self.runs, self.profile)
        for delegation in self.delegations:
            if delegation.is_stage:
                from export_engine.delegate import title_partitions

                record = title_partitions(record, delegation)
        return msgspec.structs.replace(
            record,
            stages=[*record.stages, *self.stages],
            delegations=self._all_delegations(record),
            op_table=self.op_table or record.op_table,
            values=self.watched.values if self.watched else record.values,
            pairs=self.compared.pairs if self.compared else record.pairs,
            overlays=[*record.overlays, *self.overlays],
        )

    def _all_delegations(self, record: Record) -> list[Delegation]:
        """One of each backend: a later one takes the place of an earlier one."""
        by_name = {item.backend: item for item in (*record.delegations, *self.delegations)}
        return list(by_name.values())

    @property
    def has_values(self) -> bool:
        """Whether its Record has what a run's values were."""
        return self.watched is not None or self.compared is not None

    @property
    def kept(self) -> Record:
        """The Record as files keep it: without values of runs."""
        import msgspec

        return msgspec.structs.replace(self.record, values=None, pairs=None)

    @cached_property
    def _described(self) -> Record:
        """The attempt's Record without later results; see `StoredAttempt.describe`."""
        return self.stored.describe(self.verify_findings)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is wrong or surprising about an attempt that exported, as far as is known by now."""
        from export_engine.findings import findings_in, with_decisions

        if self._found is None:
            return findings_in(self.record)
        return with_decisions(self._found, self.record.verification)

    @cached_property
    def _found(self) -> tuple[Finding, ...] | None:
        """The findings of the attempt, before Verify; None where they are read off the Record."""
        return self.stored.find(self._described, self.verify_findings)

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """The fixes of a failure; of a success, those of its findings."""
        from export_engine.attempt import Failed

        if isinstance(self.attempt, Failed):
            return self.attempt.fixes
        return tuple(fix for finding in self.findings for fix in finding.fixes)

    @cached_property
    def encoded(self) -> bytes:
        """The Record as bytes for the page."""
        from export_engine.record import encode

        return encode(self.record)

    @cached_property
    def release(self) -> Release:
        """The one verdict on its program."""
        from explorer.text.release_verdict import release_of

        return release_of(self.record)

    def head(self, name: str = "") -> AttemptHead:
        """Facts about the attempt that a view has before its Record arrives.

        Args:
            name: the variable that holds the result; empty for none.
        """
        from explorer.page.messages import AttemptHead

        return AttemptHead(
            label=self.label,
            outcome=self.record.outcome,
            verdict=self.record.verdict,
            parent=self.parent,
            step=self.step,
            revision=self.revision,
            untrusted=bool(self.stored.untrusted),
            release=self.release.called(name or "ex"),
            name=name,
        )


_OF_ATTEMPT = ("_described", "_found")
"""Facts that an Entry computes once from its attempt."""
_OF_RECORD = (*_OF_ATTEMPT, "record", "release")
"""Facts that survive when its program is dropped or rebuilt."""

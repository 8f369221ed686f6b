"""The Entry: an attempt of a session, with its Record and later results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from explorer.session.opened_file import OpenedFile

if TYPE_CHECKING:
    from explorer.page.messages import AttemptHead
    from explorer.session.dropped_program import DroppedProgram
    from explorer.text.release_verdict import Release
    from export_engine.attempt import Attempt, Exported, Fix, Request
    from export_engine.findings import Finding
    from export_engine.record import Overlay, Profile, Record, RunRow, Stages
    from export_engine.values import Compared, Watched
    from export_engine.verify import Verified


@dataclass(frozen=True)
class Entry:
    """An attempt with its Record."""

    label: str
    """Its label: `strict`, `non-strict`."""
    attempt: Attempt | OpenedFile | DroppedProgram
    parent: int = -1
    """The entry that it came from; -1 for the first."""
    step: str = ""
    """What was done to get here: the titles of the fixes."""
    verified: Verified | None = None
    """The guarantees of its program, if checked."""
    wrong_sizes: tuple[Finding, ...] = ()
    """What Verify found of sizes at which the program differs from eager."""
    runs: tuple[RunRow, ...] = ()
    """The runs of its program, oldest first."""
    profile: Profile | None = None
    """The profile of its program, if measured."""
    stages: tuple[Stages, ...] = ()
    """What backends made of its program, oldest first."""
    watched: Watched | None = None
    """The last run that was watched, if any."""
    compared: Compared | None = None
    """The last two runs that were held against each other, if any."""
    overlays: tuple[Overlay, ...] = ()
    """What the user laid over its nodes."""
    revision: int = 0
    """Incremented with new results: a view with an older number asks for the Record again."""

    @property
    def ok(self) -> bool:
        """Whether the attempt gave a program."""
        if isinstance(self.attempt, OpenedFile):
            return self.attempt.record.outcome == "exported"
        from explorer.session.dropped_program import DroppedProgram
        from export_engine.attempt import Exported, GivenGraph

        return isinstance(self.attempt, Exported | GivenGraph | DroppedProgram)

    @property
    def request(self) -> Request | None:
        """What was exported; None for a file."""
        return None if isinstance(self.attempt, OpenedFile) else self.attempt.request

    def changed(self, **fields: Any) -> Entry:
        """A copy with other fields. What has been described is not described again."""
        made = replace(self, revision=self.revision + 1, **fields)
        same = made.wrong_sizes == self.wrong_sizes
        known = {n: self.__dict__[n] for n in _OF_ATTEMPT if same and n in self.__dict__}
        made.__dict__.update(known)
        return made

    def made(self, attempt: Exported) -> Entry:
        """The same file, with its program."""
        return replace(self, attempt=attempt, revision=self.revision + 1)

    def dropped(self) -> Entry:
        """The same entry, without its program if that can be rebuilt."""
        from explorer.session.dropped_program import DroppedProgram, dropped

        if isinstance(self.attempt, OpenedFile | DroppedProgram):
            return self
        self.record, self.findings  # noqa: B018 - read off the program, once
        light = dropped(self.attempt)
        return self if light is self.attempt else self.held(light)

    def held(self, attempt: Attempt | DroppedProgram) -> Entry:
        """The same entry, with or without the program. Its Record stays."""
        made = replace(self, attempt=attempt)
        made.__dict__.update({n: self.__dict__[n] for n in _OF_RECORD if n in self.__dict__})
        return made

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
        return msgspec.structs.replace(
            record,
            stages=[*record.stages, *self.stages],
            values=self.watched.values if self.watched else record.values,
            pairs=self.compared.pairs if self.compared else record.pairs,
            overlays=[*record.overlays, *self.overlays],
        )

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
        """The attempt's Record without later results.

        A RuntimeError here says whether a container of the user's raised, or this is a bug.
        """
        if isinstance(self.attempt, OpenedFile):
            return self.attempt.record
        from export_engine.attempt import Attempt
        from export_engine.describe import describe
        from export_engine.source import user_error

        assert isinstance(self.attempt, Attempt)  # one is described before it is dropped
        try:
            return describe(self.attempt, self.wrong_sizes)
        except Exception as error:
            theirs = user_error(error)
            reason = "This is a bug in Export Explorer; please report it with the error above."
            raise RuntimeError(
                f"torch.export succeeded, but the program cannot be described. {theirs or reason}"
            ) from error

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
        if isinstance(self.attempt, OpenedFile):
            return None
        from export_engine.attempt import Exported, GivenGraph
        from export_engine.findings import find_findings, in_order

        if isinstance(self.attempt, GivenGraph):
            return None
        if not isinstance(self.attempt, Exported):
            return ()
        if self.attempt.kept is not None:
            return None
        return in_order([*find_findings(self.attempt, self._described), *self.wrong_sizes])

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """The fixes of a failure; of a success, those of its findings."""
        if isinstance(self.attempt, OpenedFile):
            return ()
        from export_engine.attempt import Failed

        if isinstance(self.attempt, Failed):
            return self.attempt.fixes
        return tuple(fix for each in self.findings for fix in each.fixes)

    @cached_property
    def encoded(self) -> bytes:
        """The Record as bytes for the page."""
        from export_engine.record import encode

        return encode(self.record)

    @cached_property
    def release(self) -> Release:
        """What may be said of its program: the one verdict on it."""
        from explorer.text.release_verdict import release_of

        return release_of(self.record)

    def head(self, name: str = "ex") -> AttemptHead:
        """What a view knows about the attempt before its Record arrives.

        Args:
            name: what Python calls the result.
        """
        from explorer.page.messages import AttemptHead

        return AttemptHead(
            label=self.label,
            outcome=self.record.outcome,
            verdict=self.record.verdict,
            parent=self.parent,
            step=self.step,
            revision=self.revision,
            untrusted=isinstance(self.attempt, OpenedFile) and not self.attempt.trust,
            release=self.release.called(name),
            name=name,
        )


_OF_ATTEMPT = ("_described", "_found")
"""What an Entry computes once from its attempt."""
_OF_RECORD = (*_OF_ATTEMPT, "record", "release")
"""What it keeps when its program is dropped or rebuilt."""

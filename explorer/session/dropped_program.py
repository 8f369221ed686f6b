"""A program that a session no longer holds, and how it is rebuilt when it is needed.

A program is megabytes beside its Record: nodes, fake tensors, and all that torch knows of its
sizes. So a session keeps every Record, and the programs of the last few attempts.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from explorer.session.stored import CannotLoad, StoredAttempt
from export_engine.attempt import Agreement, DecompositionTable, Exported, Failed, Request
from export_engine.error_text import error_text

if TYPE_CHECKING:
    from export_engine.archive import HeldWeight
    from export_engine.findings import Finding
    from export_engine.progress import Report
    from export_engine.record import Record


@dataclass(frozen=True)
class DroppedProgram(StoredAttempt):
    """An attempt that exported, without its program."""

    exported: Request
    decomposed_by: DecompositionTable | None
    """The table that decomposed its parent; None if its request was exported."""
    agreement: Agreement | None
    record: Record
    """The attempt, described."""
    held: dict[str, str]
    """Digests of the values of its constants, which no Record has."""
    attempt: weakref.ref[Exported]
    """The attempt itself, while someone else holds it."""

    @property
    def ok(self) -> bool:
        return True

    @property
    def request(self) -> Request:
        return self.exported

    @property
    def table(self) -> DecompositionTable | None:
        return self.decomposed_by

    @property
    def is_slow(self) -> bool:
        return self.attempt() is None

    def describe(self, verify_findings: tuple[Finding, ...]) -> Record:
        raise AssertionError("an attempt is described before it is dropped")

    def weights(self, names: Collection[str]) -> Mapping[str, HeldWeight] | None:
        """Those of its model: a program that is exported again holds these tensors, not copies."""
        from export_engine.programs import weights_of_model

        held = weights_of_model(self.exported.target)
        return held if held.keys() >= set(names) else None

    def load(self, parent: Callable[[], Exported], progress: Report | None = None) -> Exported:
        """The attempt with its program, rebuilt unless someone still holds it."""
        result = self.attempt()
        if result is not None:
            return result
        new_exported = self._rebuild(parent, progress)
        if not self._is_described_by(new_exported):
            raise CannotLoad(
                "a second export returns a different program: the model, its arguments or its "
                "globals have changed"
            )
        return replace(new_exported, agreement=self.agreement)

    def _is_described_by(self, made: Exported) -> bool:
        """Whether the Record also fits this attempt, with the names of its nodes."""
        from export_engine.archive import find_difference
        from export_engine.describe import describe

        same = _constants_of(made) == self.held
        return same and not find_difference(describe(made), self.record)

    def _rebuild(self, parent: Callable[[], Exported], progress: Report | None) -> Exported:
        from export_engine.capture import capture
        from export_engine.shapes import ShapesError
        from export_engine.transform import DecomposeError, decompose

        try:
            if self.table is not None:
                return decompose(parent(), self.table, progress)
            attempt = capture(self.exported, progress)
        except (TypeError, ShapesError, DecomposeError) as error:
            raise CannotLoad(f"it can no longer be exported: {error}") from error
        if isinstance(attempt, Exported):
            return attempt
        assert isinstance(attempt, Failed)
        raise CannotLoad(f"it no longer exports: {error_text(attempt.error)}")


def drop(attempt: Exported, record: Record) -> DroppedProgram | None:
    """The part of an attempt that a session keeps for good; None if it cannot be rebuilt.

    Args:
        attempt: the attempt.
        record: the attempt, described.
    """
    if attempt.request is None or attempt.kept is not None:
        return None
    if attempt.given:  # a rewrite of its graph is in no request
        return None
    table = attempt.level.table if attempt.level is not None else None
    held, reference = _constants_of(attempt), weakref.ref(attempt)
    return DroppedProgram(attempt.request, table, attempt.agreement, record, held, reference)


def _constants_of(attempt: Exported) -> dict[str, str]:
    from export_engine.programs import constants_of

    values = constants_of(attempt.program)
    return {name: hashlib.blake2b(value).hexdigest() for name, value in values.items()}

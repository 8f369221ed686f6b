"""A program that a session no longer holds, and how it is rebuilt when it is needed.

A program is megabytes beside its Record: nodes, fake tensors, and all that torch knows of its
sizes. So a session keeps every Record, and the programs of the last few attempts.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from export_engine.attempt import Agreement, DecompositionTable, Exported, Failed, Request
from export_engine.defects import passed_over
from export_engine.error_text import error_text

if TYPE_CHECKING:
    from export_engine.attempt import Attempt
    from export_engine.progress import Report


class NotTheSame(RuntimeError):
    """A program cannot be rebuilt as it was. Its text is a sentence."""


@dataclass(frozen=True)
class DroppedProgram:
    """An attempt that exported, without its program."""

    request: Request
    table: DecompositionTable | None
    """What its parent was decomposed by; None if its request was exported."""
    agreement: Agreement | None
    fingerprint: str
    """What tells its graph from others."""
    known: weakref.ref[Exported]
    """The attempt itself, while someone else holds it."""

    def again(self, parent: Callable[[], Exported], progress: Report | None = None) -> Exported:
        """The attempt with its program, rebuilt unless someone still holds it.

        Args:
            parent: gives the attempt that it was decomposed from.
            progress: called while it is made.

        Raises:
            NotTheSame: what the model reads has changed since, or it does not export any more.
            KeyboardInterrupt: interrupted; nothing has changed.
        """
        from export_engine.verify import fingerprint

        found = self.known()
        if found is not None:
            return found
        made = self._made(parent, progress)
        if fingerprint(made.program) != self.fingerprint:
            raise NotTheSame(
                "exported again, the model gives another program: it, its arguments or what it "
                "reads has changed"
            )
        return replace(made, agreement=self.agreement)

    def _made(self, parent: Callable[[], Exported], progress: Report | None) -> Exported:
        from export_engine.capture import capture
        from export_engine.shapes import ShapesError
        from export_engine.transform import DecomposeError, decompose

        try:
            if self.table is not None:
                return decompose(parent(), self.table, progress)
            made = capture(self.request, progress)
        except (TypeError, ShapesError, DecomposeError) as error:
            raise NotTheSame(f"it cannot be exported any more: {error}") from error
        if isinstance(made, Exported):
            return made
        assert isinstance(made, Failed)
        raise NotTheSame(f"it does not export any more: {error_text(made.error)}")


def dropped(attempt: Attempt) -> Attempt | DroppedProgram:
    """What a session keeps of an attempt for good. One that cannot be rebuilt is kept whole."""
    if isinstance(attempt, Failed):
        return _light(attempt)
    if not isinstance(attempt, Exported) or attempt.request is None or attempt.kept is not None:
        return attempt
    if attempt.given:  # a rewrite of its graph is in no request
        return attempt
    from export_engine.verify import fingerprint

    try:
        known = fingerprint(attempt.program)
    except Exception as error:  # noqa: BLE001 - then nobody could tell whether it is the same again
        passed_over(error, "taking the fingerprint of a program")
        return attempt
    table = attempt.level.table if attempt.level is not None else None
    return DroppedProgram(attempt.request, table, attempt.agreement, known, weakref.ref(attempt))


def _light(failed: Failed) -> Failed:
    """A failure without its partial graph, and without the programs that its fixes lead to."""
    held = (failed.recording.graph, failed.recording.shape_env, *(f.leads_to for f in failed.fixes))
    if all(each is None for each in held):
        return failed
    fixes = tuple(
        replace(fix, leads_to=None, tried=True) if fix.leads_to is not None else fix
        for fix in failed.fixes
    )
    recording = replace(failed.recording, graph=None, shape_env=None)
    return replace(failed, fixes=fixes, recording=recording)

"""Checks what torch.export claims of its programs on one program: Exported → Verified.

One module per group of guarantees. Each check leaves the user's model, arguments and random numbers
as they were, and one that stumbles is `not checked`, with what stopped it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from export_engine.attempt import Exported
from export_engine.guarantee import Guarantee, Verified
from export_engine.guarantees import round_trips, shapes, state, syntax
from export_engine.guarantees.subject import Subject
from export_engine.progress import Progress
from export_engine.record import Record

__all__ = ["Check", "verify"]


class Check(NamedTuple):
    """A guarantee's name and claim, and what checks it."""

    name: str
    claim: str
    run: Callable[[Subject], Guarantee]


CHECKS = (
    Check("flat", syntax.FLAT, syntax.flat),
    Check("functional", syntax.FUNCTIONAL, syntax.functional),
    Check("lifted", syntax.LIFTED, syntax.lifted),
    Check("mapped", syntax.MAPPED, syntax.mapped),
    Check("sound", shapes.SOUND, shapes.sound),
    Check("refuses", shapes.REFUSES, shapes.refuses),
    Check("checks", shapes.CHECKS, shapes.checks),
    Check("state", state.STATE, state.state),
    Check("saved", round_trips.SAVED, round_trips.saved),
    Check("unflattened", round_trips.UNFLATTENED, round_trips.unflattened),
    Check("re-exported", round_trips.RE_EXPORTED, round_trips.re_exported),
    Check("decomposed", round_trips.DECOMPOSED, round_trips.decomposed),
)


def verify(
    exported: Exported,
    record: Record,
    sizes: int = 8,
    progress: Callable[[Progress], None] | None = None,
) -> Verified:
    """Checks every guarantee.

    Args:
        exported: an attempt, or a program from a file; what needs the eager model is not checked
            there.
        record: the attempt, described.
        sizes: how many sizes within the contract to compare with eager at.
        progress: called before each check.

    Raises:
        KeyboardInterrupt: the user interrupted; everything is as it was.
    """
    started = time.perf_counter()
    found = []
    with Subject(exported, record, sizes) as subject:
        for number, check in enumerate(CHECKS):
            if progress:
                progress(Progress(number, len(CHECKS), check.name, "guarantee"))
            found.append(_checked(check, subject))
    return Verified(tuple(found), time.perf_counter() - started)


def _checked(check: Check, subject: Subject) -> Guarantee:
    try:
        return check.run(subject)
    except Exception as error:  # noqa: BLE001 - the other guarantees can still be checked
        reason = " ".join(str(error).split())[:300] or type(error).__name__
        return Guarantee(
            name=check.name,
            claim=check.claim,
            verdict="not checked",
            sentence=f"The check itself failed: {reason}",
        )

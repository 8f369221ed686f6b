"""Checks torch.export's guarantees on a program: Exported → Verified.

One module per group of guarantees. Each check leaves the user's model, arguments and random numbers
as they were. An error of the user's code leaves a guarantee `not checked`, with the reason; any
other error of a check is a defect of Export Explorer, with a report.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import NamedTuple

from export_engine import rules
from export_engine.attempt import Exported
from export_engine.defects import describe_defect, log_internal_error, report_of
from export_engine.process import can_fork, heap_frozen, raise_if_interrupted, run_forked
from export_engine.progress import Progress
from export_engine.record import Record
from export_engine.source import user_error
from export_engine.torch_internals import NotCallable
from export_engine.verify import (
    contract_soundness,
    declared_types,
    graph_form,
    mutation,
    real_ops,
    round_trips,
)
from export_engine.verify.guarantee import Guarantee, Verified
from export_engine.verify.program_under_test import Subject, examine, tensors_of

__all__ = ["Check", "verify"]


class Check(NamedTuple):
    """A guarantee, and what checks it."""

    rule: type[rules.Rule]
    run: Callable[[Subject], Guarantee]

    @property
    def name(self) -> str:
        """The guarantee's name."""
        return self.rule.kind.slug


CHECKS = (
    Check(rules.GuaranteeFlat, graph_form.check_flat),
    Check(rules.GuaranteeFunctional, graph_form.check_functional),
    Check(rules.GuaranteeLifted, graph_form.check_lifted),
    Check(rules.GuaranteeMapped, graph_form.check_mapped),
    Check(rules.GuaranteeOps, real_ops.check_ops),
    Check(rules.GuaranteeSound, declared_types.check_sound),
    Check(rules.GuaranteeRefuses, contract_soundness.check_refuses),
    Check(rules.GuaranteeChecks, contract_soundness.check_checks),
    Check(rules.GuaranteeState, mutation.check_state),
    Check(rules.GuaranteeSaved, round_trips.check_saved),
    Check(rules.GuaranteeUnflattened, round_trips.check_unflattened),
    Check(rules.GuaranteeReExported, round_trips.check_re_exported),
    Check(rules.GuaranteeDecomposed, round_trips.check_decomposed),
)
_IN_A_FORK = ("decomposed", "functional")
"""Checks that need the decomposed program: they can take half of the total time."""


def verify(
    exported: Exported,
    record: Record,
    sizes: int = 8,
    progress: Callable[[Progress], None] | None = None,
) -> Verified:
    """Checks every guarantee; of a large program without equal ops some in a fork.

    What does not hold there is checked again here.

    Args:
        exported: an attempt, or a program from a file; what needs the eager model is not checked
            there.
        record: the attempt, described.
        sizes: how many sizes within the contract to compare with eager at.
        progress: called before each check.

    Raises:
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    started = time.perf_counter()
    entries: dict[str, Guarantee] = {}
    with heap_frozen(), examine(exported, record, sizes) as subject:
        there = [check for check in CHECKS if check.name in _IN_A_FORK and _forks(subject)]
        there.sort(key=lambda each: _IN_A_FORK.index(each.name))
        calls = {check.name: partial(_run_check, check, subject) for check in there}
        with run_forked(calls) if calls else nullcontext() as fork:
            for check in (
                *(check for check in CHECKS if check not in there),
                *there,
            ):
                raise_if_interrupted()
                if progress:
                    claim = check.rule.CLAIM().rstrip(".")
                    progress(Progress(len(entries), len(CHECKS), claim, "guarantee"))
                answer = fork.wait(check.name) if fork and check in there else None
                holds = answer is not None and answer.verdict == "holds"
                entries[check.name] = answer if answer and holds else _run_check(check, subject)
    guarantees = tuple(entries[check.name] for check in CHECKS)
    return Verified(guarantees, time.perf_counter() - started)


def _forks(subject: Subject) -> bool:
    """Whether a fork is worth it, and can compute what this process can.

    Where ops are equal, decomposing costs less than the fork.
    """
    return subject.is_large and subject.distinct is None and can_fork(tensors_of(subject.exported))


def _run_check(check: Check, subject: Subject) -> Guarantee:
    try:
        return check.run(subject)
    except NotCallable as error:  # said once, of the guarantee that it breaks
        return Guarantee(
            rule=check.rule,
            verdict="broken" if check.name == "sound" else "not checked",
            sentence=str(error),
            evidence=(str(error),),
        )
    except (Exception, SystemExit) as error:  # noqa: BLE001 - kept; the other guarantees can still be checked
        if subject.refused:
            return Guarantee(
                rule=check.rule,
                verdict="not checked",
                sentence="This check runs the program on the example, which the program rejects: "
                f"{subject.refused}.",
            )
        doing = f"checking the guarantee `{check.name}`"
        log_internal_error(error, doing)
        theirs = user_error(error)
        if theirs:
            return Guarantee(rule=check.rule, verdict="not checked", sentence=theirs)
        return Guarantee(
            rule=check.rule,
            verdict="not checked",
            sentence=describe_defect(error, doing),
            report=report_of(error, doing),
        )

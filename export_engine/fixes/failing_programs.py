"""Fixes of a program that torch.export gave, and that is not the model: what a search starts with.

Two inputs that are one tensor in the example are one in the program. Where the outputs differ from
eager, or the program rejects a call that eager accepts, the other mode may see what this one does
not: a write through `.data`, say, or the end of an autocast. Sizes that are rejected by a condition
on two of them are kept as those are that a condition on one would exclude.
"""

from __future__ import annotations

from collections.abc import Iterator

from export_engine.attempt import Attempt, Exported, Fix
from export_engine.findings import copies_of_shared_inputs
from export_engine.fixes import export_options, other_mode
from export_engine.fixes.code.branches import size_branches
from export_engine.fixes.rejected_sizes import as_failure
from export_engine.fixes.wrong_sizes import mend_wrong_size


def of_program(attempt: Attempt) -> Iterator[Fix]:
    """Lossless fixes of an attempt that exported; none where nothing is known to be wrong.

    Args:
        attempt: one with its `agreement`.
    """
    if not isinstance(attempt, Exported) or attempt.request is None:
        return
    copied = copies_of_shared_inputs(attempt)
    if copied is not None:
        yield copied
    if attempt.agreement is not None and attempt.agreement.verdict in ("differs", "refused"):
        yield from _at_a_size(attempt)
        yield from _keeping_all_sizes(attempt)
        yield from other_mode.of_program(attempt)


def _at_a_size(attempt: Exported) -> Iterator[Fix]:
    """Lossless fixes of a program that differs from eager at some sizes, and agrees at others."""
    trials = attempt.agreement.trials if attempt.agreement is not None else ()
    wrong = next((trial for trial in trials if trial.outcome == "differs" and trial.place), None)
    if wrong is not None:
        fixes = mend_wrong_size(attempt, wrong, trials)
        yield from (fix for fix in fixes if not fix.lossy and not fix.narrows)


def _keeping_all_sizes(attempt: Exported) -> Iterator[Fix]:
    """Fixes of the condition by which a program rejects sizes that eager takes."""
    failure = as_failure(attempt)
    if failure is None:
        return
    for offered in (size_branches.suggest_size_branch, export_options.keeping_all_sizes):
        fixes = [fix for fix in offered(failure, None) if not fix.lossy and not fix.narrows]
        yield from fixes
        if fixes:
            return

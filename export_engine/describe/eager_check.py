"""How a program compares with eager, as the Record has it."""

from __future__ import annotations

from export_engine.attempt import Agreement, Trial
from export_engine.record import Check, TrialRow, sizes_shown, sizes_tried

_ALARMING = 1e-3
"""A difference that is large, unless the output is."""


def describe_check(agreement: Agreement) -> Check:
    """The check's sentence and its trials."""
    rows = [trial_row(trial) for trial in agreement.trials]
    return Check(agreement.verdict, check_sentence(agreement), rows)


def trial_row(trial: Trial) -> TrialRow:
    """A comparison with eager, as the Record has it."""
    return TrialRow(sizes_shown(trial.sizes), trial.outcome, trial.error, trial.detail)


def check_sentence(agreement: Agreement) -> str:
    """The check in a sentence: `Agrees with eager at batch 0, 1, 2, 3, 7, exactly.`."""
    verdict = agreement.verdict
    same = [trial for trial in agreement.trials if trial.outcome == verdict]
    if verdict == "agrees":
        worst = max(same, key=lambda trial: trial.error)
        sized = [trial.sizes for trial in same if trial.sizes]
        count = len(same)
        where = sizes_tried(sized) if sized else f"{count} fresh input{'' if count == 1 else 's'}"
        exact = f"with differences up to {worst.error:.0e}" if worst.error else "exactly"
        if worst.error >= _ALARMING:
            exact += f" where outputs reach {worst.reach:.0e}"
        text = f"Agrees with eager at {where}, {exact}."
        small = [trial.sizes for trial in agreement.trials if trial.refuses_small]
        if small:
            text += f" It rejects {sizes_tried(small)}, which eager accepts."
        strides = next((trial.strides for trial in same if trial.strides), "")
        return f"{text} Only strides differ: {strides}." if strides else text
    if verdict == "not checked":
        return f"Not compared with eager: {_why_not(agreement)}."
    if agreement.baked:
        return f"Agrees with eager only by chance. {agreement.baked}"
    if agreement.reason:
        return agreement.reason
    first = same[0]
    where = sizes_shown(first.sizes) or "fresh inputs"
    detail = f": {first.detail}" if first.detail else ""
    if verdict == "differs":
        line = f" See line {first.place.line}." if first.place else ""
        return f"Differs from eager at {where}{detail}.{line}"
    return f"Rejects {where}, which eager accepts{detail}."


def _why_not(agreement: Agreement) -> str:
    if agreement.reason:
        return agreement.reason
    failed = [trial for trial in agreement.trials if trial.outcome == "eager-fails"]
    if failed:
        detail = f": {failed[0].detail.rstrip('.')}" if failed[0].detail else ""
        return f"eager fails at every tried size{detail}"
    return "nothing was tried"

"""How a program compares with eager, as the Record has it."""

from __future__ import annotations

from export_engine.attempt import Agreement, Trial
from export_engine.record import Check, TrialRow

_ALARMING = 1e-3
"""A difference that is large, unless the output is."""


def describe_check(agreement: Agreement) -> Check:
    """The check's sentence and its trials."""
    rows = [
        TrialRow(_sizes(trial), trial.outcome, trial.error, trial.detail)
        for trial in agreement.trials
    ]
    return Check(agreement.verdict, check_sentence(agreement), rows)


def check_sentence(agreement: Agreement) -> str:
    """The check in a sentence: `Agrees with eager at 4 other sizes, exactly.`."""
    verdict = agreement.verdict
    same = [trial for trial in agreement.trials if trial.outcome == verdict]
    if verdict == "agrees":
        worst = max(same, key=lambda trial: trial.error)
        sized = [trial for trial in same if trial.sizes]
        count = len(sized) or len(same)
        what = "other size" if sized else "fresh input"
        exact = f"with differences up to {worst.error:.0e}" if worst.error else "exactly"
        if worst.error >= _ALARMING:
            exact += f" where outputs reach {worst.reach:.0e}"
        said = f"Agrees with eager at {count} {what}{'' if count == 1 else 's'}, {exact}."
        strides = next((trial.strides for trial in same if trial.strides), "")
        return f"{said} Only strides differ: {strides}." if strides else said
    if verdict == "not checked":
        return f"Not compared with eager: {_why_not(agreement)}."
    if agreement.baked:
        return f"Agrees with eager only by chance. {agreement.baked}"
    if agreement.reason:
        return agreement.reason
    first = same[0]
    where = _sizes(first) or "fresh inputs"
    detail = f": {first.detail}" if first.detail else ""
    if verdict == "differs":
        return f"Differs from eager at {where}{detail}."
    return f"Refuses {where}, which eager takes{detail}."


def _why_not(agreement: Agreement) -> str:
    if agreement.reason:
        return agreement.reason
    failed = [trial for trial in agreement.trials if trial.outcome == "eager-fails"]
    if failed:
        detail = f": {failed[0].detail.rstrip('.')}" if failed[0].detail else ""
        return f"the model itself fails at every size tried{detail}"
    return "nothing was tried"


def _sizes(trial: Trial) -> str:
    return ", ".join(f"{name} = {size}" for name, size in trial.sizes.items())

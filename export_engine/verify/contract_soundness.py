"""The shape contract is sound: right for everything it admits, and it rejects everything else."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from export_engine import rules
from export_engine.attempt import Exported, Request, Trial
from export_engine.defects import log_internal_error
from export_engine.record import Record, SizeInput, probe_sizes, sizes_shown, sizes_tried
from export_engine.source import Location, is_container_error, user_error
from export_engine.torch_internals import (
    apply_replacements,
    is_asserted_before_replacement,
    is_implied,
    list_asserted_conditions,
    shape_env,
    symbols_in,
)
from export_engine.trace import RecordedGuard
from export_engine.verify.asking_line import find_asking_line, line_shown
from export_engine.verify.contract_sampling import breaking, name_sizes, plan_sizes
from export_engine.verify.first_divergence import Divergence, first_difference
from export_engine.verify.guarantee import (
    Guarantee,
    describe_strides,
    verdict_of,
    without_eager,
    without_weights,
)
from export_engine.verify.isolated_run import Call
from export_engine.verify.numbers_in_code import find_code_numbers
from export_engine.verify.program_under_test import Subject, examine

_MOST_RULES = 12
_MOST_LEFT = 6
"""Sizes that are named of those that there was no time for."""
_MOST_SIZES = 40
_MOST_ELEMENTS, _MOST_TIMES = 2**22, 8
"""Limits on the elements of all inputs of a call that the user asks for: absolute, and as a
multiple of the example's."""
_WARM = 2
"""Calls of which the last is measured: the first takes longer than others."""
_SHARE, _QUICK = 0.3, 0.5
"""How long comparisons at other sizes may take, of the export's time; and seconds, at least."""
_KINDS = ("fixed", "equal", "form", "range", "guard")
_SAYING = ("Guard failed", "Expected input", "Runtime assertion", "Unexpected")


def check_contract(subject: Subject) -> Guarantee:
    """Compares with eager at sizes within the contract, the example's first."""
    if subject.eager is None:
        return without_eager(rules.GuaranteeSound)
    if subject.without_values:
        return without_weights(rules.GuaranteeSound, subject.without_values)
    plan = plan_sizes(subject, _affordable(subject))
    tries = [_try_sizes(subject, sizes, seed) for seed, sizes in enumerate(plan.tried)]
    trials = tuple(size_try.trial for size_try in tries)
    agreed = [trial for trial in trials if trial.outcome == "agrees"]
    failing = [size_try for size_try in tries if size_try.trial.outcome in ("differs", "refused")]
    if not agreed and not failing:
        text = rules.GuaranteeSound.EAGER_FAILS(error=tries[0].raised).strip()
        return Guarantee(
            rule=rules.GuaranteeSound, verdict="not checked", sentence=text, trials=trials
        )
    worst = max((trial.error for trial in agreed), default=0.0)
    how = f"off by at most {worst:.1e}" if worst else "exactly"
    strides = next((trial.strides for trial in agreed if trial.strides), "")
    more = describe_strides(strides) + (f" {subject.not_compared}" if subject.not_compared else "")
    shown = sizes_tried([trial.sizes for trial in agreed])
    sentence = rules.GuaranteeSound.HOLDS(sizes=shown, how=how, more=more)
    node, evidence = "", [_evidence(trial) for trial in trials]
    if failing:
        failing.sort(key=lambda each: _severity(each.trial, tries[0].trial))
        parting = first_difference(subject, failing[0].request, failing[0].seed)
        place = _asking(subject, tries, failing[0]) or _last_location(parting)
        first = replace(failing[0].trial, place=place)
        trials = (first, *(trial for trial in trials if trial is not failing[0].trial))
        wrong = [_evidence(size_try.trial) for size_try in failing]
        evidence = [
            wrong[0],
            parting.sentence,
            *wrong[1:],
            *(e for e in evidence if e not in wrong),
        ]
        node = parting.node
        sentence = _wrong(first, len(failing), sentence if agreed else "")
    if subject.request.within:
        contexts = [
            getattr(function, "func", function) for function in subject.request.within
        ]  # of a partial
        names = ", ".join(getattr(context, "__name__", "a context") for context in contexts)
        evidence.append(rules.GuaranteeSound.WITHIN(contexts=names))
    left = tuple(sizes_shown(name_sizes(subject, numbers)) for numbers in plan.left)
    if left:
        evidence.append(rules.GuaranteeSound.NOT_TRIED(sizes="; ".join(left[:_MOST_LEFT])))
    return Guarantee(
        rule=rules.GuaranteeSound,
        verdict=verdict_of(failing),
        sentence=sentence,
        evidence=tuple(evidence),
        node=node,
        trials=trials,
        left=left,
    )


def try_sizes(exported: Exported, record: Record, sizes: Sequence[int]) -> Trial | None:
    """Runs eager and the program at some sizes.

    Args:
        exported: an attempt.
        record: the attempt, described.
        sizes: one for each entry of the Record's probe.

    Returns:
        How they compare; None where there is no eager model, or the inputs would be too large.
    """
    example = [size.example for size in record.probe.inputs]
    most = max(_MOST_ELEMENTS, _MOST_TIMES * _elements(record, example))
    if exported.request is None or min(sizes, default=0) < 0 or _elements(record, sizes) > most:
        return None
    with examine(exported, record, 0) as subject:
        return _try_sizes(subject, sizes, 0).trial


def _elements(record: Record, sizes: Sequence[int]) -> int:
    """Of all inputs that have sizes."""
    total: dict[int, int] = {}
    for size, entry in zip(sizes, record.probe.inputs, strict=True):
        total[entry.entry] = total.get(entry.entry, 1) * max(size, 1)
    return sum(total.values())


class _Try(NamedTuple):
    """A comparison with eager, and the call that it was made with."""

    trial: Trial
    request: Request
    seed: int
    raised: str = ""
    """A sentence on what eager raised, where it fails."""


def _try_sizes(subject: Subject, sizes: Sequence[int], seed: int) -> _Try:
    """Eager, then the program, at some sizes."""
    request, named = subject.at(sizes, seed), name_sizes(subject, sizes)
    theirs = _call(subject, subject.eager, request, seed)
    ours = _call(subject, subject.module, request, seed)
    if isinstance(theirs, Exception):
        answers = "" if isinstance(ours, Exception) else "; the program returns a result"
        detail = f"eager fails: {subject.refusal(theirs)}{answers}"
        return _Try(Trial(named, "eager-fails", detail=detail), request, seed, user_error(theirs))
    if isinstance(ours, Exception):
        if is_container_error(ours):
            raise ours
        return _Try(Trial(named, "refused", detail=subject.refusal(ours)), request, seed)
    difference = subject.compare(ours, theirs)
    outcome: Literal["agrees", "differs"] = "agrees" if difference.same else "differs"
    trial = Trial(named, outcome, difference.error, difference.detail, difference.strides)
    return _Try(trial, request, seed)


def _call(subject: Subject, called: Any, request: Request, seed: int) -> Call | Exception:
    """A call, or what it raised."""
    try:
        return subject.run(called, request, seed)
    except Exception as error:  # noqa: BLE001 - the model may refuse sizes by whatever it likes
        log_internal_error(error, "calling at sizes of the contract")
        return error


def _affordable(subject: Subject) -> int:
    """How many sizes to compare at beside the example's: fewer of a model that is slow.

    All of them take at most about a third as long as the export did.
    """
    taken = 0.0
    for _ in range(_WARM):
        began = time.perf_counter()
        for called in (subject.eager, subject.module):
            _call(subject, called, subject.request, 0)
        taken = time.perf_counter() - began
        if taken > _QUICK:
            break
    seconds = max(_SHARE * subject.exported.seconds, _QUICK)
    return max(subject.sizes, min(int(seconds / taken), _MOST_SIZES))


def _severity(trial: Trial, example: Trial) -> tuple[bool, int]:
    """What to tell first: a wrong answer before a rejected call, and the fewest changed sizes."""
    changed = sum(size != example.sizes.get(name) for name, size in trial.sizes.items())
    return trial.outcome != "differs", changed


def _evidence(trial: Trial) -> str:
    """A line on a comparison."""
    shown = sizes_shown(trial.sizes) or "the example's sizes"
    if trial.outcome == "agrees":
        how = f"off by {trial.error:.1e}" if trial.error else "agrees exactly"
        return rules.GuaranteeSound.AT(sizes=shown, how=how)
    if trial.outcome == "refused":
        return rules.GuaranteeSound.REJECTED_AT(sizes=shown, detail=trial.detail)
    return rules.GuaranteeSound.WRONG_AT(sizes=shown, detail=trial.detail)


def _wrong(first: Trial, count: int, agrees: str) -> str:
    """At which sizes it is wrong, which line asks, and where it agrees."""
    at = sizes_shown(first.sizes) or "the example's sizes"
    line = f" See {line_shown(first.place)}." if first.place is not None else ""
    more = f" Also at {count - 1} more." if count > 1 else ""
    if first.outcome == "refused":
        text = rules.GuaranteeSound.REJECTS(sizes=at, line=line, more=more, agrees=agrees)
    else:
        text = rules.GuaranteeSound.DIFFERS(
            sizes=at, detail=first.detail, line=line, more=more, agrees=agrees
        )
    return text.rstrip()


def _asking(subject: Subject, tries: Sequence[_Try], wrong: _Try) -> Location | None:
    """The line at which eager takes a different branch there than where both agree."""
    good = next((size_try for size_try in tries if size_try.trial.outcome == "agrees"), None)
    if good is None or not wrong.trial.sizes:
        return None

    def run(wrapped: Callable[[Any], Any], at_wrong: bool) -> object:
        one = wrong if at_wrong else good
        return subject.run(wrapped(subject.eager), one.request, one.seed)

    return find_asking_line(run, find_code_numbers(subject.eager), wrong.trial.sizes)


def _last_location(parting: Divergence) -> Location | None:
    return parting.stack[-1] if parting.stack else None


def check_refuses(subject: Subject) -> Guarantee:
    """Calls the program with sizes that break each rule."""
    probe, called = subject.record.probe, subject.module
    enforced = sorted(
        (rule for rule in probe.rules if rule.enforced and rule.formula),
        key=lambda rule: _KINDS.index(rule.kind),
    )
    refused, evidence, problems, taken = 0, [], [], list[str]()
    untried = [rule for rule in probe.rules if rule.enforced and not rule.formula]
    for number, rule in enumerate(enforced):
        sizes = breaking(probe, rule) if number < _MOST_RULES else None
        if sizes is None:
            untried.append(rule)
            continue
        shown = _describe_break(subject, sizes, rule.text)
        try:
            subject.run(called, subject.at(sizes, 0))
        except Exception as error:  # noqa: BLE001 - that is what is wanted
            log_internal_error(error, "calling at sizes of the contract")
            text = str(error)
            if subject.without_values and not any(phrase in text for phrase in _SAYING):
                untried.append(rule)  # an op that needs values fails at any size
                continue
            refused += 1
            stated = (
                "" if any(phrase in text for phrase in _SAYING) else " (an op failed, not a check)"
            )
            reason = subject.refusal(error)
            evidence.append(rules.GuaranteeRefuses.REFUSED(call=shown, reason=reason, more=stated))
            if rule.kind == "guard" and _is_taken_by_eager(subject, sizes):
                evidence[-1] += "; eager accepts it"
                taken.append(shown)
        else:
            problems.append(rules.GuaranteeRefuses.ACCEPTED(call=shown))
    problems += _let_through(subject, evidence)
    left = tuple(
        rules.GuaranteeRefuses.LEFT(rule=rule.text or "a check in the program") for rule in untried
    )
    if not refused and not problems and untried:
        text = untried[0].text or "the check"
        return Guarantee(
            rule=rules.GuaranteeRefuses,
            verdict="not checked",
            sentence=rules.GuaranteeRefuses.NOT_FOUND(rule=text),
            evidence=left,
        )
    if not refused and not problems:
        sentence = rules.GuaranteeRefuses.NONE()
        return Guarantee(rule=rules.GuaranteeRefuses, verdict="not applicable", sentence=sentence)
    more = ""
    if taken:
        several = len(taken) if refused > 1 else "it"
        more += rules.GuaranteeRefuses.TAKEN(count=several, example=taken[0])
    if untried:
        more += rules.GuaranteeRefuses.UNTRIED(count=len(untried), all=len(untried) + refused)
    calls = f"{refused} {'call' if refused == 1 else 'calls'}"
    sentence = rules.GuaranteeRefuses.HOLDS(calls=calls, more=more)
    if problems:
        everything = refused + len(problems)
        sentence = rules.GuaranteeRefuses.BROKEN(bad=len(problems), all=everything)
    return Guarantee(
        rule=rules.GuaranteeRefuses,
        verdict=verdict_of(problems),
        sentence=sentence,
        evidence=(*problems, *evidence, *left),
    )


def _is_taken_by_eager(subject: Subject, sizes: Sequence[int]) -> bool:
    """Whether the model runs at sizes that the program rejects, since the trace went one way."""
    if subject.eager is None:
        return False
    try:
        subject.run(subject.eager, subject.at(sizes, 0))
    except Exception as error:  # noqa: BLE001 - then the model rejects them, too
        log_internal_error(error, "calling eager outside the contract")
        return False
    return True


def check_checks(subject: Subject) -> Guarantee:
    """Looks for an assert for each condition on values that was deferred to run time."""
    recorded = [
        guard
        for guard in subject.exported.recording.guards
        if guard.kind == "runtime_assert" and _is_of_values(guard)
    ]
    if len(subject.record.graphs) > 1:
        # torch traces a function of an operator several times, each time with other symbols
        left = symbols_in(subject.program)
        recorded = [g for g in recorded if {str(s) for s in g.condition.free_symbols} <= left]
    if not recorded:
        sentence = rules.GuaranteeChecks.NONE()
        return Guarantee(rule=rules.GuaranteeChecks, verdict="not applicable", sentence=sentence)
    present = list_asserted_conditions(subject.program)
    lost = [
        recorded_guard
        for recorded_guard in recorded
        if not _is_asserted(subject, present, recorded_guard.condition)
    ]
    sentence = rules.GuaranteeChecks.HOLDS(count=len(recorded))
    if lost:
        sentence = rules.GuaranteeChecks.BROKEN(lost=len(lost), count=len(recorded))
    return Guarantee(
        rule=rules.GuaranteeChecks,
        verdict=verdict_of(lost),
        sentence=sentence,
        evidence=tuple(rules.GuaranteeChecks.LOST(condition=guard.condition) for guard in lost),
    )


def _is_asserted(subject: Subject, present: list[Any], condition: Any) -> bool:
    """Whether the program's asserts check a condition, under the symbols that sizes have by now.

    Each time that a size from data is traced it has a new symbol, until torch finds them equal.
    `present` are the conditions of the asserts.
    """
    if is_implied(present, condition) or is_asserted_before_replacement(subject.program, condition):
        return True
    env = shape_env(subject.program)
    as_it_is = condition if env is None else apply_replacements(env, condition)
    return bool(as_it_is.free_symbols) and is_implied(present, as_it_is)


def _let_through(subject: Subject, evidence: list[str]) -> Iterator[str]:
    """Sizes below a range that torch does not reject: fine if the answer is right."""
    probe = subject.record.probe
    if subject.eager is None or subject.without_values:
        return
    for rule in [rule for rule in probe.rules if not rule.enforced][:_MOST_RULES]:
        sizes = breaking(probe, rule)
        if sizes is None or probe_sizes(probe, sizes).verdict != "unchecked":
            continue
        shown = _describe_break(subject, sizes, rule.text)
        request = subject.at(sizes, 0)
        try:
            theirs = subject.run(subject.eager, request)
        except Exception as error:  # noqa: BLE001 - eager does not take it either
            log_internal_error(error, "calling at sizes of the contract")
            continue
        try:
            ours = subject.run(subject.module, request)
        except Exception as error:  # noqa: BLE001 - an op refuses it
            log_internal_error(error, "calling at sizes of the contract")
            reason = subject.refusal(error)
            evidence.append(rules.GuaranteeRefuses.REFUSED(call=shown, reason=reason, more=""))
            continue
        difference = subject.compare(ours, theirs)
        if difference.same:
            evidence.append(rules.GuaranteeRefuses.AGREES(call=shown))
        else:
            yield rules.GuaranteeRefuses.DIFFERS(call=shown, detail=difference.detail)


def _is_of_values(guard: RecordedGuard) -> bool:
    return any(str(symbol).startswith("u") for symbol in guard.condition.free_symbols)


def _describe_break(subject: Subject, sizes: Sequence[int], rule: str) -> str:
    """The changed sizes, and the rule that they break: `x.shape[0] = 17 breaks …`."""
    changed = [
        f"{probe_input.text} = {size}"
        for size, probe_input in _pairs(subject, sizes)
        if size != probe_input.example
    ]
    change = ", ".join(changed) or "the example"
    return rules.GuaranteeRefuses.BREAKS(change=change, rule=rule)


def _pairs(subject: Subject, sizes: Sequence[int]) -> Iterator[tuple[int, SizeInput]]:
    return zip(sizes, subject.record.probe.inputs, strict=True)

"""The shape contract is sound: right for everything it admits, and it rejects everything else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from export_engine.defects import passed_over
from export_engine.record import SizeInput, probe_sizes
from export_engine.torch_internals import (
    asserted,
    asserted_before_replacement,
    implied_by,
    replaced_sizes,
    shape_env,
    symbols_in,
)
from export_engine.trace import RecordedGuard
from export_engine.verify.contract_sampling import breaking, counted_sizes, inside, shown_sizes
from export_engine.verify.first_divergence import first_difference
from export_engine.verify.guarantee import Guarantee, verdict_of, without_eager
from export_engine.verify.program_under_test import Subject

SOUND = "At every size the contract admits, the program agrees with eager."
REFUSES = "A call outside of the contract is rejected, for the reason the contract gives."
CHECKS = "Conditions on values that tracing could not decide are runtime assertions."
_MOST_RULES = 12
_KINDS = ("fixed", "equal", "form", "range", "guard")
_SAYING = ("Guard failed", "Expected input", "Runtime assertion", "Unexpected")


def sound(subject: Subject) -> Guarantee:
    """Compares with eager at sizes within the contract, the example's first."""
    if subject.eager is None:
        return without_eager("sound", SOUND)
    agreed, worst, failing, evidence = 0, 0.0, [], []
    called = subject.module
    for seed, sizes in enumerate(inside(subject, subject.sizes)):
        request = subject.at(sizes, seed)
        shown = shown_sizes(subject, sizes)
        try:
            theirs = subject.run(subject.eager, request, seed)
        except Exception as error:  # noqa: BLE001 - the model may refuse sizes by whatever it likes
            passed_over(error, "calling at sizes of the contract")
            evidence.append(f"{shown}: eager itself fails: {subject.refusal(error)}")
            continue
        try:
            ours = subject.run(called, request, seed)
        except Exception as error:  # noqa: BLE001 - so may the program
            passed_over(error, "calling at sizes of the contract")
            failing.append((request, seed))
            evidence.insert(0, f"{shown}: the program rejects it: {subject.refusal(error)}")
            continue
        found = subject.compared(ours, theirs)
        if found.same:
            agreed, worst = agreed + 1, max(worst, found.error)
            evidence.append(f"{shown}: off by {found.error:.1e}")
        else:
            failing.append((request, seed))
            evidence.insert(0, f"{shown}: {found.detail}")
    if not agreed and not failing:
        return _not_checked("sound", SOUND, "Eager fails at every size that was tried.")
    node = ""
    if failing:
        parting = first_difference(subject, *failing[0])
        node = parting.node
        evidence.insert(1, parting.sentence)
    if subject.request.within:
        contexts = [getattr(each, "func", each) for each in subject.request.within]  # of a partial
        names = ", ".join(getattr(each, "__name__", "a context") for each in contexts)
        evidence.append(f"eager ran as the export did, within {names}")
    how = f"off by at most {worst:.1e}" if worst else "exactly"
    sentence = f"Agrees with eager at {counted_sizes(agreed)}, {how}."
    if failing:
        sentence = (
            f"Disagrees with eager at {len(failing)} of {counted_sizes(agreed + len(failing))}."
        )
    return Guarantee(
        name="sound",
        claim=SOUND,
        verdict=verdict_of(failing),
        sentence=sentence,
        evidence=tuple(evidence),
        node=node,
    )


def refuses(subject: Subject) -> Guarantee:
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
        shown = f"{_changed(subject, sizes)} breaks {rule.text}"
        try:
            subject.run(called, subject.at(sizes, 0))
        except Exception as error:  # noqa: BLE001 - that is what is wanted
            passed_over(error, "calling at sizes of the contract")
            refused += 1
            text = str(error)
            stated = "" if any(each in text for each in _SAYING) else " (an op failed, not a check)"
            evidence.append(f"{shown}: {subject.refusal(error)}{stated}")
            if rule.kind == "guard" and _is_taken_by_eager(subject, sizes):
                evidence[-1] += "; eager takes it"
                taken.append(shown)
        else:
            problems.append(f"{shown}, but the program accepts it")
    problems += _let_through(subject, evidence)
    left = tuple(f"not tried: {rule.text or 'a check in the program'}" for rule in untried)
    if not refused and not problems and untried:
        return Guarantee(
            name="refuses",
            claim=REFUSES,
            verdict="not checked",
            sentence=f"No sizes were found that break {untried[0].text or 'the check'}.",
            evidence=left,
        )
    if not refused and not problems:
        sentence = "No size of an input is ruled out."
        return Guarantee(name="refuses", claim=REFUSES, verdict="not applicable", sentence=sentence)
    sentence = f"Rejected {refused} {'call' if refused == 1 else 'calls'} outside of the contract."
    if taken:
        sentence += f" Eager takes {len(taken) if refused > 1 else 'it'}: {taken[0]}."
    if untried:
        sentence += f" {len(untried)} of {len(untried) + refused} rules were not tried."
    if problems:
        sentence = (
            f"{len(problems)} of {refused + len(problems)} calls outside of the contract "
            "are not rejected."
        )
    return Guarantee(
        name="refuses",
        claim=REFUSES,
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
        passed_over(error, "calling eager outside of the contract")
        return False
    return True


def checks(subject: Subject) -> Guarantee:
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
        return Guarantee(
            name="checks",
            claim=CHECKS,
            verdict="not applicable",
            sentence="No condition on values was left to run time.",
        )
    present = asserted(subject.program)
    lost = [each for each in recorded if not _is_asserted(subject, present, each.condition)]
    sentence = f"All {len(recorded)} conditions on values are asserted."
    if lost:
        sentence = f"{len(lost)} of {len(recorded)} conditions on values are not asserted."
    return Guarantee(
        name="checks",
        claim=CHECKS,
        verdict=verdict_of(lost),
        sentence=sentence,
        evidence=tuple(f"{guard.condition} is not checked by the program" for guard in lost),
    )


def _is_asserted(subject: Subject, present: list[Any], condition: Any) -> bool:
    """Whether the program's asserts check a condition, under the symbols that sizes have by now.

    Each time that a size from data is traced it has a new symbol, until torch finds them equal.
    `present` are the conditions of the asserts.
    """
    if implied_by(present, condition) or asserted_before_replacement(subject.program, condition):
        return True
    env = shape_env(subject.program)
    as_it_is = condition if env is None else replaced_sizes(env, condition)
    return bool(as_it_is.free_symbols) and implied_by(present, as_it_is)


def _let_through(subject: Subject, evidence: list[str]) -> Iterator[str]:
    """Sizes below a range that torch does not reject: fine if the answer is right."""
    probe = subject.record.probe
    if subject.eager is None:
        return
    for rule in [rule for rule in probe.rules if not rule.enforced][:_MOST_RULES]:
        sizes = breaking(probe, rule)
        if sizes is None or probe_sizes(probe, sizes).verdict != "unchecked":
            continue
        shown = f"{_changed(subject, sizes)} breaks {rule.text}"
        request = subject.at(sizes, 0)
        try:
            theirs = subject.run(subject.eager, request)
        except Exception as error:  # noqa: BLE001 - eager does not take it either
            passed_over(error, "calling at sizes of the contract")
            continue
        try:
            ours = subject.run(subject.module, request)
        except Exception as error:  # noqa: BLE001 - an op refuses it
            passed_over(error, "calling at sizes of the contract")
            evidence.append(f"{shown}: {subject.refusal(error)}")
            continue
        found = subject.compared(ours, theirs)
        if found.same:
            evidence.append(f"{shown}, is accepted, and agrees with eager")
        else:
            yield f"{shown}, is accepted, and differs from eager: {found.detail}"


def _is_of_values(guard: RecordedGuard) -> bool:
    return any(str(symbol).startswith("u") for symbol in guard.condition.free_symbols)


def _changed(subject: Subject, sizes: Sequence[int]) -> str:
    """What differs from the example: `x.shape[0] = 17`."""
    changed = [
        f"{each.text} = {size}" for size, each in _pairs(subject, sizes) if size != each.example
    ]
    return ", ".join(changed) or "the example"


def _pairs(subject: Subject, sizes: Sequence[int]) -> Iterator[tuple[int, SizeInput]]:
    return zip(sizes, subject.record.probe.inputs, strict=True)


def _not_checked(name: str, claim: str, sentence: str) -> Guarantee:
    return Guarantee(name=name, claim=claim, verdict="not checked", sentence=sentence)

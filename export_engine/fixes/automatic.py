"""Applies fixes that are not lossy until an export succeeds and agrees with eager, or none is left.

A program that is known to be wrong also counts as a failure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from export_engine.attempt import Attempt, Exported, Failed, Fix, Request
from export_engine.describe import check_sentence
from export_engine.diagnose import diagnose
from export_engine.fixes.providers import explain
from export_engine.fixes.try_fixes import apply_fixes, try_request
from export_engine.fixes.wrong_programs import of_program
from export_engine.progress import Progress, Report
from export_engine.shapes import Auto, Named
from export_engine.verify import sizes_of

MOST_ATTEMPTS = 10


@dataclass(frozen=True)
class Step:
    """An applied fix and its result."""

    fix: Fix
    attempt: Attempt
    kept: bool
    """Whether the search continued from here.

    A fix without progress, or with a program that differs from eager, is dropped.
    """

    @property
    def sentence(self) -> str:
        """The fix and its result."""
        return f"{self.fix.title}: {outcome(self.attempt)}"


@dataclass(frozen=True, repr=False)
class AutofixReport:
    """The outcome of a search for fixes, and its steps."""

    first: Attempt
    """The attempt that the search began with."""
    steps: tuple[Step, ...]

    @property
    def kept(self) -> tuple[Step, ...]:
        """The steps that lead from the first attempt to the last."""
        return tuple(step for step in self.steps if step.kept)

    @property
    def attempt(self) -> Attempt:
        """The attempt at which it ended."""
        return self.kept[-1].attempt if self.kept else self.first

    @property
    def sentence(self) -> str:
        """The outcome in a sentence, and what is left to decide."""
        attempt, count = self.attempt, len(self.kept)
        if isinstance(attempt, Exported):
            checked = f" {check_sentence(attempt.agreement)}" if attempt.agreement else ""
            if attempt.verdict == "not checked" and count:
                checked += " Its outputs are not verified."
            if not count:
                return f"It exports without a fix.{checked}"
            fixes = "one fix" if count == 1 else f"{count} fixes"
            titles = ", then ".join(step.fix.title for step in self.kept)
            lost = "".join(f" {s.fix.gives_up.rstrip('.')}." for s in self.kept if s.fix.narrows)
            fewer = ", for fewer sizes than the model accepts" if lost else ""
            return f"It exports with {fixes}{fewer}: {titles}.{lost}{checked}"
        assert isinstance(attempt, Failed)
        lossy = [fix for fix in attempt.fixes if fix.lossy]
        reason = attempt.diagnosis.sentence if attempt.diagnosis else ""
        if lossy:
            return f"No lossless fix remains. {reason} You can still apply: {lossy[0].title}."
        return f"No fix remains. {reason}"

    def __repr__(self) -> str:
        return self.sentence


def autofix(
    start: Request | Attempt, progress: Report | None = None, most: int = MOST_ATTEMPTS
) -> AutofixReport:
    """Searches.

    Args:
        start: what to export, or an attempt at it.
        progress: called as the search goes on.
        most: the limit on attempts.

    Raises:
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    first = try_request(start, progress) if isinstance(start, Request) else start
    if isinstance(first, Failed) and not first.fixes:
        first = explain(first, progress)
    current, steps = first, list[Step]()
    mending = tuple(of_program(first))
    tried: set[tuple[str, str, str]] = set()
    while len(steps) < most:
        fixes = current.fixes if isinstance(current, Failed) else mending
        fix = _next(fixes, tried)
        if fix is None:
            break
        tried.add(_key(fix))
        if progress:
            progress(Progress(len(steps) + 1, most, fix.title, "fix"))
        attempt = apply_fixes(current, [fix], progress)
        kept = _is_better(attempt, current, fix) and not _fixes_a_size(attempt, first)
        if kept and isinstance(attempt, Failed):
            attempt = explain(attempt, progress)
        mended = None if kept else _mend(attempt, current, progress)
        steps.append(Step(fix, attempt, kept or mended is not None))
        if mended is not None:
            steps.append(mended)
            attempt = mended.attempt
        if steps[-1].kept:
            current, mending = attempt, ()
    if isinstance(current, Failed):
        steps = _with_unverified(steps)
    return AutofixReport(first, tuple(steps))


def _mend(found: Attempt, before: Attempt, progress: Report | None) -> Step | None:
    """The step from a program that is known to be wrong to one that agrees, if there is one."""
    if not isinstance(before, Failed):
        return None
    for fix in of_program(found):
        if fix.lossy or fix.narrows:
            continue
        attempt = apply_fixes(found, [fix], progress)
        if isinstance(attempt, Exported) and _is_better(attempt, before):
            return None if _fixes_a_size(attempt, before) else Step(fix, attempt, kept=True)
    return None


def _with_unverified(steps: list[Step]) -> list[Step]:
    """Where no fix gave a program that was seen to agree, the first that was not compared is kept.

    It follows on what is kept already, and the report says that it is not verified.
    """
    kept = max((number for number, step in enumerate(steps) if step.kept), default=-1)
    for number, step in enumerate(steps):
        verdict = step.attempt.verdict if isinstance(step.attempt, Exported) else ""
        if number > kept and verdict == "not checked":
            return [*steps[:number], replace(step, kept=True), *steps[number + 1 :]]
    return steps


def outcome(attempt: Attempt) -> str:
    """The outcome of an attempt, in a few words."""
    if isinstance(attempt, Failed):
        return attempt.diagnosis.kind.value if attempt.diagnosis else "did not export"
    assert isinstance(attempt, Exported)
    return {
        "agrees": "exports, and agrees with eager",
        "differs": "exports, but differs from eager",
        "refused": "exports, but rejects sizes that eager accepts",
        "not checked": "exports; not compared with eager",
    }[attempt.verdict]


def _next(fixes: Iterable[Fix], tried: set[tuple[str, str, str]]) -> Fix | None:
    """The next fix that fixes no size and changes no answer.

    One that rejects sizes which the model takes is the last; of the others, those that are known
    to lead to a program are first.
    """
    left = [fix for fix in fixes if not fix.lossy and _key(fix) not in tried]
    return min(left, key=lambda fix: (fix.narrows, not fix.is_known_to_export), default=None)


def _key(fix: Fix) -> tuple[str, str, str]:
    edits = "".join(edit.after for edit in fix.edits)
    return fix.kind, fix.title, fix.after or edits


def _is_better(found: Attempt, before: Attempt, fix: Fix | None = None) -> bool:
    """Whether an attempt is progress: a verified program, or a different failure.

    A fix that says which sizes its program rejects may reject some of those that are tried.
    """
    if isinstance(found, Exported):
        says_so = fix is not None and fix.narrows and isinstance(before, Failed)
        return found.verdict == "agrees" or (says_so and found.verdict == "refused")
    assert isinstance(found, Failed)
    return isinstance(before, Failed) and _failure(found) != _failure(before)


def _fixes_a_size(found: Attempt, first: Attempt) -> bool:
    """Whether a program has a number where a size with a name was asked for.

    A dim that a fix left to torch, `*`, may be one after a further fix.
    """
    asked = first.request.shapes if first.request is not None else None
    left = found.request.shapes if found.request is not None else None
    if asked is None or left is None or not isinstance(found, Exported):
        return False
    dims = sizes_of(found).dims
    return any(
        isinstance(before, Named) and isinstance(now, Auto) and isinstance(size, int)
        for path, s in asked.leaves.items()
        for before, now, size in zip(s, left.leaves.get(path, ()), dims.get(path, ()), strict=False)
    )


def _failure(attempt: Failed) -> tuple[object, ...]:
    diagnosis = attempt.diagnosis or diagnose(attempt)
    return diagnosis.kind, diagnosis.stack[-1:], diagnosis.sentence

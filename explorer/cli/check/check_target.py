"""One target exported and checked: its problems, each with its code and its place."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from explorer.cli.check.config import Target
from explorer.cli.check.delegation import check_delegation
from explorer.cli.check.levels import LEVELS, OF_FINDINGS, fails
from explorer.cli.check.problem import Problem, find_relative_path
from explorer.opening.exporting import explore
from explorer.opening.loading import load
from explorer.opening.named_call import run_named_call
from explorer.testing import assert_same_export
from explorer.text.exit_codes import BAD, UNCHECKED

if TYPE_CHECKING:
    from explorer.exploration import Exploration
    from explorer.text.release_verdict import Release
    from export_engine.record import Record

GOLDEN = "golden"
"""The code of a program that differs from its golden file."""


class Checked(msgspec.Struct, frozen=True):
    """A target, checked."""

    target: str
    verdict: str
    """`exported, non-strict, 12 ops`."""
    problems: list[Problem]
    failed: bool
    """Whether a problem is as severe as the target says."""
    unchecked: bool
    """Whether a guarantee that could have been checked was not."""
    open: list[str] = []
    """The guarantees that could have been checked and were not, by name."""
    command: str = ""
    """A shell command that shows why not."""
    seconds: float = 0.0
    delegated: str = ""
    """`XNNPACK 97.3%`: the share of the FLOPs that a backend takes, if it was asked."""


def check(target: Target, update: bool = False) -> Checked:
    """Exports a target, and says what is wrong.

    Args:
        target: what to check.
        update: write the golden file in place of comparing with it.

    Raises:
        ImportError, AttributeError, TypeError: `target.call` does not name a call.
        ArchiveError, ShapesError: the file or the shapes are not right.
    """
    explored = _explore_target(target)
    left: list[str] = []
    if target.verify and explored.ok:
        verified = explored.verify()
        left = [guarantee.name for guarantee in verified.unchecked if not guarantee.lacking]
    release = explored.release_report()
    asked = ("export", "verification", "sizes") if target.verify else ("export",)
    code = release.exit_code(asked)
    delegated, outside = check_delegation(explored, target, update)
    problems = [
        *_problems(explored.record, release),
        *_check_golden(explored, target, update),
        *outside,
    ]
    problems.sort(key=lambda each: LEVELS.index(each.level))
    return Checked(
        target=target.title,
        verdict=explored.record.verdict,
        problems=problems,
        failed=code == BAD or any(fails(problem.level, target.fail_on) for problem in problems),
        unchecked=code == UNCHECKED,
        open=left if code == UNCHECKED else [],
        command=_verifying(target) if code == UNCHECKED else "",
        delegated=delegated,
    )


def _verifying(target: Target) -> str:
    texts = ["export-explorer", target.call, "--verify"]
    texts += ["--model", target.model] if target.model else []
    texts += ["-d", target.dynamic] if target.dynamic else []
    texts += ["--strict"] if target.strict else []
    return shlex.join(texts)


def _explore_target(target: Target) -> Exploration:
    if target.call.endswith(".pt2"):
        return load(target.call, model=target.model or _only_program(target.call))
    call = run_named_call(target.call)
    return explore(
        call.model,
        call.args,
        call.kwargs,
        dynamic_shapes=target.dynamic,
        strict=target.strict,
        title=target.title,
    )


def _only_program(file: str) -> str:
    """The name of a file's one program. Raises ValueError if it holds several."""
    from export_engine.archive import program_names

    names = program_names(file)
    if len(names) > 1:
        raise ValueError(f"{file} contains several programs. Set model to one of {names}.")
    return names[0] if names else ""


def _problems(record: Record, release: Release) -> Iterator[Problem]:
    """What is wrong, with its place; a claim that is bad for another reason by its sentence."""
    if record.failure is not None:
        failure = record.failure
        place = _place(record, failure.stack)
        yield Problem(failure.code, "error", failure.kind, failure.sentence, *place)
    for row in record.findings:
        level = OF_FINDINGS[row.severity]
        yield Problem(row.code, level, row.heading, row.sentence, *_place(record, row.stack))
    for guarantee in record.verification.rows if record.verification else []:
        if guarantee.verdict == "broken":
            yield Problem(guarantee.code, "error", guarantee.claim, guarantee.sentence)
    for claim in release.items:
        if claim.state == "bad" and claim.name in ("export", "runs") and record.failure is None:
            yield Problem(claim.name, "error", claim.words, claim.sentence)


def _check_golden(explored: Exploration, target: Target, update: bool) -> Iterator[Problem]:
    if not target.golden or not explored.ok:
        return
    try:
        assert_same_export(explored, target.golden, update=update)
    except AssertionError as difference:
        text = str(difference).replace("pytest --update-exports", "export-explorer check --update")
        yield Problem(GOLDEN, "error", f"Differs from {target.golden}", text)


def _place(record: Record, stack: int) -> tuple[str, int]:
    from export_engine.source import find_last_frame

    frame = find_last_frame(record, stack)
    return ("", 0) if frame is None else (find_relative_path(record, frame.file), frame.line)

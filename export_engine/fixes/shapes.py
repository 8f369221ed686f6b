"""Fixes of the requested shapes: solved from the trace's facts, then confirmed by an export.

The failed trace shows which sizes are equal, derived, bounded or fixed, so the first confirming
export mostly succeeds. If torch cannot prove a valid Dim, the dim is left to torch (`*`), which
keeps the condition as a runtime check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from export_engine.attempt import (
    Agreement,
    Attempt,
    Exported,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    Trial,
)
from export_engine.capture import as_exported, model_kept
from export_engine.defects import passed_over
from export_engine.diagnose import SizeLookedUp, chain
from export_engine.error_text import error_text
from export_engine.fixes.example_range import widened
from export_engine.fixes.excluded_calls import allows, calls_without
from export_engine.fixes.kept_sizes import kept_sizes
from export_engine.fixes.shapes_spec_fix import shapes_spec_fix
from export_engine.fixes.tested_conditions import as_traced, taken_all_the_same
from export_engine.fixes.try_fixes import try_request
from export_engine.progress import Progress, Report
from export_engine.shapes import (
    CLOSEST,
    TRIED,
    InputDim,
    Named,
    Problem,
    Shapes,
    Spec,
    leaf_values,
    name_of,
    shapes_of,
    size_facts,
    solve,
    tied_names,
)
from export_engine.torch_internals import (
    callable_module,
    is_constraint_violation,
    violated_dims,
)
from export_engine.verify import run, runs_in_eager

_MOST_ROUNDS = 5
_BEYOND_DIMS = ("multiple", "tied", "fixed")
"""Problems that a Dim can say only as a derived one, or not at all."""
_SHOWN = 3
_NEAR = 4
_SETS = (
    " The call sets `{name}` of the model, which the program does not. If that makes room for "
    "longer inputs, call the model once with the longest, and export then."
)
"""In the text of a condition that no Dim says."""


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """Fixes of shapes for a diagnosed attempt, or why there is none."""
    if attempt.diagnosis is None:
        return
    if attempt.diagnosis.kind is Kind.EXAMPLE_OUT_OF_RANGE:
        yield from widened(attempt)
    elif isinstance(attempt.diagnosis.facts, SizeLookedUp):
        yield from _at_the_example(attempt, attempt.diagnosis.facts.dims)
    elif attempt.diagnosis.kind in (Kind.SHAPES_VIOLATED, Kind.ZERO_ONE):
        yield from _solved(attempt, progress)


@dataclass(frozen=True)
class _Answer:
    """Tried shapes, and the reasons for them."""

    shapes: Shapes
    problems: tuple[Problem, ...]
    attempt: Attempt

    @property
    def agreement(self) -> Agreement | None:
        """The comparison of the resulting program with eager, if made."""
        return self.attempt.agreement if isinstance(self.attempt, Exported) else None


def _solved(attempt: Failed, progress: Report | None) -> Iterator[Fix | NoFix]:
    before = shapes_of(attempt.request) if attempt.request else None
    answer = _search(attempt, progress)
    if before is None:
        return
    if answer is None:
        yield from shapes_spec_fix(attempt, before, (), progress, otherwise_lossy=True)
        return
    exported = answer.attempt if isinstance(answer.attempt, Exported) else None
    useless = _rejected_example(exported) if exported is not None else None
    if useless is not None:
        yield useless
        return
    lost = [problem for problem in answer.problems if problem.lossy]
    rejected = _rejected(answer, attempt.request)
    verdict = answer.agreement.verdict if answer.agreement else ""
    shapes = answer.shapes
    yield Fix(
        kind="shapes",
        title=_title(answer, lost),
        why=_why(answer, rejected),
        lossy=bool(lost) or verdict == "differs",
        narrows=bool(rejected) or verdict == "refused",
        gives_up=_given_up(answer, lost, rejected),
        change=lambda request: request.with_changes(shapes=shapes),
        before=str(before),
        after=str(shapes),
        stack=next((each.stack for each in (*lost, *answer.problems) if each.stack), ()),
        leads_to=exported,
    )
    if any(each.kind in _BEYOND_DIMS for each in answer.problems):
        stack = next((each.stack for each in answer.problems if each.stack), ())
        yield from shapes_spec_fix(attempt, shapes, stack, progress, otherwise_lossy=bool(lost))
    tied = [dim for each in answer.problems if each.kind == "tied" for dim in each.dims]
    if tied and _refused_by_the_model(answer):
        yield _kept(before, tied)


def _rejected_example(found: Exported) -> NoFix | None:
    """Why a program is not a fix: it rejects the example, as where the call replaces a table."""
    request, trials = found.request, found.agreement.trials if found.agreement else ()
    if request is None or not any(each.outcome == "refused" and not each.sizes for each in trials):
        return None
    try:
        with as_exported(request), model_kept(request.target):
            run(callable_module(found.program), request, seed=0)
    except Exception as error:  # noqa: BLE001 - a program may refuse by whatever it likes
        passed_over(error, "running a program on its example")
        said = f"With {request.shapes} it exports, but the program rejects the example: "
        changed = [each.name for each in found.recording.changes if each.owner == "attribute"]
        why = _SETS.format(name=changed[0]) if changed else ""
        return NoFix(f"{said}{error_text(error).rstrip('.')}.{why}")
    return None


def _kept(before: Shapes, dims: Sequence[InputDim]) -> Fix:
    """Pins sizes to the example if the model accepts hardly any others."""
    return kept_sizes(
        before,
        _places(dims),
        [name_of(each) for each in dims],
        why="Then the signature says which sizes are accepted, instead of rejecting nearly all "
        "of them at run time.",
        gives_up="The few other sizes that the model accepts.",
    )


def _at_the_example(attempt: Failed, dims: Sequence[InputDim]) -> Iterator[Fix]:
    """The sizes made static of which the code needs the number."""
    before = shapes_of(attempt.request) if attempt.request else None
    if before is None or attempt.diagnosis is None:
        return
    names = [name_of(each) for each in dims]
    listed = ", ".join(dict.fromkeys(names))
    yield kept_sizes(
        before,
        _places(dims),
        names,
        why="The program then has what the code looks up for this size.",
        gives_up=f"{listed} can only be {', '.join(dict.fromkeys(str(d.example) for d in dims))}",
        stack=attempt.diagnosis.stack,
    )


def _places(dims: Sequence[InputDim]) -> set[tuple[str, int]]:
    return {(each.place.path, max(each.place.position, 0)) for each in dims}


def _refused_by_the_model(answer: _Answer) -> Trial | None:
    """A call with other sizes that the model itself rejects, if it accepts few."""
    trials = [each for each in answer.agreement.trials if each.sizes] if answer.agreement else []
    failed = [each for each in trials if each.outcome == "eager-fails"]
    return failed[0] if 2 * len(failed) > len(trials) else None


def _search(attempt: Failed, progress: Report | None) -> _Answer | None:
    """Solves, exports to confirm, and solves again with that export's facts."""
    request = attempt.request
    facts = size_facts(attempt)
    if request is None or facts is None:
        return None
    problems: dict[str, Problem] = {}
    tried: set[Shapes] = {facts.shapes}
    automatic: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        solution = solve(facts, automatic)
        for problem in solution.problems:
            problems.setdefault(problem.text, problem)
        if solution.shapes in tried:  # it seems to hold, yet torch rejects it
            refused = (violated_dims(attempt.error) or set(facts.shapes.dims())) - automatic
            if not refused:
                return None
            automatic |= refused
            continue
        tried.add(solution.shapes)
        if progress:
            progress(Progress(0, 0, f"trying {solution.shapes}", "fix"))
        found = try_request(request.with_changes(shapes=solution.shapes))
        facts = size_facts(found) or facts
        if isinstance(found, Exported):
            again = solve(facts, automatic)
            problems |= {each.text: each for each in solve(facts).problems if each.lossy}
            answer = _Answer(solution.shapes, tuple(problems.values()), found)
            refuses = found.agreement is not None and found.agreement.verdict == "refused"
            lossy = any(each.lossy for each in again.problems)
            if refuses and again.shapes not in tried and not lossy:
                # a condition that only this trace came to says more than those before
                said = {(each.kind, each.dims) for each in again.problems}
                problems = {t: p for t, p in problems.items() if (p.kind, p.dims) not in said}
                continue
            return _tied_together(answer, request) or answer
        assert isinstance(found, Failed)
        if not any(is_constraint_violation(error) for error in chain(found.error)):
            return _Answer(solution.shapes, tuple(problems.values()), found)
        attempt = found
    return None


def _tied_together(answer: _Answer, request: Request) -> _Answer | None:
    """Shapes that unify dims of equal example size, if the program is only right that way.

    Code often uses one of two equal sizes for the other, which broadcasting hides from guards; the
    program then rejects sizes that eager accepts.
    """
    found = answer.attempt
    if not isinstance(found, Exported) or found.agreement is None:
        return None
    shapes, names = _unified(answer.shapes, leaf_values(request))
    if found.agreement.verdict != "refused" or not names:
        return None
    tied = try_request(request.with_changes(shapes=shapes))
    if not isinstance(tied, Exported) or tied.agreement is None:
        return None
    if tied.agreement.verdict != "agrees":
        return None
    problems = [
        Problem("equal", f"{name} must be equal to {first}", ()) for name, first in names.items()
    ]
    return _Answer(shapes, (*answer.problems, *problems), tied)


def _unified(shapes: Shapes, values: Mapping[str, Any]) -> tuple[Shapes, dict[str, str]]:
    """The shapes with one Dim for all dims of a size, and the name that each lost one has now."""
    firsts: dict[int, str] = {}
    names: dict[str, str] = {}
    for path, specs in shapes.leaves.items():
        value = values.get(path)
        sizes = value.shape if isinstance(value, torch.Tensor) else ()
        for spec, size in zip(specs, sizes, strict=False):
            if isinstance(spec, Named) and not spec.derived:
                first = firsts.setdefault(size, spec.name)
                if first != spec.name:
                    names.setdefault(spec.name, first)

    def renamed(spec: Spec) -> Spec:
        if not isinstance(spec, Named):
            return spec
        return replace(spec, name=names.get(spec.name, spec.name))

    leaves = {path: tuple(map(renamed, specs)) for path, specs in shapes.leaves.items()}
    return Shapes(leaves, shapes.bounds), names


def _title(answer: _Answer, lost: list[Problem]) -> str:
    """What it does to the shapes, in a few words."""
    if lost:
        names = list(dict.fromkeys(name_of(dim) for each in lost for dim in each.dims))
        return f"Keep {', '.join(names)} at the size of the example"
    texts = [each.text for each in answer.problems if each.kind != "tied"]
    if not texts:
        return "Let torch keep the condition as a runtime check"
    shown = list(dict.fromkeys(map(_formula, texts)))
    left = len(shown) - _SHOWN
    *others, last = [*shown[:_SHOWN], *([f"{left} more"] if left > 0 else [])]
    verb = "Bound" if all(re.search("[≤≥]", each) for each in shown) else "Require"
    verb += " that" if any(" is " in each for each in shown) else ""
    return f"{verb} " + (f"{', '.join(others)} and {last}" if others else last)


def _formula(text: str) -> str:
    """A problem's condition as a formula: `h must be at least 5` is `h ≥ 5`."""
    text = text.removesuffix(TRIED)
    for pattern, formula in _FORMULAS:
        if found := re.fullmatch(pattern, text):
            return found.expand(formula)
    return text


_FORMULAS = (
    (rf"(.+) must (?:not )?be .+{re.escape(CLOSEST)}(.+)\)", r"\1 is \2"),
    (r"(.+) must be (at most 2\*\*63 - 1), .+", r"\1 is \2"),
    (r"(.+) must be at most (\d+)", r"\1 ≤ \2"),
    (r"(.+) must be at least (\d+)", r"\1 ≥ \2"),
    (r"(.+) must be from (\d+) to (\d+)", r"\2 ≤ \1 ≤ \3"),
    (r"(.+) must be (odd|a multiple of .+|\d+ more than .+)", r"\1 is \2"),
    (r"(.+) must be (?:equal to )?(.+)", r"\1 = \2"),
    (r"(.+) can only be (.+)", r"\1 = \2"),
)


def _rejected(answer: _Answer, request: Request | None) -> dict[str, int]:
    """Conditions that only the example's path needs, each with a size that the model takes."""
    if request is None:
        return {}
    taken = {
        each.text: taken_all_the_same(each, request) or _beside(each, answer.shapes, request)
        for each in answer.problems
    }
    return {text: size for text, size in taken.items() if size is not None}


def _beside(problem: Problem, shapes: Shapes, request: Request) -> int | None:
    """A size near the example that the model takes, and a Dim that says only a part does not."""
    if CLOSEST not in problem.text or not problem.dims:
        return None
    example = problem.dims[0].example
    near = [each for far in range(1, _NEAR) for each in (example + far, example - far) if each > 1]
    for size, call in calls_without(request, replace(problem, excluded=tuple(near))):
        if not allows(shapes, call) and runs_in_eager(call):
            return size
    return None


def _with_names(answer: _Answer, rejected: Mapping[str, int]) -> Iterator[str]:
    """What is rejected though the model takes it: `seq = 6`."""
    tied = {each.text: name_of(each.changed[0]) for each in answer.problems if each.changed}
    for text, size in rejected.items():
        name, *narrowed = re.split(" must (?:not )?be ", text, maxsplit=1)
        if text in tied or narrowed:
            yield f"{tied.get(text, name)} = {size}"


def _why(answer: _Answer, rejected: Mapping[str, int]) -> str:
    """What the model requires, as opposed to only the example's path."""
    needed = (each.text for each in answer.problems if each.kind != "tied")
    said = "; ".join(dict.fromkeys(text for text in needed if text not in rejected))
    return f"The model requires: {said}." if said else ""


def _given_up(answer: _Answer, lost: list[Problem], rejected: Mapping[str, int]) -> str:
    """Sizes that the program rejects, and the conditions that remain runtime checks."""
    said = []
    for each in lost:
        because = f", because of the guard {each.condition}" if each.condition else ""
        size = rejected.get(each.text)
        said.append(f"{each.text if size is None else as_traced(each, size)}{because}")
    for call in dict.fromkeys(_with_names(answer, rejected)):
        said.append(f"The program rejects {call}, which the model takes")
    tied = [
        f"a relation of {names}" if (names := tied_names(each)) else each.condition
        for each in answer.problems
        if each.kind == "tied"
    ]
    if tied := list(dict.fromkeys(tied)):
        shown = "; ".join(tied[:_SHOWN]) + ("; …" if len(tied) > _SHOWN else "")
        said.append(f"The program checks at run time: {shown}")
        trial = _refused_by_the_model(answer)
        if trial is not None:
            sizes = _sizes(trial)
            said.append(
                f"The model accepts few other sizes. With {sizes} it raises: {trial.detail}"
            )
    agreement = answer.agreement
    if agreement is not None and agreement.baked:
        said.append(f"The program agrees with eager only by chance: {agreement.baked.rstrip('.')}")
    elif agreement is not None and agreement.verdict in ("differs", "refused"):
        trial = next(each for each in agreement.trials if each.outcome == agreement.verdict)
        verb = "differs from eager" if trial.outcome == "differs" else "is rejected by the program"
        sizes = _sizes(trial) or "The example"
        said.append(f"{sizes} {verb}: {trial.detail}" if trial.detail else f"{sizes} {verb}")
    return ". ".join(said)


def _sizes(trial: Trial) -> str:
    return ", ".join(f"{name} = {size}" for name, size in trial.sizes.items())

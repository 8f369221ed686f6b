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
from export_engine.defects import log_internal_error
from export_engine.diagnose import SizeLookedUp, chain
from export_engine.error_text import error_text
from export_engine.fixes.assumptions import make_static, shapes_spec_fix
from export_engine.fixes.examples import iter_wider_ranges
from export_engine.fixes.try_fixes import change_shapes, read_failure, try_request, try_shapes
from export_engine.in_eager import allows, as_traced, calls_without, find_accepted_size
from export_engine.record import sizes_shown
from export_engine.shapes import Named, Shapes, Spec
from export_engine.torch_internals import (
    callable_module,
    find_violated_dims,
    is_constraint_violation,
)
from export_engine.traced_sizes import (
    CLOSEST,
    TRIED,
    InputDim,
    ShapeViolation,
    leaf_values,
    list_tied_names,
    name_of,
    size_facts,
    solve,
)
from export_engine.verify import run, runs_in_eager

_MOST_ROUNDS = 5
_BEYOND_DIMS = ("multiple", "tied", "fixed")
"""Problems that a Dim can say only as a derived one, or not at all."""
_SHOWN = 3
_NEAR = 4
_SETS = (
    " The call sets `{name}` on the model; the program does not. If this makes room for longer "
    "inputs, call the model with the longest before the export."
)
"""In the text of a condition that no Dim says."""


def suggest_shapes(attempt: Failed) -> Iterator[Fix | NoFix]:
    """Fixes of shapes for a diagnosed attempt, or why there is none."""
    _, diagnosis = read_failure(attempt)
    if diagnosis.kind is Kind.EXAMPLE_OUT_OF_RANGE:
        yield from iter_wider_ranges(attempt)
    elif isinstance(diagnosis.facts, SizeLookedUp):
        yield from _at_the_example(attempt, diagnosis.facts.dims)
    elif diagnosis.kind in (Kind.SHAPES_VIOLATED, Kind.ZERO_ONE):
        yield from _suggest_solutions(attempt)


def suggest_untried(attempt: Failed) -> Iterator[Fix]:
    """Beside a better fix: the shapes that the failed trace allows, without an export of them."""
    request, diagnosis = read_failure(attempt)
    before, facts = request.shapes, size_facts(attempt)
    if before is not None and facts is not None and diagnosis.kind is Kind.SHAPES_VIOLATED:
        solution = solve(facts)
        if solution.problems and all(problem.kind != "tied" for problem in solution.problems):
            yield _as_fix(_Answer(solution.shapes, solution.problems, attempt), before, attempt)


@dataclass(frozen=True)
class _Answer:
    """Tried shapes, and the reasons for them."""

    shapes: Shapes
    problems: tuple[ShapeViolation, ...]
    attempt: Attempt

    @property
    def agreement(self) -> Agreement | None:
        """The comparison of the resulting program with eager, if made."""
        return self.attempt.agreement if isinstance(self.attempt, Exported) else None


def _suggest_solutions(attempt: Failed) -> Iterator[Fix | NoFix]:
    before, answer = read_failure(attempt)[0].shapes, _search(attempt)
    if before is None:
        return
    if answer is None:
        yield from shapes_spec_fix(attempt, before, (), otherwise_lossy=True)
        return
    exported = answer.attempt if isinstance(answer.attempt, Exported) else None
    if exported is not None and (useless := _find_rejected_example(exported)) is not None:
        yield useless
        return
    yield _as_fix(answer, before, attempt)
    if any(problem.kind in _BEYOND_DIMS for problem in answer.problems):
        stack = next((problem.stack for problem in answer.problems if problem.stack), ())
        lossy = any(problem.lossy for problem in answer.problems)
        yield from shapes_spec_fix(attempt, answer.shapes, stack, otherwise_lossy=lossy)
    tied = [dim for problem in answer.problems if problem.kind == "tied" for dim in problem.dims]
    if tied and _find_model_refusal(answer):
        yield _pin_sizes(before, tied)


def _as_fix(answer: _Answer, before: Shapes, attempt: Failed) -> Fix:
    """The fix that solved shapes are, with what they give up."""
    lost = [problem for problem in answer.problems if problem.lossy]
    rejected = _find_rejected(answer, attempt.request)
    verdict = answer.agreement.verdict if answer.agreement else ""
    return change_shapes(
        before,
        answer.shapes,
        title=_title(answer, lost),
        why=_why(answer, rejected),
        lossy=bool(lost) or verdict == "differs",
        narrows=bool(rejected) or verdict == "refused",
        gives_up=_describe_cost(answer, lost, rejected),
        stack=next((problem.stack for problem in (*lost, *answer.problems) if problem.stack), ()),
        leads_to=answer.attempt if isinstance(answer.attempt, Exported) else None,
    )


def _find_rejected_example(found: Exported) -> NoFix | None:
    """Why a program is not a fix: it rejects the example, as where the call replaces a table."""
    request = found.request
    if request is None or not found.rejects_example:
        return None
    try:
        with as_exported(request), model_kept(request.target):
            run(callable_module(found.program), request, seed=0)
    except Exception as error:  # noqa: BLE001 - a program may refuse by whatever it likes
        log_internal_error(error, "running a program on its example")
        text = f"With {request.shapes} it exports, but the program rejects the example: "
        changed = [change.name for change in found.recording.changes if change.owner == "attribute"]
        why = _SETS.format(name=changed[0]) if changed else ""
        return NoFix(f"{text}{error_text(error).rstrip('.')}.{why}")
    return None


def _pin_sizes(before: Shapes, dims: Sequence[InputDim]) -> Fix:
    """Pins sizes to the example if the model accepts hardly any others."""
    return make_static(
        before,
        _places(dims),
        [name_of(dim) for dim in dims],
        why="The signature then lists the accepted sizes; now the program rejects nearly all "
        "sizes at run time.",
        gives_up="The few other sizes that the model accepts.",
    )


def _at_the_example(attempt: Failed, dims: Sequence[InputDim]) -> Iterator[Fix]:
    """The sizes made static of which the code needs the number."""
    request, diagnosis = read_failure(attempt)
    before, names = request.shapes, [name_of(dim) for dim in dims]
    if before is None:
        return
    listed = ", ".join(dict.fromkeys(names))
    yield make_static(
        before,
        _places(dims),
        names,
        why="The program then contains the value that the code looks up for this size.",
        gives_up=f"{listed} can only be {', '.join(dict.fromkeys(str(d.example) for d in dims))}",
        stack=diagnosis.stack,
    )


def _places(dims: Sequence[InputDim]) -> set[tuple[str, int]]:
    return {(dim.place.path, max(dim.place.position, 0)) for dim in dims}


def _find_model_refusal(answer: _Answer) -> Trial | None:
    """A call with other sizes that the model itself rejects, if it accepts few."""
    trials = [trial for trial in answer.agreement.trials if trial.sizes] if answer.agreement else []
    failed = [trial for trial in trials if trial.outcome == "eager-fails"]
    return failed[0] if 2 * len(failed) > len(trials) else None


def _search(attempt: Failed) -> _Answer | None:
    """Solves, exports to confirm, and solves again with that export's facts."""
    (request, _), facts = read_failure(attempt), size_facts(attempt)
    if facts is None:
        return None
    problems: dict[str, ShapeViolation] = {}
    tried: set[Shapes] = {facts.shapes}
    automatic: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        solution = solve(facts, automatic)
        for problem in solution.problems:
            problems.setdefault(problem.text, problem)
        if solution.shapes in tried:  # it seems to hold, yet torch rejects it
            refused = (find_violated_dims(attempt.error) or set(facts.shapes.dims())) - automatic
            if not refused:
                return None
            automatic |= refused
            continue
        tried.add(solution.shapes)
        result = try_shapes(request, solution.shapes)
        facts = size_facts(result) or facts
        if isinstance(result, Exported):
            again = solve(facts, automatic)
            problems |= {p.text: p for p in solve(facts).problems if p.lossy}
            answer = _Answer(solution.shapes, tuple(problems.values()), result)
            lossy = any(p.lossy for p in again.problems)
            if result.verdict == "refused" and again.shapes not in tried and not lossy:
                # a condition that only this trace came to says more than those before
                pairs = {(p.kind, p.dims) for p in again.problems}
                problems = {t: p for t, p in problems.items() if (p.kind, p.dims) not in pairs}
                continue
            return _unify_equal_dims(answer, request) or answer
        assert isinstance(result, Failed)
        if not any(is_constraint_violation(error) for error in chain(result.error)):
            return _Answer(solution.shapes, tuple(problems.values()), result)
        attempt = result
    return None


def _unify_equal_dims(answer: _Answer, request: Request) -> _Answer | None:
    """Shapes that unify dims of equal example size, if the program is only right that way.

    Code often uses one of two equal sizes for the other, which broadcasting hides from guards; the
    program then rejects sizes that eager accepts.
    """
    attempt = answer.attempt
    if not isinstance(attempt, Exported):
        return None
    shapes, names = _unify(answer.shapes, leaf_values(request))
    if attempt.verdict != "refused" or not names:
        return None
    tied = try_request(request.with_changes(shapes=shapes))
    if not isinstance(tied, Exported) or tied.verdict != "agrees":
        return None
    problems = [
        ShapeViolation("equal", f"{name} must be equal to {f}", ()) for name, f in names.items()
    ]
    return _Answer(shapes, (*answer.problems, *problems), tied)


def _unify(shapes: Shapes, values: Mapping[str, Any]) -> tuple[Shapes, dict[str, str]]:
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

    def rename(spec: Spec) -> Spec:
        if not isinstance(spec, Named):
            return spec
        return replace(spec, name=names.get(spec.name, spec.name))

    leaves = {path: tuple(map(rename, specs)) for path, specs in shapes.leaves.items()}
    return replace(shapes, leaves=leaves), names


def _title(answer: _Answer, lost: list[ShapeViolation]) -> str:
    """Its effect on the shapes, in a few words."""
    if lost:
        names = list(dict.fromkeys(name_of(dim) for problem in lost for dim in problem.dims))
        return f"Keep {', '.join(names)} at the size of the example"
    texts = [problem.text for problem in answer.problems if problem.kind != "tied"]
    if not texts:
        return "Keep the condition as a runtime assertion"
    shown = list(dict.fromkeys(map(_formula, texts)))
    left = len(shown) - _SHOWN
    *others, last = [*shown[:_SHOWN], *([f"{left} more"] if left > 0 else [])]
    verb = "Bound" if all(re.search("[≤≥]", value) for value in shown) else "Require"
    verb += " that" if any(" is " in text for text in shown) else ""
    return f"{verb} " + (f"{', '.join(others)} and {last}" if others else last)


def _formula(text: str) -> str:
    """A problem's condition as a formula: `h must be at least 5` is `h ≥ 5`."""
    text = text.removesuffix(TRIED)
    for pattern, formula in _FORMULAS:
        if match := re.fullmatch(pattern, text):
            return match.expand(formula)
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


def _find_rejected(answer: _Answer, request: Request | None) -> dict[str, int]:
    """Conditions that only the example's path needs, each with a size that the model takes."""
    if request is None:
        return {}
    taken = {
        p.text: find_accepted_size(p, request) or _beside(p, answer.shapes, request)
        for p in answer.problems
    }
    return {text: size for text, size in taken.items() if size is not None}


def _beside(problem: ShapeViolation, shapes: Shapes, request: Request) -> int | None:
    """A size near the example that the model takes, and a Dim that says only a part does not."""
    if CLOSEST not in problem.text or not problem.dims:
        return None
    example = problem.dims[0].example
    near = [n for far in range(1, _NEAR) for n in (example + far, example - far) if n > 1]
    for size, call in calls_without(request, replace(problem, excluded=tuple(near))):
        if not allows(shapes, call) and runs_in_eager(call):
            return size
    return None


def _with_names(answer: _Answer, rejected: Mapping[str, int]) -> Iterator[str]:
    """What is rejected though the model takes it: `seq = 6`."""
    tied = {p.text: name_of(p.changed[0]) for p in answer.problems if p.changed}
    for text, size in rejected.items():
        name, *narrowed = re.split(" must (?:not )?be ", text, maxsplit=1)
        if text in tied or narrowed:
            yield f"{tied.get(text, name)} = {size}"


def _why(answer: _Answer, rejected: Mapping[str, int]) -> str:
    """Conditions that the model requires, not only the example's path.

    A program that rejects only sizes 0 and 1, of which torch assumes that no dynamic size is one,
    loses nothing that the call asked for: the reason mentions it, and the fix stays lossless.
    """
    needed = (problem.text for problem in answer.problems if problem.kind != "tied")
    message = "; ".join(dict.fromkeys(text for text in needed if text not in rejected))
    texts = [f"The model requires: {message}."] if message else []
    agreement = answer.agreement
    if (
        agreement is not None
        and agreement.verdict == "agrees"
        and (told := _describe_refused(answer))
    ):
        texts.append(f"{told}. torch assumes that no dynamic size is 0 or 1.")
    return " ".join(texts)


def _describe_cost(answer: _Answer, lost: list[ShapeViolation], rejected: Mapping[str, int]) -> str:
    """Sizes that the program rejects, and the conditions that remain runtime checks."""
    texts = []
    for problem in lost:
        because = f", because of the guard {problem.condition}" if problem.condition else ""
        size = rejected.get(problem.text)
        texts.append(f"{problem.text if size is None else as_traced(problem, size)}{because}")
    for call in dict.fromkeys(_with_names(answer, rejected)):
        texts.append(f"The program rejects {call}, which the model accepts")
    tied = [
        f"a relation of {names}" if (names := list_tied_names(p)) else p.condition
        for p in answer.problems
        if p.kind == "tied"
    ]
    if tied := list(dict.fromkeys(tied)):
        shown = "; ".join(tied[:_SHOWN]) + ("; …" if len(tied) > _SHOWN else "")
        texts.append(f"The program checks at run time: {shown}")
        trial = _find_model_refusal(answer)
        if trial is not None:
            sizes = sizes_shown(trial.sizes)
            texts.append(
                f"The model accepts few other sizes. With {sizes} it raises: {trial.detail}"
            )
    agreement = answer.agreement
    if agreement is not None and agreement.baked:
        texts.append(f"The program matches eager only by chance: {agreement.baked.rstrip('.')}")
    elif agreement is not None and agreement.verdict == "differs":
        trial = next(trial for trial in agreement.trials if trial.outcome == "differs")
        texts.append(
            f"{sizes_shown(trial.sizes) or 'The example'} differs from eager: {trial.detail}"
        )
    elif agreement is not None and agreement.verdict == "refused":
        texts.append(_describe_refused(answer))
    return ". ".join(texts)


def _describe_refused(answer: _Answer) -> str:
    """A call that eager accepts and the program rejects, and why; empty if there is none."""
    trials = answer.agreement.trials if answer.agreement is not None else ()
    refused = [trial for trial in trials if trial.outcome == "refused"]
    if not refused:
        return ""
    usual = next((trial for trial in refused if min(trial.sizes.values(), default=2) > 1), None)
    trial = usual or refused[0]
    text = f"{sizes_shown(trial.sizes) or 'The example'} is rejected by the program"
    return f"{text}: {trial.detail}" if trial.detail else text

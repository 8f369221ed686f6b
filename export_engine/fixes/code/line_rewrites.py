"""Code fixes: rewrites of the failing line, in memory, and tried.

Only sound rewrites: what cannot keep its meaning is refused, with the reason. A rewrite is offered
if the call then exports and agrees with eager, or fails somewhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from export_engine.attempt import Diagnosis, Edit, Failed, Fix, Kind, NoFix, text_in_effect
from export_engine.diagnose import SizeLookedUp, SizesViolated, UnbackedSize
from export_engine.fixes.code import line_rules
from export_engine.fixes.code.branches.branch_copies import clone_branch_results, clone_new_operands
from export_engine.fixes.code.calls.numpy_to_torch import with_torch
from export_engine.fixes.code.editing.eager_trials import agrees, agrees_at
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Rewritten, Source
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import Location, Span, original_file
from export_engine.traced_sizes import assumable, with_size

__all__ = ["suggest_rewrites"]


class Way(NamedTuple):
    """A rewrite of a line, and what is said of it."""

    title: str
    """With `{line}`, `{function}`, and `{changed}`: the first line that is rewritten."""
    why: str
    rewrite: Callable[[str, int], Rewritten]
    gives_up: str = ""
    refusal: str = ""
    """Why there is no fix where the rewrite answers otherwise in eager, or does not fit."""
    trial: Callable[[Failed, Edit], bool] | None = None
    """Whether the rewrite answers alike, tried in eager before it is exported."""
    judge: Callable[[Failed, Fix], Fix] | None = None
    """What the fix gives up, by the program that it leads to."""
    of_stack: bool = False
    """Whether the functions that lead to the line are rewritten, too, where it is not."""
    loses_writes: bool = False
    """Whether the program may lack what eager writes to its inputs."""


def _agrees_at_other_sizes(attempt: Failed, edit: Edit) -> bool:
    """Whether the edited model answers alike at sizes that differ a little from the example's."""
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    facts = diagnosis.facts if diagnosis is not None else None
    groups = [facts.dims] if isinstance(facts, SizeLookedUp) else []
    if isinstance(facts, SizesViolated):
        groups = [problem.dims for problem in facts.problems]
    others = [
        with_size(request, [dim.place for dim in dims], dims[0].example + step)
        for dims in groups
        for step in (1, 2)
    ]
    return agrees_at(request, edit, others)


def _agrees(attempt: Failed, edit: Edit) -> bool:
    assert attempt.request is not None
    return agrees(attempt.request, edit)


def _judge_guard(attempt: Failed, fix: Fix) -> Fix:
    """Lossless where the program agrees at sizes where the condition holds, and where not."""
    facts = attempt.diagnosis.facts if attempt.diagnosis is not None else None
    asked = assumable(attempt, facts.asked) if isinstance(facts, UnbackedSize) else []
    agreement = fix.leads_to.agreement if fix.leads_to is not None else None
    answers = {
        all(relation.holds(trial.sizes) for relation in asked)
        for trial in (agreement.trials if agreement is not None else ())
        if trial.outcome == "agrees"
        and all(trial.sizes.keys() >= {*relation.names} for relation in asked)
    }
    agrees = agreement is not None and agreement.verdict == "agrees"
    if asked and agrees and answers == {True, False}:
        return fix
    return replace(
        fix,
        lossy=True,
        gives_up="The program takes the False branch even if the condition is True, and not all "
        "such sizes were compared with eager.",
    )


def _without_numpy(text: str, line: int) -> Rewritten:
    """The function in torch, where NumPy is called at a line that fails by a size."""
    source = Source(text, line)
    if not any(f"{name}." in text.split("\n")[line - 1] for name in source.names_of("numpy")):
        raise CannotRewrite("the line does not call NumPy")
    return with_torch(text, line)


_NUMPY = Way(
    "Replace NumPy with torch in `{function}`",
    "torch has the same functions as ops, which the graph can capture.",
    with_torch,
    refusal="NumPy cannot be replaced with torch here: {reason}.",
)
_NUMPY_OF_SIZE = _NUMPY._replace(rewrite=_without_numpy, refusal="")
_MESSAGE = Way(
    "Skip the message in line {line} while exporting",
    "The message formats numbers, and no output depends on it.",
    line_rules.skip_message,
    gives_up="The program does not print, log or warn.",
)
_WRITE = Way(
    "Write through detach() in line {line}",
    "Like `.data`, `detach()` shares memory and records no gradient, but tracing captures the "
    "write.",
    line_rules.write_in_the_open,
)
_COPY = Way(
    "Clone in line {line}",
    "A branch of torch.cond must return new tensors and must not mutate its inputs.",
    clone_branch_results,
)
_COPY_NEW = _COPY._replace(rewrite=clone_new_operands)
_COPY_WRITTEN = _COPY._replace(
    gives_up="The branch writes to a copy, so its caller does not see the new values.",
    loses_writes=True,
)
_BOOL = Way(
    "Make the flag in line {line} a plain bool",
    "The op does not accept a SymBool. With a plain bool, Python decides it for all sizes in the "
    "range.",
    line_rules.pass_plain_bools,
)
_UNCHECKED = Way(
    "Set validate_args=False in `{function}`",
    "torch.distributions then does not read the values of its arguments to validate them.",
    line_rules.disable_validation,
    gives_up="The program accepts arguments that the distribution rejects.",
)
_COPIED = Way(
    "Copy tensors with torch in `{function}`",
    "`view_as` shares memory, like `copy.copy`; `clone` copies it. torch traces both.",
    line_rules.copy_by_torch,
)
_AS_EAGER = Way(
    "Take eager's path in line {changed}, which checks for tracing",
    "The code takes a different path while tracing and fails there. Eager's path is what the "
    "model computes when called.",
    line_rules.answer_as_eager,
    of_stack=True,
)
_CACHE = Way(
    "Compute without the cache in line {line}",
    "A SymInt is not hashable, so it cannot be a dict key. The program computes the value from "
    "the size instead. Compared with eager at other sizes.",
    line_rules.drop_cache,
    trial=_agrees_at_other_sizes,
)
_GUARD = Way(
    "Use guard_or_false in line {line}",
    "guard_or_false returns False if tracing cannot decide, so the False branch is traced for "
    "every size.",
    line_rules.wrap_in_guards,
    refusal="Cannot use guard_or_false here: {reason}.",
    judge=_judge_guard,
)
"""Code often checks a size only to take a fast path, and the other path is right for every size."""


def _drop_conversion(span: Span, place: Location) -> Way:
    """A module that is converted at a place, without that; no trace can replace parameters."""
    below = span.line - place.line
    return Way(
        "Drop the conversion in line {line}",
        "The module already has that dtype and device, and returns the same without the "
        "conversion.",
        lambda text, line: line_rules.drop_conversion(text, line + below, span.column),
        refusal="Cannot drop the conversion: without it, the model returns a different result.",
        trial=_agrees,
    )


def _find_ways(diagnosis: Diagnosis) -> list[Way]:
    """What may help at a line, the likeliest first; each refuses code that it does not fit."""
    match diagnosis.kind:
        case Kind.BRANCH_ON_DATA | Kind.BRANCH_ON_UNBACKED:
            return [_UNCHECKED]
        case Kind.SHAPES_VIOLATED:
            return [_CACHE, _MESSAGE, _NUMPY_OF_SIZE]
        case Kind.UNBACKED_SIZE:
            return [_MESSAGE, _GUARD]
        case Kind.NUMPY:
            return [_NUMPY]
        case Kind.DATA_WRITE:
            return [_WRITE]
        case Kind.COND_ALIASES:
            return [_COPY]
        case Kind.COND_MUTATES:
            return [_COPY_NEW, _COPY_WRITTEN]
        case Kind.OUTPUT_FROM_DATA:
            return [_MESSAGE, _COPIED, _UNCHECKED, _NUMPY_OF_SIZE]
        case Kind.GRAPH_BREAK:
            return [_MESSAGE, _UNCHECKED, _BOOL, _COPIED, _NUMPY_OF_SIZE]
        case Kind.TENSOR_LEAK:
            return [_COPIED, _AS_EAGER]
        case Kind.OWN_ERROR:
            return [_BOOL, _NUMPY_OF_SIZE, _AS_EAGER]
        case Kind.OPERATOR_FAILED:
            return [_BOOL, _AS_EAGER]
        case Kind.UNKNOWN:
            return [_AS_EAGER]
        case Kind.MODULE_CHANGED if diagnosis.span is not None:
            return [_drop_conversion(diagnosis.span, diagnosis.stack[-1])]
    return []


def suggest_rewrites(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The first rewrite of the diagnosed line that leads on."""
    diagnosis = attempt.diagnosis
    texts: set[str] = set()
    for way in _find_ways(diagnosis) if diagnosis is not None and diagnosis.stack else ():
        assert diagnosis is not None
        for place in reversed(diagnosis.stack) if way.of_stack else diagnosis.stack[-1:]:
            offered = _try(attempt, way, place, texts, progress)
            if offered is not None:
                yield offered
            if isinstance(offered, Fix):
                return


def _try(
    attempt: Failed, way: Way, place: Location, texts: set[str], progress: Report | None
) -> Fix | NoFix | None:
    """A way at a line, tried; None where it does not fit the code, or does not lead on."""
    request, diagnosis = attempt.request, attempt.diagnosis
    assert diagnosis is not None
    if request is None:
        return None
    text, line = text_in_effect(request.edits, place.file, place.line)
    try:
        rewritten = way.rewrite(text, line)
    except CannotRewrite as reason:
        return NoFix(way.refusal.format(reason=reason)) if "{reason}" in way.refusal else None
    if rewritten.text in texts or rewritten.text == text:
        return None
    texts.add(rewritten.text)
    edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
    pairs = zip(text.split("\n"), rewritten.text.split("\n"), strict=False)
    changed = next(n for n, (before, after) in enumerate(pairs, 1) if before != after)
    title = way.title.format(line=place.line, function=place.function, changed=changed)
    if progress:
        progress(Progress(0, 0, title, "fix"))
    if way.trial is not None and not way.trial(attempt, edit):
        return NoFix(way.refusal) if way.refusal else None
    fix = code_fix(
        request,
        diagnosis,
        edit,
        title=title,
        why=way.why,
        gives_up=way.gives_up,
        loses_writes=way.loses_writes,
    )
    return way.judge(attempt, fix) if way.judge is not None and fix is not None else fix

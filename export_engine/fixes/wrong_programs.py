"""Fixes of a program that torch.export gave, and that is not the model: of all of it, or at sizes.

Two inputs that are one tensor in the example are one in the program. Where the outputs differ from
eager, or the program rejects a call that eager accepts, the other mode may see what this one does
not: a write through `.data`, say, or the end of an autocast. torch traces as if no size were 0 or
1, and takes the branch of larger ones; the program accepts both. Either both branches go into the
program, or the sizes are kept out of it. Each fix is tried at the same sizes as Verify.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from export_engine.attempt import Attempt, Exported, Fix, Option, Request, Trial, text_in_effect
from export_engine.findings import Finding, Kind, copies_of_shared_inputs
from export_engine.fixes import export_options, other_mode
from export_engine.fixes.assumptions import with_answers
from export_engine.fixes.code import size_branches
from export_engine.fixes.code.text_edits import CannotRewrite, Source, spans
from export_engine.fixes.code.try_edit import make_fix, try_edit
from export_engine.fixes.rewrite import offer
from export_engine.fixes.rewrite.rewriting import rewrite
from export_engine.fixes.try_fixes import change_shapes, tell, telling, try_request
from export_engine.in_eager import as_failure
from export_engine.progress import Report
from export_engine.record import sizes_shown
from export_engine.shapes import Bounds, Shapes, ShapesError
from export_engine.source import Stack, is_own, original_file
from export_engine.torch_internals import missing_shapes_spec
from export_engine.traced_sizes import example_sizes, leaf_values
from export_engine.verify import Verified, line_shown


def of_program(attempt: Attempt) -> Iterator[Fix]:
    """Lossless fixes of an attempt that exported; none where nothing is known to be wrong."""
    if not isinstance(attempt, Exported) or attempt.request is None:
        return
    copied = copies_of_shared_inputs(attempt)
    if copied is not None:
        yield copied
    if attempt.verdict in ("differs", "refused"):
        yield from _at_a_size(attempt)
        yield from _keeping_all_sizes(attempt)
        yield from other_mode.of_program(attempt)


def _at_a_size(attempt: Exported) -> Iterator[Fix]:
    """Lossless fixes of a program that differs from eager at some sizes, and agrees at others."""
    wrong = next((t for t in attempt.trials if t.outcome == "differs" and t.place), None)
    if wrong is not None:
        fixes = mend_wrong_size(attempt, wrong, attempt.trials)
        yield from (fix for fix in fixes if not fix.lossy and not fix.narrows)


def _keeping_all_sizes(attempt: Exported) -> Iterator[Fix]:
    """Fixes of the condition by which a program rejects sizes that eager takes."""
    failure = as_failure(attempt)
    if failure is None:
        return
    for offered in (size_branches.suggest_size_branch, export_options.keeping_all_sizes):
        fixes = [fix for fix in offered(failure) if not fix.lossy and not fix.narrows]
        yield from fixes
        if fixes:
            return


_SMALL = 2
_MOST_FIXES = 3
_MOST_ROUNDS = 4
_OPTIONS: tuple[tuple[Option, ...], ...] = (
    ("backed_size_oblivious",),
    ("backed_size_oblivious", "prefer_deferred_runtime_asserts_over_guards"),
)


def find_wrong_size(
    exported: Exported, verified: Verified, progress: Report | None = None
) -> tuple[Finding, ...]:
    """The finding of a program that Verify found to differ from eager at some sizes, with fixes.

    None where it differs everywhere: then no size is the reason.
    """
    trial = verified.wrong_size
    if trial is None or exported.request is None:
        return ()
    at = sizes_shown(trial.sizes)
    asks = f": {line_shown(trial.place)} checks for it" if trial.place else ""
    items = mend_wrong_size(exported, trial, verified.trials)
    with telling(progress):
        fixes = tuple(islice(items, _MOST_FIXES))
    return (
        Finding(
            kind=Kind.WRONG_SIZE,
            severity="wrong",
            sentence=f"The program differs from eager at {at}{asks}.",
            why=_why(trial),
            stack=(trial.place,) if trial.place else (),
            fix=fixes[0] if fixes else None,
            more=fixes[1:],
        ),
    )


def _why(trial: Trial) -> str:
    if any(size < _SMALL for size in trial.sizes.values()):
        return (
            "torch assumes that no size is 0 or 1, so the program contains the branch for larger "
            f"sizes but still accepts 0 and 1. Verify ran both: {trial.detail}."
        )
    return (
        "The trace follows the example's sizes, but the program also accepts these. Verify ran "
        f"both: {trial.detail}."
    )


def mend_wrong_size(exported: Exported, trial: Trial, trials: Iterable[Trial]) -> Iterator[Fix]:
    """Fixes with which the program agrees with eager, or does not take the sizes; tried."""
    request = exported.request
    if request is None or not trial.sizes:
        return
    stack: Stack = (trial.place,) if trial.place else ()
    wrong = [t.sizes for t in trials if t.outcome == "differs"]
    keep_out = partial(_keep_out, wrong=wrong)
    for make in (_keep_both, _as_spec, _with_options, keep_out):
        tell(f"trying a fix for {sizes_shown(trial.sizes)}")
        yield from make(request, trial, stack)


def _keep_both(request: Request, trial: Trial, stack: Stack) -> Iterator[Fix]:
    """The branch as torch.cond, so that the size of a call selects one."""
    place = trial.place
    if place is None or not is_own(original_file(place.file)):
        return
    text, line = text_in_effect(request.edits, original_file(place.file), place.line)
    for of_tensor in (False, True):
        try:
            asked = _ask_tensor(text, line) if of_tensor else text
            rewritten = rewrite(request, original_file(place.file), asked, line)
        except CannotRewrite:
            continue
        edit = replace(rewritten.edit, before=text)
        attempt = try_edit(request, edit)
        if not isinstance(attempt, Exported) or _outcome(attempt, trial) != "agrees":
            continue
        why = "The program contains both branches, and the size at run time selects one. "
        why += _describe_agreement(trial)
        title = offer.title_of(rewritten)
        yield make_fix(request, edit, attempt, title=title, why=why, stack=stack)
        return


def _ask_tensor(text: str, line: int) -> str:
    """A text whose test on a line asks a tensor, where torch would decide that of a size itself."""
    source = Source(text, line)
    branches = [n for n in ast.walk(source.function) if isinstance(n, ast.If | ast.IfExp)]
    for test in (branch.test for branch in branches if spans(branch.test, line)):
        old, size, end = test, test, " != 0"
        match test:
            case ast.Compare(left, [_], [right]):
                old = size = right if isinstance(left, ast.Constant) else left
                end = ""
            case ast.UnaryOp(ast.Not(), size):
                end = " == 0"
        if end and not isinstance(size, ast.Attribute | ast.Subscript | ast.Name | ast.Call):
            return text
        return source.replace([source.put(old, _TENSOR.format(source.of(size)) + end)]).text
    return text


_TENSOR = "torch.scalar_tensor({}, dtype=torch.int64)"


def _as_spec(request: Request, trial: Trial, stack: Stack) -> Iterator[Fix]:
    """A ShapesSpec, whose sizes are not assumed to be other than 0 and 1."""
    before = request.shapes
    if before is None or before.unbacked or missing_shapes_spec():
        return
    try:
        asked = before.to_spec()
    except ShapesError:
        return
    attempt = try_request(request.with_changes(shapes=asked))
    after, attempt = with_answers(attempt, request, asked, _MOST_ROUNDS)
    if not isinstance(attempt, Exported) or (outcome := _outcome(attempt, trial)) == "differs":
        return
    yield change_shapes(
        before,
        after,
        title="Use a ShapesSpec",
        why="The sizes of a ShapesSpec are unbacked: torch allows 0 and 1. "
        f"{_describe_agreement(trial) if outcome == 'agrees' else ''}".rstrip(),
        narrows=outcome == "refused",
        gives_up="" if outcome == "agrees" else export_options.describe_rejected(trial.sizes),
        stack=stack,
        leads_to=attempt,
    )


def _with_options(request: Request, trial: Trial, stack: Stack) -> Iterator[Fix]:
    """torch's options by which it keeps the condition, and the program rejects what breaks it."""
    for options in _OPTIONS:
        if request.options.issuperset(options):
            continue
        attempt = try_request(export_options.with_options(request, options))
        if not isinstance(attempt, Exported) or (outcome := _outcome(attempt, trial)) == "differs":
            continue
        yield Fix(
            kind="options",
            title=export_options.title_of_options(options),
            why="torch then allows sizes 0 and 1, and keeps the condition. "
            + (_describe_agreement(trial) if outcome == "agrees" else ""),
            narrows=outcome == "refused",
            gives_up="" if outcome == "agrees" else export_options.describe_rejected(trial.sizes),
            change=partial(export_options.with_options, options=options),
            after=" ".join(options),
            stack=stack,
            leads_to=attempt,
        )
        return


def _keep_out(
    request: Request, trial: Trial, stack: Stack, wrong: Sequence[Mapping[str, int]]
) -> Iterator[Fix]:
    """Bounds of the shapes that leave the sizes out: `batch[2..]`."""
    before = request.shapes
    bounds = _bounds_without(request, before, wrong) if before is not None else {}
    if before is None or not bounds:
        return
    after = replace(before, bounds={**before.bounds, **bounds})
    attempt = try_request(request.with_changes(shapes=after))
    if not isinstance(attempt, Exported) or attempt.verdict != "agrees":
        return
    groups = before.dims()
    limits = [
        f"{name} at least {low}" if low != groups[name].low else f"{name} at most {high}"
        for name, (low, high) in bounds.items()
    ]
    unenforced = any((low or 0) <= _SMALL for low, _ in bounds.values())
    passes = " torch does not reject calls at 0 or 1." if unenforced else ""
    yield change_shapes(
        before,
        after,
        title=f"Keep {' and '.join(limits)}",
        why=f"The signature then excludes {sizes_shown(trial.sizes)}, where the program is wrong.",
        narrows=True,
        gives_up=f"Calls at {sizes_shown(trial.sizes)}, which the model accepts.{passes}",
        stack=stack,
        leads_to=attempt,
    )


def _bounds_without(
    request: Request, shapes: Shapes, wrong: Sequence[Mapping[str, int]]
) -> dict[str, Bounds]:
    """Bounds that have the example's sizes and none of these, for each name that needs them.

    None where they leave a single size: what is wrong around the example is no matter of a range.
    """
    examples, groups = example_sizes(shapes, leaf_values(request)), shapes.dims()
    entries: dict[str, Bounds] = {}
    for sizes in sorted(wrong, key=lambda each: sum(examples.get(n) != s for n, s in each.items())):
        changed = [n for n in sizes if n in groups and examples.get(n) not in (None, sizes[n])]
        if any(not _is_within(entries.get(name, Bounds()), sizes[name]) for name in changed):
            continue  # left out already
        for name in changed[:1]:
            size, (low, high) = sizes[name], entries.get(name, groups[name])
            if size < examples[name]:
                entries[name] = Bounds(size + 1, high)
            else:
                entries[name] = Bounds(low, size - 1)
    return {} if any(low is not None and low == high for low, high in entries.values()) else entries


def _is_within(bounds: Bounds, size: int) -> bool:
    return (bounds.low is None or size >= bounds.low) and (
        bounds.high is None or size <= bounds.high
    )


def _outcome(found: Exported, trial: Trial) -> str:
    """The outcome of a fixed program at the sizes: `agrees`, `refused`, or `differs`."""
    if found.verdict != "agrees":
        return "differs"
    same = [t.outcome for t in found.trials if t.sizes == trial.sizes]
    return same[0] if same and same[0] in ("agrees", "refused") else "differs"


def _describe_agreement(trial: Trial) -> str:
    return f"It matches eager at {sizes_shown(trial.sizes)}."

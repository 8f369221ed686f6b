"""The fix that a rewritten function is: every site that torch cannot decide in Python, at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from export_engine.attempt import Edit, Exported, Failed, Fix, Kind, NoFix, Request, text_in_effect
from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.code.try_edit import (
    COSTS_GRADIENTS,
    find_fixing_places,
    offer_edit,
    try_without_gradients,
    without_gradients,
)
from export_engine.fixes.export_options import describe_refused
from export_engine.fixes.rewrite.form import NotStaged
from export_engine.fixes.rewrite.rewriting import Rewritten, Staged, is_asked, lower, probe
from export_engine.fixes.rewrite.shrinking import NO_ELEMENT
from export_engine.fixes.try_fixes import read_failure, tell
from export_engine.in_eager import agrees, takes_what_eager_takes

_KINDS = frozenset(
    {
        *(Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED, Kind.LOOP_ON_DATA, Kind.ASSERT_ON_DATA),
        *(Kind.UNBACKED_SIZE, Kind.SHAPES_VIOLATED, Kind.OUTPUT_FROM_DATA, Kind.GRAPH_BREAK),
        *(Kind.OWN_ERROR, Kind.OPERATOR_FAILED),
        Kind.UNKNOWN,  # as torch's own error for a comparison of data with infinity
    }
)
_FEWEST = 3
"""Inputs that take a shortcut: on one of them, both ways may agree by chance."""
_NAMES = {
    "where": "torch.where",
    "cond": "torch.cond",
    "scan": "scan",
    "map": "map",
    "vmap": "torch.vmap",
    "while_loop": "while_loop",
    "check": "runtime assertions",
    "skip": "messages skipped while exporting",
    "mask": "a mask",
    "index": "0-dim tensors for numbers",
    "shortcut": "no shortcut",
}
_COSTS = {
    "where": "Both branches run, and one result is selected.",
    "vmap": "All iterations are in memory at once.",
    "scan": "The program rejects length 0 and runs only on backends that support scan.",
    "map": "The program runs only on backends that support map.",
    "while_loop": "The program runs only on backends that support while_loop.",
    "skip": "The program does not print, log or warn.",
    "shortcut": "The program does work that eager skips.",
}


def suggest_rewrite(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The function at a failure with its staged sites rewritten, or why it is not."""
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind not in _KINDS:
        return
    tried: set[tuple[str, str]] = set()
    for place in find_fixing_places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        if (place.file, place.function) in tried or not is_asked(text, line, diagnosis.kind):
            continue
        tried.add((place.file, place.function))
        tell(f"rewriting the control flow of `{place.function}`")
        try:
            fix = _try_each(attempt, probe(request, place.file, text, line))
        except NotStaged:
            continue
        except CannotRewrite as reason:
            yield NoFix(f"Cannot rewrite the control flow of `{place.function}`: {reason}.")
            continue
        if fix is not None:
            yield fix
            return


def _try_each(attempt: Failed, staged: Staged) -> Fix | None:
    """The first fix that is known to export, else the first; None where none leads anywhere.

    vmap has no rule for some ops, and newer scans take no op whose size depends on data; map does.
    """
    first: Fix | None = None
    texts: set[str] = set()
    for how in ("vmap", "scan", "map"):
        try:
            rewritten = lower(staged, how)
        except CannotRewrite:
            if not texts:
                raise
            break
        if rewritten.edit.after not in texts:
            fix = _try(attempt, rewritten)
            if fix is not None and fix.leads_to is not None:
                return fix
            first = first or fix
        texts.add(rewritten.edit.after)
    return first


def _try(attempt: Failed, made: Rewritten) -> Fix | None:
    """A rewritten function as a fix, tried; None where it leads nowhere."""
    (request, diagnosis), edit = read_failure(attempt), made.edit
    switched = made.needs_strict and not request.strict
    if switched:
        request = request.with_changes(strict=True)
    if not all(agrees(request, trial, rejected=NO_ELEMENT) for trial in made.trials):
        raise CannotRewrite("the result of an element depends on which others are left")
    if made.probes and not agrees(request, edit, made.probes, fewest=_FEWEST):
        return None
    result, quiet = try_without_gradients(request, edit)
    if isinstance(result, Exported) and not takes_what_eager_takes(request, edit, result):
        return None
    costs = [_COSTS[text] for text in _NAMES if text in _kinds(made) and text in _COSTS]
    least = 1 if "scan" in _kinds(made) else 0  # that a scan rejects a length of 0 is its cost
    rejected = describe_refused(result, least) if isinstance(result, Exported) else ""
    bounded = offer_edit(
        attempt,
        edit,
        result,
        title=title_of(made) + (", and export in strict mode" if switched else ""),
        why="Python cannot evaluate these conditions while tracing; ops evaluate them at run time.",
        narrows=bool(rejected),
        gives_up=" ".join([*costs, *([COSTS_GRADIENTS] if quiet else []), rejected]).rstrip(),
        change=partial(in_mode, edit=edit, is_quiet=quiet, is_strict=made.needs_strict),
    )
    if diagnosis.kind is Kind.SHAPES_VIOLATED and bounded and not bounded.is_known_to_export:
        return None
    return bounded


def in_mode(request: Request, *, edit: Edit, is_quiet: bool, is_strict: bool) -> Request:
    """The request with a rewritten function, in the mode that its operators need."""
    result = (without_gradients(request) if is_quiet else request).with_edit(edit)
    return result.with_changes(strict=True) if is_strict else result


def _kinds(made: Rewritten) -> set[str]:
    return {kind for _, kind in made.done}


def title_of(made: Rewritten) -> str:
    """What is done, in a line: `Rewrite lines 12 and 15 with scan and torch.where`."""
    lines = sorted({line for line, _ in made.done})
    used = [_NAMES[text] for text in _NAMES if text in _kinds(made)]
    where = f"line {lines[0]}" if len(lines) == 1 else f"lines {_join_words(list(map(str, lines)))}"
    return f"Rewrite {where} with {_join_words(used)}"


def _join_words(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)

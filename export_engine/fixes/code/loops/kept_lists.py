"""Fixes of lists that data fill: `if score[i] > 0.5: kept.append(x[i])`, and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product

from export_engine.attempt import Edit, Failed, Fix, Kind, NoFix, Request
from export_engine.fixes.code.branches.tensor_questions import kept_as_tensor
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.text_edits import Source, spans
from export_engine.fixes.code.editing.try_edit import code_fix, with_edit
from export_engine.fixes.code.loops.kept_rows import Kept, fills_a_list, kept_by_mask
from export_engine.fixes.code.loops.last_element import beside_the_last, over_tensor
from export_engine.fixes.code.loops.loop_continues import else_for_continue
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (Kind.BRANCH_ON_DATA, Kind.BRANCH_ON_UNBACKED)
_TITLE = "Select what the test in line {line} keeps with a mask"
_LEFT = "The list that the test in line {line} fills is not made a tensor: {reason}."
_OTHERWISE = "where it keeps nothing, eager has another value than a tensor without rows"
_UNTYPED = "where it keeps nothing, eager makes a tensor of floats, and else one of another dtype"
_DIFFERS = "what a mask selects differs from what eager keeps"
_WHY = "A tensor may have a data-dependent number of elements; a Python list may not."
_COSTS = "Elements that the test skips in eager are computed, too."
_REJECTS = (
    "The program rejects inputs of which nothing is kept: of an empty list eager makes a float "
    "tensor. `torch.tensor(…, dtype=torch.long)` gives the same for both."
)
_CHECKED = "Expected cond to be True"
"""Begins the error of a `torch._check` that does not hold."""


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The list, that a test on data fills, as a tensor that a mask selects; or why it is not."""
    failing = failing_text(attempt, _KINDS)
    if failing is None:
        return
    request, diagnosis, place, text, line = failing
    reason = ""
    known = set[str]()
    forms = dict.fromkeys([text, _without_numbers(text, line)])
    ways = product((False, True), (False, True), forms, (True, False))
    for asked, nonempty, form, at_once in ways:
        try:
            found = _without_continue(form, line, at_once, nonempty, asked)
        except Unclear as unclear:
            reason = reason or str(unclear)
            continue
        if (nonempty and not found.untyped) or found.made.text in known:
            continue
        known.add(found.made.text)
        if progress:
            progress(Progress(0, 0, f"selecting by the test in line {place.line}", "fix"))
        edit = Edit(unedited(place.file), text, found.made.text, (found.made.function,))
        alike = agrees(request, edit, rejected=_CHECKED if nonempty else "")
        if not alike or not all(_empty_alike(request, edit, *pair) for pair in found.empty):
            reason = _OTHERWISE if found.empty else _UNTYPED if found.untyped else _DIFFERS
            continue
        title = _TITLE.format(line=place.line)
        gives_up = " ".join([*([] if at_once else [_COSTS]), *([_REJECTS] if nonempty else [])])
        fix = code_fix(request, diagnosis, edit, title=title, why=_WHY, gives_up=gives_up)
        if fix is not None:
            yield replace(fix, narrows=nonempty)
            return
    if reason and fills_a_list(text, line):
        yield NoFix(_LEFT.format(line=place.line, reason=reason))


def _empty_alike(request: Request, edit: Edit, theirs: str, ours: str) -> bool:
    """Whether what is selected is the value that an empty list becomes in eager."""
    first = Edit(edit.file, edit.before, theirs, edit.functions)
    return agrees(with_edit(request, first), Edit(edit.file, theirs, ours, edit.functions))


def _without_numbers(text: str, line: int) -> str:
    """The text with numbers that the loop around a test reads of tensors, `x[i].item()`, kept."""
    source = Source(text, line)
    lines = {
        each.lineno
        for loop in ast.walk(source.function)
        if isinstance(loop, ast.For) and spans(loop, line)
        for each in loop.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call)
    }
    for each in lines:
        with suppress(Unclear):  # it reads none
            text = kept_as_tensor(text, each).text
    return text


def _without_continue(text: str, line: int, at_once: bool, nonempty: bool, asked: bool) -> Kept:
    """The text with what a test keeps selected, also where the test continues the loop."""
    try:
        moved = else_for_continue(text, line).text
    except Unclear:
        moved = text
    form = over_tensor(beside_the_last(moved, line))
    return kept_by_mask(form.text, form.line, at_once=at_once, nonempty=nonempty, asked=asked)

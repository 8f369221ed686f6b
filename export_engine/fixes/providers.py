"""Failed attempt → Fixes. One module per kind of fix; each offers what its diagnosis allows.

Some kinds export to find a fix; each such export is reported as a step of the search.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TypeGuard

from export_engine.attempt import Edit, Failed, Fix, NoFix, functions_remembered, line_before
from export_engine.defects import log_internal_error, passing_over
from export_engine.diagnose import diagnose, name_contexts
from export_engine.fixes import (
    assumptions,
    dim_names,
    examples,
    export_options,
    other_mode,
    registered,
    shapes,
    specs,
)
from export_engine.fixes.code import assumed_branches, line_rewrites, size_branches
from export_engine.fixes.rewrite import chunks, offer, recurrent
from export_engine.fixes.try_fixes import list_problems, search_memory, tell, telling
from export_engine.in_eager import beside_eager, confirm_conditions
from export_engine.process import clear_interrupt, raise_if_interrupted, sandbox
from export_engine.progress import Report
from export_engine.torch_internals import counters_kept
from export_engine.verify import find_saving_problem

__all__ = ["explain"]

Provider = Callable[[Failed], Iterable[Fix | NoFix]]
"""Fixes for a diagnosed attempt, or why there is none. Raises KeyboardInterrupt only."""

PROVIDERS: tuple[Provider, ...] = (
    recurrent.suggest_recurrent_scan,
    chunks.suggest_chunks,
    offer.suggest_rewrite,
    specs.suggest_specs,
    line_rewrites.suggest_formula,
    line_rewrites.suggest_symbolic_sizes,
    size_branches.suggest_size_branch,
    dim_names.suggest_couplings,
    dim_names.suggest_names,
    shapes.suggest_shapes,
    assumptions.suggest_assumptions,
    registered.suggest_registrations,
    registered.suggest_fake_kernel,
    line_rewrites.suggest_rewrites,
    assumed_branches.suggest_decisions,
)
"""Providers for every failure, until one cures it."""
LAST_RESORTS: tuple[Provider, ...] = (
    examples.suggest_example,
    other_mode.suggest_mode,
    export_options.suggest_options,
    line_rewrites.suggest_size_ops,
    assumed_branches.assume_branch_on_data,
)
"""Each costs an export or two: used if no lossless fix is known to lead to a program."""


def explain(attempt: Failed, progress: Report | None = None) -> Failed:
    """The attempt with its diagnosis and its fixes, lossless ones first.

    The frames of its error are read once, here; the traceback stays as text. Interrupted while
    looking for fixes, it gives those that were found by then.
    """
    explained = replace(attempt, diagnosis=attempt.diagnosis or diagnose(attempt))
    items: list[Fix | NoFix] = []
    try:
        with counters_kept(), telling(progress):
            runs = True
            with passing_over("running the model in eager"):
                diagnosis, runs = beside_eager(explained)
                explained = replace(explained, diagnosis=diagnosis)
            with passing_over("trying a condition on the model"):
                explained = replace(explained, diagnosis=confirm_conditions(explained))
            explained = replace(explained, diagnosis=name_contexts(explained))
            tell(_summarize(explained), "failure")
            if runs and explained.request is not None:
                _search(explained, items)
    except KeyboardInterrupt:
        clear_interrupt()
    fixes = [fix for fix in items if isinstance(fix, Fix)]
    if not any(map(_leads_on, fixes)):  # a program that runs, but cannot be saved, is the best here
        fixes = [replace(fix, lossy=False) if fix.unsaved else fix for fix in fixes]
    fixes = _drop_doubles(sorted(fixes, key=lambda each: _rank_cost(each, attempt)))
    reasons = [fix.reason for fix in items if isinstance(fix, NoFix)]
    text = attempt.traceback or "".join(traceback.format_exception(attempt.error))
    _drop_frames(attempt.error)
    return replace(
        explained, fixes=tuple(fixes), refusals=tuple(dict.fromkeys(reasons)), traceback=text
    )


def _summarize(attempt: Failed) -> str:
    """The diagnosis in a line: the sentence, and where."""
    diagnosis = attempt.diagnosis
    assert diagnosis is not None
    if not diagnosis.stack:
        return diagnosis.sentence
    file, line, _ = diagnosis.stack[-1]
    cells = attempt.request.cells if attempt.request else {}
    return f"{diagnosis.sentence} ({cells.get(file) or PurePath(file).name}, line {line})"


def _drop_doubles(fixes: list[Fix]) -> list[Fix]:
    """The first of each title that changes the same: two providers may offer one fix."""
    distinct: dict[object, Fix] = {}
    for fix in fixes:
        distinct.setdefault((fix.title, fix.kind, fix.before, fix.after, fix.edits), fix)
    return list(distinct.values())


def _rank_cost(fix: Fix, attempt: Failed) -> tuple[bool, bool, bool, bool]:
    """The rank of a fix: those that give up less come first; of equal ones, shapes."""
    more = fix.kind == "code" if fix.narrows else _switches_too(fix, attempt)
    return fix.lossy, fix.narrows, fix.narrows and not fix.beyond_bounds, more


def _switches_too(fix: Fix, attempt: Failed) -> bool:
    """Whether it is a fix of code that needs an option of the export besides."""
    request = fix.leads_to.request if fix.leads_to is not None else None
    before = attempt.request
    if fix.kind != "code" or request is None or before is None:
        return False
    return bool(request.options - before.options)


def _drop_frames(error: BaseException) -> None:
    """Drop the tracebacks of an error and of its causes.

    A frame holds its variables, torch's some hundreds, and the frames that called it, up to the
    user's own.
    """
    waiting: list[BaseException | None] = [error]
    numbers: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in numbers:
            numbers.add(id(each))
            each.__traceback__ = None
            waiting += [each.__cause__, each.__context__]


def _search(attempt: Failed, found: list[Fix | NoFix]) -> None:
    """Adds what every provider offers, or why it does not."""
    with sandbox(), functions_remembered(), search_memory():
        for provider in PROVIDERS:
            _ask(provider, attempt, found)
            if any(_cures(fix, attempt) for fix in found):
                if provider is not shapes.suggest_shapes:
                    _ask(shapes.suggest_untried, attempt, found)
                return
        for provider in LAST_RESORTS:
            if not any(_leads_on(fix) for fix in found):
                _ask(provider, attempt, found)
        fixes = [fix for fix in found if _leads_on(fix)]
        if fixes and all(fix.narrows or _switches_too(fix, attempt) for fix in fixes):
            _ask(export_options.keeping_all_sizes, attempt, found)
        for provider in (line_rewrites.suggest_size_ops, other_mode.suggest_mode):
            fixes = [fix for fix in found if _leads_on(fix)]
            if not fixes or not all(fix.narrows for fix in fixes):
                break
            before = len(found)
            _ask(provider, attempt, found)
            more = found[before:]  # what only may lead on is no better than a program with bounds
            found[before:] = [e for e in more if isinstance(e, NoFix) or _leads_on(e)]


def _cures(found: Fix | NoFix, attempt: Failed) -> bool:
    """Whether no other fix can be better: it is compared with eager, and gives up no size.

    None keeps size 1 of a dim that broadcasts.
    """
    if not _leads_on(found) or _switches_too(found, attempt):
        return False
    broadcasts = {problem.kind for problem in list_problems(attempt)} == {"equal"}
    if found.narrows and not (found.kind == "shapes" and broadcasts):
        return False
    return found.leads_to is not None and found.leads_to.verdict == "agrees"


def _with_saving(fix: Fix | NoFix) -> Fix | NoFix:
    """The fix, lossy where torch cannot save the program that it leads to."""
    if isinstance(fix, NoFix) or fix.leads_to is None or fix.lossy:
        return fix
    problem = find_saving_problem(fix.leads_to.program)
    if not problem:
        return fix
    lost = f"{problem[0].upper()}{problem[1:]}".replace(" it: ", " the program: ", 1)
    return replace(fix, lossy=True, unsaved=True, gives_up=f"{fix.gives_up} {lost}".lstrip())


def _leads_on(found: Fix | NoFix) -> TypeGuard[Fix]:
    """Whether it is a lossless fix that is known to lead to a program."""
    return isinstance(found, Fix) and found.is_known_to_export and not found.lossy


def _ask(provider: Provider, attempt: Failed, found: list[Fix | NoFix]) -> None:
    """Adds a provider's fixes; none if it fails, so that the others still run."""
    raise_if_interrupted()
    before = len(found)
    try:
        for offered in provider(attempt):
            fix = _with_saving(_in_own_lines(offered, attempt))
            found.append(fix)
            if isinstance(fix, Fix):
                tell(fix.title, "found")
    except Exception as error:  # noqa: BLE001 - whatever it is, the diagnosis and other fixes stand
        log_internal_error(error, "looking for fixes")
        found[before:] = [fix for fix in found[before:] if isinstance(fix, NoFix)]


_LINE = re.compile(r"\b(lines?) (\d+)\b")


def _in_own_lines(found: Fix | NoFix, attempt: Failed) -> Fix | NoFix:
    """What is offered, with lines of the text that ran as the user's that they were made from."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return found
    file = diagnosis.stack[-1].file
    edit = next((e for e in request.edits if e.edited_file == file), None)
    if edit is None:
        return found
    if isinstance(found, NoFix):
        return replace(found, reason=_map_lines(found.reason, edit))
    return replace(found, title=_map_lines(found.title, edit))


def _map_lines(text: str, edit: Edit) -> str:
    return _LINE.sub(lambda each: f"{each[1]} {line_before(edit, int(each[2]))}", text)

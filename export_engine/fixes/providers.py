"""Failed attempt → Fixes. One module per kind of fix; each offers what its diagnosis allows.

Some kinds export to find a fix; each such export is reported as a step of the search.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import PurePath
from typing import TypeGuard

from export_engine.attempt import Failed, Fix, NoFix, functions_remembered
from export_engine.defects import passed_over, passing_over
from export_engine.diagnose import diagnose, name_contexts
from export_engine.fixes import (
    assumptions,
    containers,
    export_options,
    fake_kernels,
    names_apart,
    other_example,
    other_mode,
    shapes,
    specs,
    vary_together,
)
from export_engine.fixes.code import data_dependent
from export_engine.fixes.code.branches import (
    checks_and_numpy,
    size_branches,
    tracing_questions,
)
from export_engine.fixes.code.calls import max_pool1d, module_conversions
from export_engine.fixes.code.sizes import (
    size_formulas,
    size_guards,
    size_idioms,
    size_keyed,
    size_numbers,
)
from export_engine.fixes.eager_too import beside_eager
from export_engine.fixes.own_lines import in_own_lines
from export_engine.fixes.rewrite import chunks, offer, recurrent, shrinking
from export_engine.fixes.tested_conditions import tested
from export_engine.fixes.written_out import after, written_out
from export_engine.process import answered, raise_if_interrupted, sandbox
from export_engine.progress import Progress, Report
from export_engine.torch_internals import counters_kept

__all__ = ["explain"]

Provider = Callable[[Failed, Report | None], Iterable[Fix | NoFix]]
"""Fixes for a diagnosed attempt, or why there is none. Raises KeyboardInterrupt only."""

PROVIDERS: tuple[Provider, ...] = (
    recurrent.offered,
    chunks.offered,
    offer.offered,
    specs.offered,
    size_formulas.offered,
    max_pool1d.offered,
    size_keyed.offered,
    size_idioms.offered,
    size_branches.offered,
    vary_together.offered,
    names_apart.offered,
    shapes.offered,
    assumptions.offered,
    containers.offered,
    fake_kernels.offered,
    shrinking.offered,
    data_dependent.offered,
    checks_and_numpy.offered,
    size_guards.offered,
    tracing_questions.offered,
    module_conversions.offered,
)
"""Providers for every failure."""
_ONE_LINE = frozenset(
    {
        shrinking.offered,
        data_dependent.offered,
        checks_and_numpy.offered,
    }
)
"""Not asked where the whole function is rewritten without loss."""
LAST_RESORTS: tuple[Provider, ...] = (
    other_example.offered,
    other_mode.offered,
    export_options.offered,
    size_numbers.offered,
    checks_and_numpy.assumed_on_data,
)
"""Each costs an export or two: used if no lossless fix is known to lead to a program."""
_KEEPING_ALL: tuple[Provider, ...] = (export_options.keeping_all_sizes,)
"""Used, too, where every such fix rejects sizes that the model takes, or changes the code and needs
an option besides."""
_WITHOUT_BOUNDS: tuple[Provider, ...] = (size_numbers.without_bounds, other_mode.offered)
"""Used, too, where every such fix rejects sizes that the model takes."""


def explain(attempt: Failed, progress: Report | None = None) -> Failed:
    """The attempt with its diagnosis and its fixes, lossless ones first.

    The frames of its error are read once, here; the traceback stays as text. Interrupted while
    looking for fixes, it gives those that were found by then.

    Args:
        attempt: a failure.
        progress: called with the diagnosis, while fixes are tried, and with each that is found.
    """
    explained = replace(attempt, diagnosis=attempt.diagnosis or diagnose(attempt))
    found: list[Fix | NoFix] = []
    try:
        with counters_kept():
            runs = True
            with passing_over("running the model in eager"):
                diagnosis, runs = beside_eager(explained)
                explained = replace(explained, diagnosis=diagnosis)
            with passing_over("trying a condition on the model"):
                explained = replace(explained, diagnosis=tested(explained))
            explained = replace(explained, diagnosis=name_contexts(explained))
            if progress:
                progress(Progress(0, 0, _said(explained), "failure"))
            if runs:
                _search(explained, progress, found)
    except KeyboardInterrupt:
        answered()
    fixes = [each for each in found if isinstance(each, Fix)]
    fixes.sort(key=lambda each: _given_up(each, attempt))
    reasons = [each.reason for each in found if isinstance(each, NoFix)]
    text = attempt.traceback or "".join(traceback.format_exception(attempt.error))
    _drop_frames(attempt.error)
    return replace(
        explained, fixes=tuple(fixes), refusals=tuple(dict.fromkeys(reasons)), traceback=text
    )


def _said(attempt: Failed) -> str:
    """The diagnosis in a line: the sentence, and where."""
    diagnosis = attempt.diagnosis
    assert diagnosis is not None
    if not diagnosis.stack:
        return diagnosis.sentence
    file, line, _ = diagnosis.stack[-1]
    cells = attempt.request.cells if attempt.request else {}
    return f"{diagnosis.sentence} ({cells.get(file) or PurePath(file).name}, line {line})"


def _given_up(fix: Fix, attempt: Failed) -> tuple[bool, bool, bool, bool]:
    """What a fix gives up: the less, the earlier it is offered. Of alike ones shapes are first."""
    more = fix.kind == "code" if fix.narrows else _switches_too(fix, attempt)
    return fix.lossy, fix.narrows, fix.narrows and not fix.beyond_bounds, more


def _switches_too(fix: Fix, attempt: Failed) -> bool:
    """Whether it is a fix of code that needs an option of the export besides."""
    made = fix.leads_to.request if fix.leads_to is not None else None
    before = attempt.request
    if fix.kind != "code" or made is None or before is None:
        return False
    return bool(made.options - before.options)


def _drop_frames(error: BaseException) -> None:
    """Drops the tracebacks of an error and of those behind it.

    A frame holds its variables, torch's some hundreds, and the frames that called it, up to the
    user's own.
    """
    waiting: list[BaseException | None] = [error]
    known: set[int] = set()
    while waiting:
        each = waiting.pop()
        if each is not None and id(each) not in known:
            known.add(id(each))
            each.__traceback__ = None
            waiting += [each.__cause__, each.__context__]


def _search(attempt: Failed, progress: Report | None, found: list[Fix | NoFix]) -> None:
    """Adds what every provider offers, or why it does not."""
    with sandbox(), functions_remembered():
        is_rewritten = False
        for provider in PROVIDERS:
            if is_rewritten and provider in _ONE_LINE:
                continue
            _ask(provider, attempt, progress, found)
            if provider is offer.offered:
                is_rewritten = any(_leads_on(each) and not each.narrows for each in found)
        if not any(_leads_on(each) for each in found):
            found += _of_written_out(attempt, progress)
        for provider in LAST_RESORTS:
            if not any(_leads_on(each) for each in found):
                _ask(provider, attempt, progress, found)
        known = [each for each in found if _leads_on(each)]
        for provider in _KEEPING_ALL:
            if known and all(each.narrows or _switches_too(each, attempt) for each in known):
                _ask(provider, attempt, progress, found)
        for provider in _WITHOUT_BOUNDS:
            known = [each for each in found if _leads_on(each)]
            if not known or not all(each.narrows for each in known):
                break
            before = len(found)
            _ask(provider, attempt, progress, found)
            more = found[before:]  # what only may lead on is no better than a program with bounds
            found[before:] = [e for e in more if isinstance(e, NoFix) or _leads_on(e)]


def _of_written_out(attempt: Failed, progress: Report | None) -> list[Fix | NoFix]:
    """The fixes that are known to lead on once statements have lines of their own."""
    found: list[Fix | NoFix] = []
    again = None
    with passing_over("writing statements on lines of their own"):
        again = written_out(attempt)
    if again is None:
        return []
    failed, edit = again
    for provider in PROVIDERS:
        _ask(provider, failed, progress, found)
    return [after(edit, each) for each in found if _leads_on(each)]


def _leads_on(found: Fix | NoFix) -> TypeGuard[Fix]:
    """Whether it is a lossless fix that is known to lead to a program."""
    return isinstance(found, Fix) and found.is_known_to_export and not found.lossy


def _ask(
    provider: Provider, attempt: Failed, progress: Report | None, found: list[Fix | NoFix]
) -> None:
    """Adds a provider's fixes; none if it fails, so that the others still run."""
    raise_if_interrupted()
    before = len(found)
    try:
        for offered in provider(attempt, progress):
            each = in_own_lines(offered, attempt)
            found.append(each)
            if progress and isinstance(each, Fix):
                progress(Progress(0, 0, each.title, "found"))
    except Exception as error:  # noqa: BLE001 - whatever it is, the diagnosis and other fixes stand
        passed_over(error, "looking for fixes")
        found[before:] = [each for each in found[before:] if isinstance(each, NoFix)]

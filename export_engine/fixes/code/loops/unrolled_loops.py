"""Fixes of a Python loop over a dynamic length: as a scan, which is one op for any length."""

from __future__ import annotations

import ast
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

import torch

from export_engine.attempt import (
    Attempt,
    Edit,
    Exported,
    Failed,
    Fix,
    Kind,
    NoFix,
    Request,
    text_in_effect,
)
from export_engine.capture import model_kept
from export_engine.defects import passed_over
from export_engine.diagnose import (
    diagnose,
    is_unrolled,
    reads_in_vmap,
)
from export_engine.fixes.assumptions import assumed, with_answers
from export_engine.fixes.code.editing.bounded_edit import (
    beyond_bounds,
    bounded,
    with_bounds,
    with_needed_bounds,
)
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.failing_text import fixed_places
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.try_edit import (
    edited_file,
    further,
    leads_on,
    tried,
    with_edit,
)
from export_engine.fixes.code.loops.chunks_at_once import chunks_at_once
from export_engine.fixes.code.loops.equal_pieces import OfPieces, equal_lengths, with_equal_pieces
from export_engine.fixes.code.loops.loop_forms import scannable
from export_engine.fixes.code.loops.loop_to_scan import as_scan
from export_engine.fixes.code.loops.loop_to_vmap import STEP, as_vmap, of_tensors
from export_engine.fixes.code.loops.no_gradients import (
    COSTS,
    edited_without_gradients,
    tried_in_some_mode,
)
from export_engine.fixes.code.loops.packed_to_scan import as_masked_scan
from export_engine.fixes.code.loops.rnn_to_scan import as_scan_of_cells, module_as_scan
from export_engine.fixes.code.loops.scan_on_data import scanned
from export_engine.fixes.code.loops.sized_lists import appended
from export_engine.progress import Progress, Report
from export_engine.shapes import Shapes, shapes_of
from export_engine.source import Location, code_of, unedited
from export_engine.verify import run

_ON_DATA = (
    "The loop is not rewritten as a scan: torch's scan must know while tracing whether the length "
    "is 0, and a length that is computed from data is not known then."
)
_MOST_NUMBERS = 3
"""Lines of a loop that may read numbers of tensors."""
_COSTS = "The program rejects a length of 0, and runs only in a backend that has the operator scan."
_NOT_REJECTED = "It does not reject lengths that pack_padded_sequence rejects."
_OTHER_LENGTHS = (
    "The loop in line {line} is not rewritten: its pieces need not be of one length, and a program "
    "for those that are would not take the example, or does not agree with eager."
)
_DIFFERS = (
    "The loop in line {line} is not rewritten as a scan: with it the program exports, and does not "
    "agree with eager."
)
_FAILS = "The loop in line {line} is not rewritten: the scan that it would be does not export."
_UNROLLED = (
    "{name} is torch's own {kind}, which torch.export unrolls over its length, so the length is "
    "fixed. It is not rewritten as a scan: {why}."
)


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The scan for a diagnosed loop, or why there is none."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None:
        return
    if diagnosis.kind is Kind.LOOP_ON_DATA:
        scan = _packed_rows(attempt, progress) or scanned(attempt, progress)
        yield scan or NoFix(_ON_DATA)
        return
    if diagnosis.kind not in (Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE):
        return
    for each in _unrolled_module(attempt, progress):
        yield each
        if isinstance(each, Fix):
            return
    whole = chunks_at_once(attempt, progress)
    if whole is not None:
        yield whole
        return
    for place in fixed_places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        of_pieces = with_equal_pieces(text, line)
        at_once = _at_once(attempt, place, progress) if of_pieces is None else None
        if at_once is not None:
            yield at_once
            return
        left: NoFix | None = None
        for numbers in (False, True):
            found = _at(attempt, place, of_pieces, numbers=numbers, progress=progress)
            if isinstance(found, Fix):
                yield found
                return
            left = left or found
        if left is not None:
            yield left


def _at(
    attempt: Failed,
    place: Location,
    of_pieces: OfPieces | None,
    *,
    numbers: bool,
    progress: Report | None,
) -> Fix | NoFix | None:
    """The loop at a line as a scan, or why it is left; None where nothing is said of it.

    Args:
        attempt: the diagnosed failure.
        place: of the loop.
        of_pieces: the text in which it takes rows instead of pieces.
        numbers: whether an iteration reads what it takes of `n.tolist()` as numbers; where that
            makes the same loop, nothing is said.
        progress: called before each export.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    assert diagnosis is not None
    text, line = text_in_effect(request.edits, place.file, place.line)
    title = f"Rewrite the loop in line {_line_of_loop(place, text, line)} as a scan"
    before = of_pieces[:2] if of_pieces else (text, line)
    for unrolled in (False, True):
        try:
            form = scannable(*before, numbers=numbers)
            if numbers and form == scannable(*before):
                return None
            made = as_scan(form.text, form.line, unrolled=unrolled)
        except Unclear as reason:
            said = f"The loop in line {place.line} is not rewritten: {reason}."
            return NoFix(said) if is_unrolled((place,)) else None
        if progress:
            progress(Progress(0, 0, f"rewriting the loop in line {place.line}", "fix"))
        edit = Edit(unedited(place.file), text, made.text, (made.function,))
        multiple = equal_lengths(attempt, of_pieces.length) if of_pieces else None
        bounds = _assuming(request, edit, multiple, progress) if multiple else None
        if multiple and bounds is None:
            return NoFix(_OTHER_LENGTHS.format(line=place.line))
        found, quiet = (None, False) if bounds else tried_in_some_mode(request, edit)
        if found is not None and leads_on(found, diagnosis, edit):
            return _fix(request, edit, title, diagnosis.stack, found, quiet)
        bounds = bounds or bounded(found, progress)
        if bounds is not None:
            fix = with_bounds(_fix(request, edit, title, diagnosis.stack, None, quiet), bounds)
            return beyond_bounds(request, diagnosis, fix)
        if unrolled or _is_last_try(text, made.text, found):
            said = _left(found).format(line=place.line)
            return NoFix(said) if is_unrolled((place,)) else None
    return None


def _at_once(attempt: Failed, place: Location, progress: Report | None) -> Fix | None:
    """The loop at a line for all of its elements at once, as vmap runs it; None where it cannot."""
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    assert diagnosis is not None
    text, line = text_in_effect(request.edits, place.file, place.line)
    made = _vmapped(text, line)
    if made is None:
        return None
    if progress:
        progress(Progress(0, 0, f"running the loop in line {place.line} at once", "fix"))
    edit = Edit(unedited(place.file), text, made.text, (made.function,))
    found = tried(request, edit)
    for _ in range(_MOST_NUMBERS):
        read = _read_in_vmap(found, edit, request)
        if read is None:
            break
        try:
            edit = further(edit, of_tensors(edit.after, read))
        except Unclear:
            return None
        found = tried(request, edit)
    fix = Fix(
        kind="code",
        title=f"Run the loop in line {_line_of_loop(place, text, line)} at once with torch.vmap",
        why="No iteration needs another one. vmap computes them all with ops over the whole "
        "tensors, so the length stays dynamic.",
        gives_up="All iterations are in memory at once.",
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=found if isinstance(found, Exported) else None,
    )
    if found is None or _is_fixed_within(found):
        return None
    return with_needed_bounds(request, diagnosis, edit, fix, found, progress)


def _line_of_loop(place: Location, text: str, line: int) -> int:
    """The line of a loop as it was written; of one that fills a list, where that is the place."""
    return place.line + appended(text, line).line - line


def _vmapped(text: str, line: int) -> Rewritten | None:
    """The text with the loop at a line run at once; None where it cannot be."""
    with suppress(Unclear):
        return as_vmap(*scannable(text, line))
    return None


def _is_fixed_within(found: Attempt) -> bool:
    """Whether an op that vmap runs for all iterations fixes a size."""
    if not isinstance(found, Failed):
        return False
    places = fixed_places(replace(found, diagnosis=diagnose(found)))
    return any(each.function.rpartition(".")[2].startswith(STEP) for each in places)


def _read_in_vmap(found: Attempt | None, edit: Edit, request: Request) -> int | None:
    """The line of an edited text that reads a number inside of vmap; None where none does."""
    if not isinstance(found, Failed) or not reads_in_vmap(str(found.error)):
        return None
    stack = diagnose(found).stack
    own = bool(stack) and stack[-1].file == edited_file(request, edit)
    return stack[-1].line if own else None


def _left(found: Attempt | None) -> str:
    """Why a loop is left as it is, of an attempt with its scan."""
    return _FAILS if isinstance(found, Failed) else _DIFFERS


def _is_last_try(text: str, made: str, found: Attempt | None) -> bool:
    """Whether running the first iteration apart would not help, as it is or is not at fault."""
    apart = made.count("_first=False") > text.count("_first=False")
    return apart or not isinstance(found, Failed) or diagnose(found).kind is Kind.SHAPES_VIOLATED


def _assuming(request: Request, edit: Edit, shapes: Shapes, progress: Report | None) -> Fix | None:
    """The assumptions with which an edited model exports, agrees, and gives up no more than them.

    Args:
        request: without the edit.
        edit: of the code.
        shapes: with the first assumption.
        progress: called before each further export.
    """
    before = shapes_of(request)
    trial = request.with_changes(shapes=shapes)
    found = tried(trial, edit)
    if before is None or found is None:
        return None
    shapes, found = with_answers(found, with_edit(trial, edit), shapes, progress)
    agreement = found.agreement if isinstance(found, Exported) else None
    if agreement is None or agreement.verdict != "agrees":
        return None
    return assumed(request, shapes, found, ())


def _packed_rows(attempt: Failed, progress: Report | None) -> Fix | None:
    """torch's own RNN, LSTM or GRU of rows that are packed by their lengths, as a masked scan."""
    request = attempt.request
    assert request is not None
    own = _recurrent(request)
    for place in fixed_places(attempt) if own else ():
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            made, kind = as_masked_scan(text, line, own)
        except Unclear:
            continue
        title = f"Rewrite the {kind} of packed rows in line {place.line} as a masked scan"
        edit = Edit(unedited(place.file), text, made.text, (made.function,))
        fix = _exporting(attempt, edit, title, f"the packed {kind} in line {place.line}", progress)
        if fix is not None:
            return replace(fix, gives_up=f"{fix.gives_up} {_NOT_REJECTED}")
    return None


def _exporting(
    attempt: Failed, edit: Edit, title: str, what: str, progress: Report | None
) -> Fix | None:
    """The fix that an edit is, by itself or with bounds of the sizes; None if it leads nowhere."""
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    assert diagnosis is not None
    if progress:
        progress(Progress(0, 0, f"rewriting {what}", "fix"))
    found = tried(request, edit)
    fix = _fix(request, edit, title, diagnosis.stack, found)
    return with_needed_bounds(request, diagnosis, edit, fix, found, progress)


def _recurrent(request: Request) -> dict[str, torch.nn.RNNBase]:
    """torch's own recurrent modules of a model, by the last name of their path."""
    modules = getattr(request.target, "named_modules", dict)
    return {
        path.rpartition(".")[2]: module
        for path, module in modules()
        if isinstance(module, torch.nn.RNNBase)
    }


def _unrolled_module(attempt: Failed, progress: Report | None) -> Iterator[Fix | NoFix]:
    """torch's own RNN, LSTM or GRU at a line, which export unrolls over its length, as a scan."""
    request = attempt.request
    assert request is not None
    own = _recurrent(request)
    whole = _of_torch_alone(request.target)
    for place in fixed_places(attempt) if own else ():
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            made, kind = (
                module_as_scan(text, line, whole) if whole else as_scan_of_cells(text, line, own)
            )
        except Unclear as reason:
            name = "" if whole else _called_module(place, own)
            if whole or name:
                said, kind = f"`{name}`" if name else "The model", type(whole or own[name]).__name__
                yield NoFix(_UNROLLED.format(name=said, kind=kind, why=reason))
            continue
        said = f"the {kind}" if whole else f"the {kind} in line {place.line}"
        edit = Edit(unedited(place.file), text, made.text, (made.function,))
        fix = _exporting(attempt, edit, f"Rewrite {said} as a scan", said, progress)
        if fix is not None:
            yield fix
            return


def _of_torch_alone(target: object) -> torch.nn.RNNBase | None:
    """What is exported, if it is a recurrent module of torch itself: no line calls it then."""
    if not isinstance(target, torch.nn.RNNBase):
        return None
    return target if type(target).forward.__module__ == torch.nn.RNNBase.__module__ else None


def _called_module(place: Location, modules: Mapping[str, object]) -> str:
    """The name of one of some modules that a line calls; empty if it calls none."""
    code = code_of(place.file)
    statement = code.statement(place.line) if code is not None else None
    for node in ast.walk(statement) if statement is not None else ():
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in modules:
            return called.attr
    return ""


def _fix(
    request: Request,
    edit: Edit,
    title: str,
    stack: tuple[Location, ...],
    found: object,
    quiet: bool = False,
) -> Fix:
    """The fix that a scan is; quiet: it exports only while no gradients are recorded."""
    exported = found if isinstance(found, Exported) else None
    return Fix(
        kind="code",
        title=title,
        why="scan keeps one iteration as a subgraph and runs it for each element, so the length "
        "stays dynamic. " + (_speed(exported) if exported is not None else ""),
        gives_up=f"{_COSTS} {COSTS}" if quiet else _COSTS,
        change=partial(edited_without_gradients if quiet else with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=stack,
        leads_to=exported,
    )


def _speed(exported: Exported) -> str:
    """How long the program takes on the example, compared with eager; empty where either fails."""
    request = exported.request
    if request is None:
        return ""
    seconds = []
    with model_kept(request.target) as restore, torch.no_grad():
        for target in (request.target, exported.program.module()):
            try:
                run(target, request, seed=0)
                begun = time.perf_counter()
                run(target, request, seed=0)
                seconds.append(time.perf_counter() - begun)
            except Exception as error:  # noqa: BLE001 - whatever a model raises; only a time is lost
                passed_over(error, "timing a program")
                return ""
            finally:
                restore()
    eager, program = (f"{1000 * each:.3g} ms" for each in seconds)
    return f"On the example the program took {program} here, eager {eager}."

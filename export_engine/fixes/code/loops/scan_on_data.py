"""A loop over as many elements as data say, as a scan: `for end in ends` of what `nonzero` found.

torch's scan must know that there is an element. It does where eager needs one as well, as
`torch.stack` of what the loop collects takes no empty list, and of what `unique` finds, where only
an empty tensor has none: a check before the loop then says so.
"""

from __future__ import annotations

import ast
from functools import partial

from export_engine.attempt import Edit, Exported, Failed, Fix, Request, text_in_effect
from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.comprehensions import Form, free_name
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.text_edits import Piece, Source
from export_engine.fixes.code.editing.try_edit import leads_on, with_edit
from export_engine.fixes.code.loops.loop_forms import scannable
from export_engine.fixes.code.loops.loop_parts import bracketed, loop_at
from export_engine.fixes.code.loops.loop_state import LoopState
from export_engine.fixes.code.loops.loop_to_scan import as_scan
from export_engine.fixes.code.loops.no_gradients import (
    COSTS,
    edited_without_gradients,
    tried_in_some_mode,
)
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_TITLE = "Rewrite the loop in line {line} as a scan{mode}"
_WHY = (
    "scan keeps one iteration as a subgraph and runs it for each element. That there is one, which "
    "{who} as well, is checked before."
)
_JOINED = "torch.stack needs"
_OF_ANY = "any tensor that is not empty has"
_UNIQUE = ("unique", "unique_consecutive")
_STRICT = " Of a number of elements that data decide, scan exports in strict mode only."
_COSTS = "The program runs only in a backend that has the operator scan."
_REJECTS = "The program rejects an empty tensor there."
_ALONE = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp)


def scanned(attempt: Failed, progress: Report | None = None) -> Fix | None:
    """The scan for the loop of a diagnosed attempt whose length depends on data, tried."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or not diagnosis.stack:
        return None
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, place.line)
    for numbers in (False, True):
        for unrolled in (False, True):
            try:
                given = scannable(text, line, numbers=numbers)
                form = checked(given)
                made = as_scan(form.text, form.line, unrolled=unrolled)
            except Unclear:
                continue
            if progress:
                progress(Progress(0, 0, f"rewriting the loop in line {place.line}", "fix"))
            edit = Edit(unedited(place.file), text, made.text, (made.function,))
            found, quiet = tried_in_some_mode(request.with_changes(strict=True), edit)
            if found is None or not leads_on(found, diagnosis, edit):
                continue
            of_unique = not _is_joined(given)
            costs = [*([_REJECTS] if of_unique else []), _COSTS, *([COSTS] if quiet else [])]
            why = _WHY.format(who=_OF_ANY if of_unique else _JOINED)
            return Fix(
                kind="code",
                title=_TITLE.format(
                    line=place.line, mode="" if request.strict else ", and export in strict mode"
                ),
                why=why + ("" if request.strict else _STRICT),
                gives_up=" ".join(costs),
                change=partial(_strictly, edit=edit, quiet=quiet),
                edits=with_edit(request, edit).edits,
                stack=diagnosis.stack,
                leads_to=found if isinstance(found, Exported) else None,
            )
    return None


def _strictly(request: Request, edit: Edit, quiet: bool) -> Request:
    made = (edited_without_gradients if quiet else with_edit)(request, edit)
    return made.with_changes(strict=True)


def checked(form: Form) -> Form:
    """A form with a check before its loop that there is an iteration.

    Raises:
        Unclear: eager takes none, too.
    """
    form = _named(form)
    source = Source(form.text, form.line)
    loop = loop_at(source, form.line)
    state = LoopState(source, loop, unrolled=False)
    counts = state.count is not None and state.count.first == 0
    needed = _is_joined(form) or _is_of_unique(source, state)
    if not needed or not (counts or state.elements):
        raise Unclear("without an element eager has another value than a scan")
    if state.count is not None and counts:
        length = bracketed(state.count.length)
    else:
        length = f"{bracketed(state.elements[0].tensor)}.shape[0]"
    at = source.start(loop)
    check = f"{source.torch}._check({length} > 0)\n{source.indent(loop)}"
    return Form(source.changed([Piece(at, at, check)]).text, form.line + 1)


def _is_joined(form: Form) -> bool:
    """Whether a list that a loop fills goes into torch.stack or torch.cat, whatever data say."""
    source = Source(form.text, form.line)
    loop = loop_at(source, form.line)
    state = LoopState(source, loop, unrolled=False)
    lists = [each.into for each in state.outputs if each.place is None]
    return any(_goes_on_joined(source, loop, name) for name in lists if name not in state.begun)


def _is_of_unique(source: Source, state: LoopState) -> bool:
    """Whether a loop goes over what `unique` found, also by a name for it."""
    if not state.elements:
        return False
    over: ast.expr = ast.parse(state.elements[0].tensor, mode="eval").body
    if isinstance(over, ast.Name) and (given := assigned(source.function, over.id)) is not None:
        over = given.value
    return isinstance(over, ast.Call) and getattr(over.func, "attr", "") in _UNIQUE


def _named(form: Form) -> Form:
    """A form whose loop goes through a name: what data select is another length each time."""
    source = Source(form.text, form.line)
    loop = loop_at(source, form.line)
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    if called is None or isinstance(called, ast.Name):  # of Python's own, as `zip`
        return form
    name = free_name("_all", source.names)
    at = source.start(loop)
    pieces = [
        Piece(at, at, f"{name} = {source.of(loop.iter)}\n{source.indent(loop)}"),
        Piece(source.start(loop.iter), source.end(loop.iter), name),
    ]
    return Form(source.changed(pieces).text, form.line + 1)


def _goes_on_joined(source: Source, loop: ast.For, name: str) -> bool:
    """Whether a list goes into `torch.stack` or `torch.cat`, whatever data say."""
    for each in source.following(loop):
        if not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(each)):
            if any(isinstance(n, ast.Return) for n in ast.walk(each)):
                return False
            continue
        if not isinstance(each, ast.Assign | ast.Return | ast.Expr):
            return False
        conditional = {
            id(n) for part in ast.walk(each) if isinstance(part, _ALONE) for n in ast.walk(part)
        }
        return any(
            isinstance(n, ast.Call)
            and id(n) not in conditional
            and source.of(n.func) in (f"{source.torch}.stack", f"{source.torch}.cat")
            and bool(n.args)
            and isinstance(n.args[0], ast.Name)
            and n.args[0].id == name
            for n in ast.walk(each)
        )
    return False

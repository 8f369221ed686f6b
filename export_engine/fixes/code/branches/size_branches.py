"""A branch on a size of which one way is right for every size: `if missing: x = pad(x, missing)`.

Padding by 0 changes nothing, and a table interpolated to its own size is itself. Then the branch is
a shortcut, and without it nothing depends on the size. That both ways give the same is compared
with eager, at sizes where the condition holds and at ones where it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import NamedTuple

from export_engine.attempt import (
    Attempt,
    Edit,
    Exported,
    Failed,
    Fix,
    Request,
    text_in_effect,
)
from export_engine.diagnose import SizesViolated, UnbackedSize, diagnose, is_unrolled
from export_engine.fixes.code.branches.branch_to_cond import branch_to_cond
from export_engine.fixes.code.branches.select_number import selected_number
from export_engine.fixes.code.calls.copied_slices import copied_in_branches, copied_slices
from export_engine.fixes.code.editing.bounded_edit import bounded, with_bounds
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees_at
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, branch_at, with_way
from export_engine.fixes.code.editing.try_edit import (
    edited_file,
    further,
    leads_on,
    tried,
    with_edit,
)
from export_engine.fixes.excluded_calls import allows_any, calls_without, excluded_calls
from export_engine.fixes.refused_sizes import as_failure
from export_engine.progress import Progress, Report
from export_engine.shapes import Problem, assumable, shapes_of
from export_engine.source import Location, code_of, unedited

_MOST_SIZES = 3


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The way of a branch on a requested size that is right for every size that was compared.

    Where there is none, both ways in the program.
    """
    request, diagnosis = attempt.request, attempt.diagnosis
    facts = diagnosis.facts if diagnosis else None
    if request is None or diagnosis is None:
        return
    asked = _asked(request, facts) if isinstance(facts, SizesViolated) else []
    if isinstance(facts, UnbackedSize) and diagnosis.stack:
        asked = [_asked_of_unbacked(attempt, request, facts, diagnosis.stack[-1])]
    for branch in asked:
        line, file = branch.place.line, branch.place.file
        text, at = text_in_effect(request.edits, file, line)
        known: set[str] = set()
        narrower: Fix | None = None
        for way in _WAYS if branch.others else ():
            if way.cond and isinstance(facts, UnbackedSize):
                continue  # offered with the rewrites of data-dependent branches
            try:
                made = way.rewrite(text, at)
            except Unclear:
                continue
            if made.text in known:
                continue
            known.add(made.text)
            edit = Edit(unedited(file), text, made.text, (made.function,))
            title = way.title.format(line=line)
            if progress:
                progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
            fix = _tried(attempt, edit, branch, progress)
            if fix is None:
                continue
            beyond = fix.narrows and way.one
            more = fix.title
            if way.rewrite is copied_slices:
                more = more.replace(_SLICE, "copy another slice")
            fix = replace(fix, title=f"{title}{more}", why=way.why, beyond_bounds=beyond)
            if way.bounded or not (fix.after and fix.narrows):
                yield fix
                return
            narrower = narrower or fix
        if narrower is not None:
            yield narrower
            return


_SLICE = "copy a slice by index"


class _Branch(NamedTuple):
    """A line that asks for sizes."""

    place: Location
    others: list[Request]
    """Calls at sizes for which its condition is the other way round."""
    texts: frozenset[str] = frozenset()
    """What it requires of Dims."""


def _asked(request: Request, facts: SizesViolated) -> list[_Branch]:
    """The lines that ask for a size, the first file's."""
    found: dict[int, list[Problem]] = {}
    for problem in facts.problems:
        if problem.stack and problem.excluded and not is_unrolled(problem.stack):
            found.setdefault(problem.stack[-1].line, []).append(problem)
    return [
        _Branch(
            problems[0].stack[-1],
            [
                call
                for problem in problems
                for _, call in islice(calls_without(request, problem), _MOST_SIZES)
            ],
            frozenset(each.text for each in problems),
        )
        for problems in found.values()
    ]


def _asked_of_unbacked(
    attempt: Failed, request: Request, facts: UnbackedSize, place: Location
) -> _Branch:
    """The line that asks for a size of a ShapesSpec."""
    shapes = shapes_of(request)
    calls = [
        call.request
        for relation in assumable(attempt, facts.asked)
        for call in (excluded_calls(request, shapes, relation) if shapes is not None else ())
    ]
    return _Branch(place, calls)


def _tried(attempt: Failed, edit: Edit, asked: _Branch, progress: Report | None) -> Fix | None:
    request, diagnosis = attempt.request, attempt.diagnosis
    assert request is not None
    assert diagnosis is not None
    if not agrees_at(request, edit, asked.others):
        return None
    plain, (edit, found) = edit, _with_slices(request, edit, asked)
    bounds = bounded(found, progress)
    if bounds is not None and bounds.narrows and _next_branch(found, request, edit):
        bounds = None  # what a fix of that branch keeps, no bound need reject
    if bounds is not None:
        if not allows_any(bounds.apply(request), asked.others):
            return None  # no more than bounds alone
    else:
        if found is None or not leads_on(found, diagnosis, edit) or _asked_again(found, asked):
            return None
        if isinstance(found, Exported) and _verdict(found) != "agrees":
            return None
    fix = Fix(
        kind="code",
        title="" if edit is plain else f", and {_SLICE}",
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=found if isinstance(found, Exported) else None,
    )
    return fix if bounds is None else with_bounds(fix, bounds)


def _next_branch(found: Attempt | None, request: Request, edit: Edit) -> bool:
    """Whether an edited model fails at another `if` on a size, below the one that is edited."""
    stack = diagnose(found).stack if isinstance(found, Failed) else ()
    if not stack or stack[-1].file != edited_file(request, edit):
        return False
    code = code_of(stack[-1].file)
    statement = code.statement(stack[-1].line) if code is not None else None
    if not isinstance(statement, ast.If):
        return False
    return ast.unparse(statement.test) in edit.before


def _with_slices(request: Request, edit: Edit, asked: _Branch) -> tuple[Edit, Attempt | None]:
    """The attempt with an edit, and with the slices copied of which the same is required then."""
    found = tried(request, edit)
    again = _asked_again(found, asked)
    if again is None or not again.stack:
        return edit, found
    place = again.stack[-1]
    if unedited(place.file) != edit.file:
        return edit, found
    text, line = text_in_effect(with_edit(request, edit).edits, place.file, place.line)
    try:
        made = copied_in_branches(text, line)
    except Unclear:
        return edit, found
    both = further(edit, made)
    return both, tried(request, both)


def _asked_again(found: Attempt | None, asked: _Branch) -> Problem | None:
    """The same that is required of a size still: a branch that both ways of a program need.

    Of a program that rejects sizes which eager takes, whatever it requires.
    """
    if isinstance(found, Exported):
        refusal = as_failure(found)
        facts = refusal.diagnosis.facts if refusal and refusal.diagnosis else None
        return facts.problems[0] if isinstance(facts, SizesViolated) else None
    facts = diagnose(found).facts if isinstance(found, Failed) else None
    problems = facts.problems if isinstance(facts, SizesViolated) else ()
    return next((each for each in problems if each.text in asked.texts), None)


def _verdict(found: Exported) -> str:
    return found.agreement.verdict if found.agreement is not None else "not checked"


def one_way(text: str, line: int, taken: bool) -> Rewritten:
    """The text with the `if` at a line replaced by what it guards, or by what its `else` does.

    Args:
        text: of the file.
        line: of the test.
        taken: whether the branch is kept, without its test.

    Raises:
        Unclear: there is none, what is left out raises an error, what is kept leaves the block, or
            a loop might not end without what is left out.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    if any(isinstance(node, ast.NamedExpr | ast.Await) for node in ast.walk(branch.test)):
        raise Unclear("the test binds a name")
    kept, dropped = (branch.body, branch.orelse) if taken else (branch.orelse, branch.body)
    if any(isinstance(node, ast.Raise) for each in dropped for node in ast.walk(each)):
        raise Unclear("the other way raises an error")
    if kept and isinstance(kept[-1], ast.Raise):
        raise Unclear("the branch only raises")
    if _ends_a_loop(source, branch, dropped):
        raise Unclear("a loop may end by the other way")
    leaves = (ast.Return, ast.Break, ast.Continue)
    if any(isinstance(node, leaves) for each in kept for node in ast.walk(each)):
        raise Unclear("the branch leaves the block")
    return source.changed([with_way(source, branch, kept)])


def _ends_a_loop(source: Source, branch: ast.If, dropped: list[ast.stmt]) -> bool:
    """Whether a loop around a branch may go on for ever without one of its blocks."""
    around = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.For | ast.While) and branch in ast.walk(node)
    ]
    leaves = any(isinstance(n, ast.Break | ast.Return) for each in dropped for n in ast.walk(each))
    return any(isinstance(loop, ast.While) for loop in around) or (bool(around) and leaves)


def missing_to_multiple(text: str, line: int) -> Rewritten:
    """The text with `if rest: x = pad(x, k - rest)` always padded, by `(k - rest) % k`.

    So is `if n % 2: x = pad(x, 1)`, by `n % 2`.

    Args:
        text: of the file.
        line: of the test.

    Raises:
        Unclear: there is no such branch.
    """
    source = Source(text, line)
    branch = branch_at(source, line)
    rests = {ast.unparse(each) for each in ast.walk(branch.test) if _is_rest(source, each)}
    pieces = [
        Piece(source.start(node), source.end(node), f"(({source.of(node)}) % {source.of(whole)})")
        for node, whole in _differences(branch.body, rests)
    ]
    pieces += [
        Piece(source.start(one), source.end(one), f"({source.of(branch.test)})")
        for one in _ones(branch)
    ]
    if not pieces:
        raise Unclear("nothing there is missing to a multiple")
    return one_way(source.changed(pieces).text, line, True)


def _differences(body: list[ast.stmt], rests: set[str]) -> list[tuple[ast.expr, ast.expr]]:
    """Each `k - rest` of a block, and the `k`."""
    return [
        (node, node.left)
        for each in body
        for node in ast.walk(each)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)
        if ast.unparse(node.right) in rests
    ]


def _ones(branch: ast.If) -> list[ast.expr]:
    """Each 1 among the widths of a pad, where a size is tested for being odd."""
    test = branch.test
    if not (isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod)):
        return []
    if ast.unparse(test.right) != "2":
        return []
    return [
        one
        for each in branch.body
        for call in ast.walk(each)
        if isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] == "pad"
        for widths in call.args[1:2]
        for one in ast.walk(widths)
        if isinstance(one, ast.Constant) and one.value == 1 and one.value is not True
    ]


def _is_rest(source: Source, node: ast.AST) -> bool:
    """Whether a value is the rest of a division, or a name of one."""
    if isinstance(node, ast.Name):
        return any(
            isinstance(each, ast.Assign)
            and [ast.unparse(target) for target in each.targets] == [node.id]
            and _is_rest(source, each.value)
            for each in ast.walk(source.function)
        )
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)


class _Way(NamedTuple):
    """A rewrite of a branch."""

    title: str
    """With `{line}`."""
    why: str
    rewrite: Callable[[str, int], Rewritten]
    one: bool = True
    """Whether one way of the branch is left, so that nothing more is run than in eager."""
    cond: bool = False
    """Whether it is torch.cond."""
    bounded: bool = True
    """Whether it comes before others where sizes must be bounded, too."""


_COMPARED = "at the sizes that were compared with eager, on both sides of the condition."
_WAYS = (
    _Way(
        "Always take the branch in line {line}",
        f"What it does changes nothing {_COMPARED}",
        lambda text, line: one_way(text, line, True),
    ),
    _Way(
        "Never take the branch in line {line}",
        f"It is a shortcut: the other branch gives the same {_COMPARED}",
        lambda text, line: one_way(text, line, False),
    ),
    _Way(
        "Always take the branch in line {line}, and pad up to a multiple",
        f"No padding is added where the size is already a multiple {_COMPARED}",
        missing_to_multiple,
    ),
    _Way(
        "Copy the slice in line {line} by index",
        "torch asks whether a slice is the whole tensor; for a copy by index it does not. The copy "
        "needs as much memory as the slice.",
        copied_slices,
        bounded=False,
    ),
    _Way(
        "Select the number with torch in line {line}",
        "torch.sym_ite, sym_min and sym_max select one of two numbers for the size of a call.",
        partial(selected_number, whole=True),
        one=False,
    ),
    _Way(
        "Rewrite the branch in line {line} with torch.cond",
        "torch.cond puts both branches into the program, and the size of a call selects one.",
        branch_to_cond,
        one=False,
        cond=True,
    ),
)

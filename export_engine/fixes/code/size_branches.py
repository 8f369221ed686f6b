"""A branch on a size of which one way is right for every size: `if missing: x = pad(x, missing)`.

Padding by 0 changes nothing, and a table interpolated to its own size is itself. Then the branch is
a shortcut, and without it nothing depends on the size. That both ways give the same is compared
with eager, at sizes where the condition holds and at ones where it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from export_engine.attempt import (
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    Request,
    text_in_effect,
    unedited,
)
from export_engine.diagnose import SizesViolated
from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.eager_trials import agrees_at
from export_engine.fixes.code.raise_to_check import only_raises
from export_engine.fixes.code.rewrite import Rewritten
from export_engine.fixes.code.text_edits import Piece, Source
from export_engine.fixes.code.try_edit import leads_on, tried, with_edit
from export_engine.progress import Progress, Report
from export_engine.shapes import Problem, with_size

_MOST_SIZES = 3


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The way of a branch on a requested size that is right for every size that was compared."""
    request, diagnosis = attempt.request, attempt.diagnosis
    facts = diagnosis.facts if diagnosis else None
    if request is None or diagnosis is None or not isinstance(facts, SizesViolated):
        return
    for line, problems in _asked(facts).items():
        file = problems[0].stack[-1].file
        text, at = text_in_effect(request.edits, file, line)
        for taken in (True, False):
            try:
                made = one_way(text, at, taken)
            except Unclear:
                continue
            edit = Edit(unedited(file), text, made.text, (made.function,))
            title = f"{'Always' if taken else 'Never'} take the branch in line {line}"
            if progress:
                progress(Progress(0, 0, title.lower(), "fix"))
            fix = _tried(request, diagnosis, edit, problems)
            if fix is not None:
                yield _titled(fix, title, taken)
                return


def _asked(facts: SizesViolated) -> dict[int, list[Problem]]:
    """The problems by the line that asks for a size, the first file's."""
    found: dict[int, list[Problem]] = {}
    for problem in facts.problems:
        if problem.stack and problem.excluded:
            found.setdefault(problem.stack[-1].line, []).append(problem)
    return found


def _tried(request: Request, diagnosis: Diagnosis, edit: Edit, asked: list[Problem]) -> Fix | None:
    if not _same_in_eager(request, edit, asked):
        return None
    found = tried(request, edit)
    if found is None or not leads_on(found, diagnosis, edit):
        return None
    if isinstance(found, Exported) and _verdict(found) != "agrees":
        return None
    return Fix(
        kind="code",
        title="",
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=found if isinstance(found, Exported) else None,
    )


def _verdict(found: Exported) -> str:
    return found.agreement.verdict if found.agreement is not None else "not checked"


def _titled(fix: Fix, title: str, taken: bool) -> Fix:
    way = (
        "What it does changes nothing"
        if taken
        else "It is a shortcut: the other way gives the same"
    )
    return Fix(
        kind=fix.kind,
        title=title,
        why=f"{way} at the sizes that were compared with eager, on both sides of the condition.",
        change=fix.change,
        edits=fix.edits,
        stack=fix.stack,
        leads_to=fix.leads_to,
    )


def _same_in_eager(request: Request, edit: Edit, asked: list[Problem]) -> bool:
    """Whether the edited model answers as the model does, on both sides of the condition."""
    others = [
        with_size(request, [dim.place for dim in problem.dims], size)
        for problem in asked
        for size in problem.excluded[:_MOST_SIZES]
    ]
    return agrees_at(request, edit, others)


def one_way(text: str, line: int, taken: bool) -> Rewritten:
    """The text with the `if` at a line replaced by what it guards, or left out.

    Args:
        text: of the file.
        line: of the test.
        taken: whether the branch is kept, without its test.

    Raises:
        Unclear: there is none, it has another branch, or it only raises.
    """
    source = Source(text, line)
    branch = next(
        (
            node
            for node in ast.walk(source.function)
            if isinstance(node, ast.If)
            and node.test.lineno <= line <= (node.test.end_lineno or node.test.lineno)
        ),
        None,
    )
    if branch is None or branch.orelse or only_raises(text, line):
        raise Unclear("there is no `if` without an `else` at that line")
    if any(isinstance(node, ast.NamedExpr | ast.Await) for node in ast.walk(branch.test)):
        raise Unclear("the test binds a name")
    indent = source.indent(branch)
    start, end = source.start(branch), source.end(branch)
    if not taken:
        return source.changed([Piece(start, end, "pass")])
    if any(isinstance(node, ast.Return | ast.Break | ast.Continue) for node in ast.walk(branch)):
        raise Unclear("the branch leaves the block")
    lines = source.block_at(indent, branch.body)
    last = source.line_end(branch.body[-1])
    return source.changed([Piece(start, last, "\n".join(lines).lstrip())])

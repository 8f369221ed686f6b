"""Fixes of a condition on an unbacked size: `guard_or_false` in the user's code.

Code often checks a size only to take a fast path, and the other path is right for every size.
guard_or_false returns False if tracing cannot decide, so the other path is traced.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from export_engine.attempt import (
    Edit,
    Exported,
    Failed,
    Fix,
    NoFix,
    text_in_effect,
)
from export_engine.diagnose import UnbackedSize
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)
from export_engine.fixes.code.editing.try_edit import leads_on, try_edit, with_edit
from export_engine.progress import Progress, Report
from export_engine.shapes import Relation, assumable
from export_engine.source import original_file

_NUMBERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def suggest_guards(attempt: Failed, progress: Report | None = None) -> Iterator[Fix | NoFix]:
    """The rewrite for a diagnosed decision on an unbacked size."""
    request, diagnosis = attempt.request, attempt.diagnosis
    facts = diagnosis.facts if diagnosis else None
    if request is None or diagnosis is None or not isinstance(facts, UnbackedSize):
        return
    if not diagnosis.stack:
        return
    place = diagnosis.stack[-1]
    try:
        text, line = text_in_effect(request.edits, place.file, place.line)
        rewritten = wrap_in_guards(text, line)
    except CannotRewrite as reason:
        yield NoFix(f"Cannot use guard_or_false here: {reason}.")
        return
    edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
    if progress:
        progress(Progress(0, 0, f"trying guard_or_false in line {place.line}", "fix"))
    result = try_edit(request, edit)
    if result is None or not leads_on(result, diagnosis):
        return
    seen = _both_ways_tried(result, assumable(attempt, facts.asked))
    yield Fix(
        kind="code",
        title=f"Use guard_or_false in line {place.line}",
        why="guard_or_false returns False if tracing cannot decide, so the False branch is "
        "traced for every size.",
        lossy=not seen,
        gives_up=""
        if seen
        else "The program takes the False branch even if the condition is True, and not all such "
        "sizes were compared with eager.",
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=diagnosis.stack,
        leads_to=result if isinstance(result, Exported) else None,
    )


def _both_ways_tried(found: object, asked: list[Relation]) -> bool:
    """Whether the program agrees with eager at sizes where the condition holds and where not."""
    if not isinstance(found, Exported) or found.agreement is None or not asked:
        return False
    if found.agreement.verdict != "agrees":
        return False
    answers = {
        all(relation.holds(trial.sizes) for relation in asked)
        for trial in found.agreement.trials
        if trial.outcome == "agrees"
        and all(relation.names.keys() <= trial.sizes.keys() for relation in asked)
    }
    return answers == {True, False}


def wrap_in_guards(text: str, line: int) -> Rewritten:
    """The text with the deciding comparisons at a line wrapped in guard_or_false.

    Raises:
        CannotRewrite: there is none, or its statement does not begin its line.
    """
    source = Source(text, line)
    nodes = [node for node in _deciding(source.function) if spans(node, line)]
    if not nodes:
        raise CannotRewrite("that line decides nothing by a comparison")
    statement = _statement(source, nodes[0])
    if isinstance(statement, ast.If) and text[source.start(statement) :].startswith("elif"):
        raise CannotRewrite("an `elif` leaves no place for an import")
    at = source.start(statement)
    imported = "from torch.fx.experimental.symbolic_shapes import guard_or_false\n"
    pieces = [Piece(at, at, imported + source.indent(statement))]
    for node in nodes:
        start, end = source.start(node), source.end(node)
        pieces += [Piece(start, start, "guard_or_false("), Piece(end, end, ")")]
    return source.replace(pieces)


def _deciding(function: ast.AST) -> Iterator[ast.Compare]:
    """Comparisons of numbers that are a test, or a part of one."""
    for node in ast.walk(function):
        tests: list[ast.expr] = []
        if isinstance(node, ast.If | ast.IfExp):
            tests = [node.test]
        elif isinstance(node, ast.BoolOp):
            tests = node.values
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            tests = [node.operand]
        for test in tests:
            if isinstance(test, ast.Compare) and all(isinstance(op, _NUMBERS) for op in test.ops):
                yield test


def _statement(source: Source, inner: ast.expr) -> ast.stmt:
    """The innermost statement around an expression."""
    around = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.stmt)
        and node is not source.function
        and source.start(node) <= source.start(inner)
        and source.end(inner) <= source.end(node)
    ]
    return max(around, key=source.start)

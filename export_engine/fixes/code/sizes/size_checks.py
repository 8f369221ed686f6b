"""Conditions that an op asks of a data-dependent size, asserted with `torch._check` before it.

`scaled_dot_product_attention` asks whether its keys are empty, a convolution whether its input is.
The number has no value while tracing, so that the program asserts which way it goes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from export_engine.attempt import (
    Attempt,
    Diagnosis,
    Edit,
    Exported,
    Failed,
    Fix,
    Request,
    text_in_effect,
)
from export_engine.diagnose import DataDependent, diagnose
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Source
from export_engine.fixes.code.editing.try_edit import runs, try_edit, with_edit
from export_engine.progress import Progress, Report
from export_engine.shapes import OPPOSITE
from export_engine.source import original_file

_MOST_ROUNDS = 4


def iter_check_fixes(
    request: Request, diagnosis: Diagnosis, progress: Report | None
) -> Iterator[Fix]:
    """Checks for all that the op at a failing line asks of data-dependent numbers.

    Args:
        request: what failed.
        diagnosis: of a condition on a number that is computed from data.
        progress: called before each export.

    Raises:
        CannotRewrite: the condition has no text that is valid in front of the line.
    """
    stack, place = diagnosis.stack, diagnosis.stack[-1]
    before, line = text_in_effect(request.edits, place.file, place.line)
    edit = Edit(original_file(place.file), before, before, ())
    conditions: list[str] = []
    attempt: Attempt | None = None
    for _ in range(_MOST_ROUNDS):
        edit, condition = _add_check(request, edit, line, diagnosis)
        line += 1
        conditions.append(condition)
        if progress:
            progress(Progress(0, 0, f"checking {condition}", "fix"))
        attempt = try_edit(request, edit)
        if not isinstance(attempt, Failed):
            break
        diagnosis = diagnose(attempt)
        if not isinstance(diagnosis.facts, DataDependent) or not diagnosis.facts.condition:
            return
        if not diagnosis.stack or diagnosis.stack[-1].line != line:
            return
    if not isinstance(attempt, Exported) or _is_wrong(attempt):
        return
    listed = " and ".join(f"`{text}`" for text in conditions)
    yield Fix(
        kind="code",
        title=f"Check that {listed} before line {place.line}",
        why="The op asks this of a number that is computed from data. The program asserts it at "
        "run time.",
        lossy=not all(map(_excludes_nothing_but_empty, conditions)),
        narrows=True,
        gives_up=f"The program rejects inputs for which {listed} does not hold.",
        change=partial(with_edit, edit=edit),
        edits=with_edit(request, edit).edits,
        stack=stack,
        leads_to=attempt,
    )


def _is_wrong(found: Exported) -> bool:
    return found.agreement is not None and found.agreement.verdict in ("differs", "refused")


def _add_check(request: Request, edit: Edit, line: int, diagnosis: Diagnosis) -> tuple[Edit, str]:
    """An edit with a check more, which holds on the example, and what it checks."""
    facts = diagnosis.facts
    asked = facts.condition if isinstance(facts, DataDependent) else ""
    source = Source(edit.after, line)
    statement = _statement(source, line)
    at, indent = source.start(statement), source.indent(statement)
    for condition in _both_ways(asked):
        rewritten = source.replace([Piece(at, at, f"{source.torch}._check({condition})\n{indent}")])
        more = Edit(edit.file, edit.before, rewritten.text, (rewritten.function,))
        if runs(with_edit(request, more)):
            return more, condition
    raise CannotRewrite("what the op asks cannot be checked before the line")


def _both_ways(asked: str) -> list[str]:
    """The opposite of a condition, and the condition: a special case is seldom the example's."""
    try:
        test = ast.parse(asked, mode="eval").body
    except SyntaxError as error:
        raise CannotRewrite("what the op asks is not valid Python") from error
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        raise CannotRewrite("the op asks more than one comparison")
    left, right = ast.unparse(test.left), ast.unparse(test.comparators[0])
    between = asked[len(left) : len(asked) - len(right)].strip()
    if between not in OPPOSITE:
        raise CannotRewrite("the op does not compare numbers")
    return [f"{left} {OPPOSITE[between]} {right}", asked]


def _excludes_nothing_but_empty(condition: str) -> bool:
    """Whether a check rejects only sizes of 0, and negative ones."""
    return condition.endswith((" != 0", " > 0", " >= 0", " >= 1"))


def _statement(source: Source, line: int) -> ast.stmt:
    """The innermost statement at a line that other statements do not hold."""
    nodes = [
        node
        for node in ast.walk(source.function)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    if not nodes:
        raise CannotRewrite("there is no plain statement at that line")
    return max(nodes, key=source.start)

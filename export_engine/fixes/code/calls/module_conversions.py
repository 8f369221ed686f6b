"""Fixes of a module that `forward` casts or moves to what it is already: the conversion left out.

`self.head = self.head.to(x.dtype)` replaces parameters, which a trace cannot. Where they have that
dtype and device, the model answers the same without it, which is tried in eager.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from export_engine.attempt import Edit, Failed, Fix, Kind, NoFix, text_in_effect
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.text_edits import (
    CannotRewrite,
    Piece,
    Rewritten,
    Source,
    spans,
)
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import original_file

_CONVERSIONS = frozenset(
    {
        *("to", "type", "float", "double", "half", "bfloat16"),
        *("cpu", "cuda", "xpu", "ipu", "to_empty"),
    }
)
"""Methods of `nn.Module` that replace its parameters, and give the module back."""


def suggest_without_conversion(
    attempt: Failed, progress: Report | None = None
) -> Iterator[Fix | NoFix]:
    """The statement at the diagnosed line without what it converts; or why not."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind is not Kind.MODULE_CHANGED:
        return
    if not diagnosis.stack or diagnosis.span is None:
        return
    place = diagnosis.stack[-1]
    text, line = text_in_effect(request.edits, place.file, diagnosis.span.line)
    try:
        rewritten = remove_conversion(text, line, diagnosis.span.column)
    except CannotRewrite:
        return
    edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
    if progress:
        progress(Progress(0, 0, "leaving out the conversion, in eager", "fix"))
    if not agrees(request, edit):
        yield NoFix("The conversion is not dropped: without it, the model gives another result.")
        return
    fix = code_fix(
        request,
        diagnosis,
        edit,
        title=f"Drop the conversion in line {place.line}",
        why="The module has that dtype and device already, and answers the same without it.",
    )
    if fix is not None:
        yield fix


def remove_conversion(text: str, line: int, column: int) -> Rewritten:
    """The text with the module itself where it is converted.

    Args:
        text: of the file.
        line: at which what is converted begins.
        column: at which it begins, in characters from 0.

    Raises:
        CannotRewrite: nothing is converted there.
    """
    source = Source(text, line)
    statement = _statement(source, line)
    start = source.at_line(line) + column
    chain = [n for n in ast.walk(statement) if _converts(n) and source.start(n) == start]
    if not chain:
        raise CannotRewrite("nothing is converted there")
    outermost = max(chain, key=source.end)
    converted = _find_receiver(source, outermost)
    whole = isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.Assign)
        and all(source.of(target) == converted for target in statement.targets)
    )
    if whole and statement.value is outermost:
        return source.replace([Piece(source.start(statement), source.end(statement), "pass")])
    return source.replace([Piece(start, source.end(outermost), converted)])


def _statement(source: Source, line: int) -> ast.Assign | ast.Expr | ast.Return:
    """The statement at a line, unless it has a block."""
    for node in ast.walk(source.function):
        if isinstance(node, ast.Assign | ast.Expr | ast.Return) and spans(node, line):
            return node
    raise CannotRewrite("there is no assignment, call or return at that line")


def _converts(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node calls a method that converts modules."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in _CONVERSIONS


def _find_receiver(source: Source, call: ast.expr) -> str:
    """What a chain of conversions is called on."""
    while _converts(call):
        assert isinstance(call.func, ast.Attribute)
        call = call.func.value
    return source.of(call)

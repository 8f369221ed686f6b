"""Fixes of code that takes another path because it asks whether it is traced, and fails there.

`if not torch.compiler.is_compiling(): mask = torch.ones(…)` leaves out while tracing what the rest
of the function needs. With the answer that the question has in eager, the program takes its path.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from export_engine.attempt import Edit, Failed, Fix, Kind, Request, text_in_effect
from export_engine.fixes.code.editing.text_edits import CannotRewrite, Piece, Rewritten, Source
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import Location, original_file

_KINDS = (Kind.OWN_ERROR, Kind.OPERATOR_FAILED, Kind.TENSOR_LEAK, Kind.UNKNOWN)
"""What the path of a trace fails with where eager's does not."""
_QUESTIONS = frozenset(
    {
        *("is_compiling", "is_dynamo_compiling", "is_exporting"),  # of torch.compiler
        *("is_tracing", "is_scripting", "is_in_onnx_export"),  # of torch.jit and torch.onnx
        *("is_torchdynamo_compiling", "is_torchdynamo_exporting", "is_jit_tracing"),
    }
)
"""Functions of torch, and of transformers, that say in eager that nothing is traced."""


def suggest_eager_answer(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The innermost function on the way to the failure that asks, with eager's answer."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    for frame in reversed(diagnosis.stack):
        pair = _answer_question(request, frame)
        if pair is None:
            continue
        edit, line = pair
        title = f"Take eager's path in line {line}, which asks whether the model is traced"
        if progress:
            progress(Progress(0, 0, "taking eager's path", "fix"))
        why = (
            "The code takes another path while it is traced, and fails there. Eager's path is "
            "what the model computes when it is called."
        )
        fix = code_fix(request, diagnosis, edit, title=title, why=why)
        if fix is not None:
            yield fix
        return


def _answer_question(request: Request, frame: Location) -> tuple[Edit, int] | None:
    """The edit of a frame's function, and the line of its first question; None if it asks none."""
    text, line = text_in_effect(request.edits, frame.file, frame.line)
    try:
        rewritten, first = as_in_eager(text, line)
    except CannotRewrite:
        return None
    return Edit(original_file(frame.file), text, rewritten.text, (rewritten.function,)), first


def as_in_eager(text: str, line: int) -> tuple[Rewritten, int]:
    """The text with eager's answer to every question of a function, and the first one's line.

    Raises:
        CannotRewrite: the function at the line asks none.
    """
    source = Source(text, line)
    asked = [node for node in ast.walk(source.function) if _asks(node)]
    if not asked:
        raise CannotRewrite("nothing there asks whether it is traced")
    pieces = [Piece(source.start(call), source.end(call), "False") for call in asked]
    return source.replace(pieces), min(call.lineno for call in asked)


def _asks(node: ast.AST) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    return getattr(node.func, "attr", getattr(node.func, "id", "")) in _QUESTIONS

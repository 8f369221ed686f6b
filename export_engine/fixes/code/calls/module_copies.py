"""Fixes of a module that `forward` copies and only calls: the module itself is called.

`copy.deepcopy(self.block)` copies parameters, whose values a trace does not have. Where a call
changes nothing of the module, which is tried, the copy answers as the module does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from torch import nn

from export_engine.attempt import Edit, Failed, Fix, Kind
from export_engine.fixes.code.editing.assignments import assigned
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.fixes.code.editing.failing_text import failing_text
from export_engine.fixes.code.editing.rewrite import Rewritten
from export_engine.fixes.code.editing.text_edits import Piece, Source, spans
from export_engine.fixes.code.editing.try_edit import code_fix
from export_engine.progress import Progress, Report
from export_engine.source import unedited

_KINDS = (Kind.OUTPUT_FROM_DATA, Kind.GRAPH_BREAK)


def offered(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The module itself where the diagnosed line copies it."""
    at = failing_text(attempt, _KINDS)
    if at is None or not _is_in_eval_mode(at.request.target):
        return
    try:
        made = uncopied(at.text, at.line)
    except Unclear:
        return
    edit = Edit(unedited(at.place.file), at.text, made.text, (made.function,))
    if progress:
        progress(Progress(0, 0, "calling the module instead of its copy, in eager", "fix"))
    if not agrees(at.request, edit):
        return
    fix = code_fix(
        at.request,
        at.diagnosis,
        edit,
        title=f"Call the module in line {at.place.line} instead of its copy",
        why="The copy is only called, in eval mode, and answers as the module does.",
    )
    if fix is not None:
        yield fix


def _is_in_eval_mode(target: object) -> bool:
    return isinstance(target, nn.Module) and not any(each.training for each in target.modules())


def uncopied(text: str, line: int) -> Rewritten:
    """The text with what `copy.deepcopy` copies at a line instead of the copy.

    Raises:
        Unclear: nothing of the module is copied there, or more is done with a copy than to call it.
    """
    source = Source(text, line)
    modules = source.names_of("copy")
    for node in ast.walk(source.function):
        if not isinstance(node, ast.Call) or not spans(node, line) or len(node.args) != 1:
            continue
        name = source.of(node.func)
        copies = name == "deepcopy" or name in {f"{each}.deepcopy" for each in modules}
        value = node.args[0]
        if copies and source.of(value).startswith("self.") and _is_only_called(source, node):
            return source.changed([Piece(source.start(node), source.end(node), source.of(value))])
    raise Unclear("no module is copied there, or more is done with it than to call it")


def _is_only_called(source: Source, copy: ast.Call) -> bool:
    """Whether what a call gives is called, at once or under its only name, and nothing else."""
    calls = [node.func for node in ast.walk(source.function) if isinstance(node, ast.Call)]
    if copy in calls:
        return True
    for node in ast.walk(source.function):
        if isinstance(node, ast.Assign) and node.value is copy:
            (target, *more) = node.targets
            if more or not isinstance(target, ast.Name):
                return False
            uses = [
                each
                for each in ast.walk(source.function)
                if isinstance(each, ast.Name) and each.id == target.id and each is not target
            ]
            return assigned(source.function, target.id) is node and all(u in calls for u in uses)
    return False

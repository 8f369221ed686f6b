"""Fixes of torch's functions that take no symbolic size: the same from ops that do."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn
from torch.nn import functional

from export_engine.attempt import Edit, Failed, Fix, Kind, as_module, text_in_effect
from export_engine.fixes.code.editing.bounded_edit import (
    beyond_bounds,
    find_bounds_fix,
    with_bounds,
)
from export_engine.fixes.code.editing.text_edits import CannotRewrite
from export_engine.fixes.code.editing.try_edit import (
    find_fixing_places,
    leads_on,
    plain_fix,
    try_edit,
)
from export_engine.fixes.rules.formulas import in_ops
from export_engine.fixes.rules.grids import find_scale_lines
from export_engine.progress import Progress, Report
from export_engine.source import Location, code_of, original_file

_TORCH = functional.__file__
_OF_TORCH = "torch's max_pool1d"
_KINDS = (
    *(Kind.SHAPES_VIOLATED, Kind.UNBACKED_SIZE, Kind.BRANCH_ON_UNBACKED),
    *(Kind.OUTPUT_FROM_DATA, Kind.OPERATOR_FAILED),
)


def suggest_formula(attempt: Failed, progress: Report | None = None) -> Iterator[Fix]:
    """The function at a diagnosed line, computed with other ops."""
    request, diagnosis = attempt.request, attempt.diagnosis
    if request is None or diagnosis is None or diagnosis.kind not in _KINDS:
        return
    for place in _places(attempt):
        text, line = text_in_effect(request.edits, place.file, place.line)
        try:
            rewritten, called, why = in_ops(text, line)
        except CannotRewrite:
            continue
        where = f"{called} in line {place.line}"
        title = f"Compute {_OF_TORCH if place.file == _TORCH else where} with other ops"
        if progress:
            progress(Progress(0, 0, f"{title[0].lower()}{title[1:]}", "fix"))
        edit = Edit(original_file(place.file), text, rewritten.text, (rewritten.function,))
        result = try_edit(request, edit)
        bounds = find_bounds_fix(result, progress)
        fix = plain_fix(request, diagnosis, edit, result, title=title, why=why)
        if bounds is not None:
            yield beyond_bounds(request, diagnosis, with_bounds(fix, bounds))
            return
        if result is not None and leads_on(result, diagnosis, edit):
            yield fix
            return


def _places(attempt: Failed) -> list[Location]:
    """The lines that may fix a size, and those of their files that interpolate by computed scales.

    What takes a float fixes the sizes that it is computed from, and no line of the model asks.
    """
    request, own = attempt.request, find_fixing_places(attempt)
    assert request is not None
    assert attempt.diagnosis is not None
    if attempt.diagnosis.kind is not Kind.SHAPES_VIOLATED:
        return own
    locations = list(own)
    frames = [*attempt.diagnosis.stack, *own]
    for file in dict.fromkeys(frame.file for frame in frames):
        text, _ = text_in_effect(request.edits, file, 1)
        at = {text_in_effect(request.edits, file, f.line)[1] for f in frames if f.file == file}
        locations += [Location(file, line, "") for line in find_scale_lines(text, at)]
    return list(dict.fromkeys([*locations, *_find_line_of_torch(request.target)]))


def _find_line_of_torch(target: Callable[..., Any]) -> Iterator[Location]:
    """The line of torch's own function that calls max_pool1d, where a model has the module."""
    modules = as_module(target).modules()
    code = code_of(_TORCH) if any(isinstance(m, nn.MaxPool1d) for m in modules) else None
    for node in ast.walk(code.tree) if code is not None else ():
        if isinstance(node, ast.Return) and "torch.max_pool1d(" in ast.unparse(node):
            yield Location(_TORCH, node.lineno, "_max_pool1d")

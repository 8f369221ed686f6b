"""Rewrites `dynamic_shapes` that do not fit the call, if the intent can be told."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from export_engine.attempt import Failed, Fix, Kind, NoFix, Request, signature_of
from export_engine.fixes.try_fixes import read_failure
from export_engine.shapes import Misfit, ShapesError, fit_shapes, format_entries, only_names_dims
from export_engine.torch_internals import is_shapes_spec

_STRUCTURE = (
    "Restructure dynamic_shapes to match this call",
    "Each input gets its entry, matched by name or by position.",
)
_NAMES = (
    "Convert the names in dynamic_shapes to Dims",
    "torch.onnx.export accepts a name for a dim; torch.export requires a Dim of that name.",
)


def suggest_specs(attempt: Failed) -> Iterator[Fix | NoFix]:
    """The right shapes for an attempt whose diagnosis says that they do not fit."""
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind is not Kind.SHAPES_MISMATCH:
        return
    if is_shapes_spec(request.dynamic_shapes):
        inputs = "; ".join(line.split("    ")[0] for line in format_inputs(request).splitlines())
        yield NoFix(
            f"Cannot rewrite a ShapesSpec. With all sizes static, the inputs are `{inputs}`."
        )
        return
    try:
        shapes, dropped = fit_shapes(_find_misfit(request))
    except ShapesError as error:
        yield NoFix(f"The spec cannot be matched to the call: {error.message}.")
        return
    if not shapes:
        yield NoFix("None of the entries matches an input of the call.")
        return
    title, why = _NAMES if only_names_dims(_find_misfit(request)) else _STRUCTURE
    yield Fix(
        kind="shapes",
        title=title,
        why=why,
        lossy=bool(dropped),
        gives_up=f"No input was found for {', '.join(dropped)}." if dropped else "",
        change=lambda request: request.with_changes(shapes=shapes),
        before=format_entries(request.dynamic_shapes),
        after=f"{shapes}\n\nThe call's inputs:\n{format_inputs(request)}",
    )


def _find_misfit(request: Request) -> Misfit:
    signature = signature_of(request.target)
    return Misfit(request.dynamic_shapes, request.target, signature, request.args, request.kwargs)


def format_inputs(request: Request) -> str:
    """The inputs of a call in the short language, a line for each tensor, all static."""
    lines = []
    for path, value in _find_misfit(request).list_leaves():
        if isinstance(value, torch.Tensor):
            dims = ", ".join("_" for _ in value.shape)
            lines.append(f"{path}: {dims}    {list(value.shape)}" if dims else f"{path}:    []")
    return "\n".join(lines)

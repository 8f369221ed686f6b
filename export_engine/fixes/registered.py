"""Fixes that register what torch lacks for the call: classes as containers, an op's fake kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from export_engine.attempt import Exported, Failed, Fix, Kind, NoFix, Request, signature_of
from export_engine.diagnose import NoFakeKernel
from export_engine.fixes.try_fixes import read_failure, tell, try_request
from export_engine.record import join_path
from export_engine.registrations import (
    FakeKernel,
    Registered,
    Unfit,
    find_registrations,
    find_unregistered_values,
    infer_kernel,
    register_for_a_while,
)
from export_engine.shapes import Auto, Misfit, Shapes, ShapesError, fit_shapes, leaves_of
from export_engine.torch_internals import key_text, missing_object_dicts, pytree

_KINDS = (Kind.UNKNOWN_INPUT_TYPE, Kind.UNKNOWN_OUTPUT_TYPE)


def suggest_registrations(attempt: Failed) -> Iterator[Fix | NoFix]:
    """One fix that registers all classes that the call needs, for a diagnosed attempt."""
    request, diagnosis = read_failure(attempt)
    if diagnosis.kind not in _KINDS:
        return
    missing = missing_object_dicts()
    if missing and request.strict and diagnosis.kind is Kind.UNKNOWN_OUTPUT_TYPE:
        yield NoFix(missing)
        return
    tell("inspecting the model's inputs and outputs")
    try:
        samples = find_unregistered_values(request)
        setups = find_registrations(samples)
    except Unfit as reason:
        yield NoFix(f"Cannot register it as a container: {reason}.")
        return
    if not setups:
        return
    tensors = [path for value in samples[:1] for path in _paths_in(value, setups)]
    yield Fix(
        kind="inputs",
        title=_title(setups),
        why="Registers a pytree node, so torch can flatten the object into tensors and rebuild "
        "it. Values other than tensors become constants.",
        change=lambda request: _with_classes(request, setups),
        before=", ".join(dict.fromkeys(type(value).__name__ for value in samples)),
        after="\n".join(
            [*(setup.text for setup in setups), f"Tensors: {', '.join(tensors) or 'none'}"]
        ),
        stack=diagnosis.stack,
    )


def _title(setups: tuple[Registered, ...]) -> str:
    names = ", ".join(f"`{setup.cls.__name__}`" for setup in setups)
    what = "constant" if all(setup.way == "constant" for setup in setups) else "container"
    return f"Register {names} as {f'a {what}' if len(setups) == 1 else f'{what}s'}"


def _paths_in(value: Any, setups: tuple[Registered, ...]) -> list[str]:
    with register_for_a_while(setups):
        leaves = pytree.tree_flatten_with_path(value)[0]
    texts = [join_path(map(key_text, keys)) for keys, leaf in leaves if torch.is_tensor(leaf)]
    return [*texts[:8], *(["…"] if len(texts) > 8 else [])]


def _with_classes(request: Request, setups: tuple[Registered, ...]) -> Request:
    """The request with classes registered; sizes of newly visible tensors are automatic."""
    added = tuple(setup for setup in setups if setup not in request.setups)
    wanted = request.with_changes(setups=(*request.setups, *added))
    with register_for_a_while(setups):
        refitted = _refit(wanted)
    if refitted:
        return wanted.with_changes(shapes=refitted)
    shapes = request.shapes
    if not shapes:
        return wanted
    signature = signature_of(request.target)
    before = {leaf.path for leaf in leaves_of(signature, request.args, request.kwargs)}
    with register_for_a_while(setups):
        after = leaves_of(signature, request.args, request.kwargs)
    leaves = dict(shapes.leaves)
    for path, value in after:
        if path not in before and isinstance(value, torch.Tensor) and value.dim():
            leaves.setdefault(path, tuple(Auto() for _ in value.shape))
    try:
        return wanted.with_changes(shapes=replace(shapes, leaves=leaves))
    except ShapesError:
        return wanted


def _refit(request: Request) -> Shapes | None:
    """What `dynamic_shapes` mean that only fit once the call's classes are registered."""
    specs = request.dynamic_shapes
    if specs is None or request.shapes:
        return None
    signature = signature_of(request.target)
    misfit = Misfit(specs, request.target, signature, request.args, request.kwargs)
    try:
        shapes, dropped = fit_shapes(misfit)
    except ShapesError:
        return None
    return None if dropped else shapes


def suggest_fake_kernel(attempt: Failed) -> Iterator[Fix | NoFix]:
    """A fake kernel for the op of a diagnosed attempt."""
    request, diagnosis = read_failure(attempt)
    facts = diagnosis.facts
    if not isinstance(facts, NoFakeKernel):
        return
    op = facts.op
    tell(f"running {op} at other sizes")
    try:
        runs, kernel, rules = infer_kernel(request, op, facts.overload)
    except Unfit as reason:
        yield NoFix(f"No fake kernel could be written for `{op}`: {reason}.")
        return
    result = try_request(_with_kernel(request, kernel))
    held_out = f"; {len(runs.further)} were held out to test it" if runs.further else ""
    unbacked = " A data-dependent size is left unbacked."
    yield Fix(
        kind="inputs",
        title=kernel.title,
        why=f"Inferred from {len(runs.every)} runs of the real op, and correct for all of them"
        f"{held_out}. Put it next to the op's definition.",
        gives_up="It does not raise the op's errors."
        + (unbacked if any(None in rule.dims for rule in rules) else ""),
        change=lambda request: _with_kernel(request, kernel),
        before=f"{op} without a fake kernel",
        after=kernel.code,
        stack=diagnosis.stack,
        leads_to=result if isinstance(result, Exported) else None,
    )


def _with_kernel(request: Request, kernel: FakeKernel) -> Request:
    others = tuple(setup for setup in request.setups if setup != kernel)
    return request.with_changes(setups=(*others, kernel))

"""Tensors that became part of the program: from closures and globals, parameters, tied weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import torch

from export_engine.attempt import Exported, as_module
from export_engine.findings.finding import Finding, Kind
from export_engine.findings.program_ops import parse
from export_engine.record import Record
from export_engine.source import Stack
from export_engine.torch_internals import is_fake

_LIFTED = "lift_fresh"
"""The op through which a tensor that `forward` makes of plain numbers comes in: as in eager, it is
a new one each time."""


def found(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding per constant; one for all tied weights."""
    program = exported.program
    parameters = _parameters(exported)
    placeholders = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for spec in program.graph_signature.input_specs:
        if spec.kind.name != "CONSTANT_TENSOR":
            continue
        node = placeholders.get(spec.arg.name)
        users = list(node.users) if node is not None else []
        if users and all(_LIFTED in str(each.target) for each in users):
            continue
        value = program.constants.get(spec.target or "")
        stack = _first_stack(users)
        of = parameters.get(value.data_ptr()) if _has_values(value) else None
        if of and isinstance(value, torch.Tensor) and value.numel():
            yield _parameter(spec.target or "", of, stack)
        else:
            yield _constant(spec.target or "", value, stack)
    yield from _tied(exported)


def _has_values(value: object) -> TypeGuard[torch.Tensor]:
    """Whether it is a tensor, and no stand-in for one."""
    return isinstance(value, torch.Tensor) and not is_fake(value)


def _constant(name: str, value: object, stack: Stack) -> Finding:
    shape = f" of shape {list(value.shape)}" if isinstance(value, torch.Tensor) else ""
    return Finding(
        kind=Kind.FROZEN_TENSOR,
        severity="note",
        sentence=f"A tensor{shape} that is neither a parameter nor a buffer is a constant of the "
        f"program: `{name}`.",
        why="It keeps the value it had: later writes do not reach the program, and it is not in "
        "the state dict. `register_buffer` makes it part of the model.",
        stack=stack,
    )


def _parameter(name: str, parameter: str, stack: Stack) -> Finding:
    return Finding(
        kind=Kind.FROZEN_PARAMETER,
        severity="surprising",
        sentence=f"The parameter `{parameter}` was also lifted as a constant: `{name}`.",
        why="The code reaches it through a plain container, not as an attribute. Weights loaded "
        "into the program later do not reach this copy (pytorch issue 163303).",
        stack=stack,
    )


def _tied(exported: Exported) -> Iterator[Finding]:
    """Names of one parameter that the program has as several."""
    if exported.request is None:
        return
    module = as_module(exported.request.target)
    names: dict[int, list[str]] = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    state = exported.program.state_dict
    used = {spec.target for spec in exported.program.graph_signature.input_specs}
    for same in names.values():
        there = [name for name in same if name in used and name in state]
        if len({state[name].data_ptr() for name in there}) > 1:
            yield Finding(
                kind=Kind.TIED_WEIGHTS,
                severity="surprising",
                sentence=f"{' and '.join(f'`{name}`' for name in there)} are tied in the "
                "model and separate in the program.",
                why="Training or loading one of them in the program leaves the others unchanged.",
            )


def _parameters(exported: Exported) -> dict[int, str]:
    """Per address, the name of the user's own parameter there."""
    if exported.request is None:
        return {}
    module = as_module(exported.request.target)
    return {
        parameter.data_ptr(): name
        for name, parameter in module.named_parameters()
        if parameter.numel()
    }


def _first_stack(users: list[torch.fx.Node]) -> Stack:
    return next((stack for node in users if (stack := parse(node))), ())

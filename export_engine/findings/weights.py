"""The model's own parameters in the program: some as constants, some no longer tied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

import torch

from export_engine import rules
from export_engine.attempt import Exported, Finding, Kind, as_module
from export_engine.record import Record
from export_engine.torch_internals import is_fake


def check_weights(exported: Exported, _: Record) -> Iterator[Finding]:
    """One finding for each weight whose names in the model are several weights in the program."""
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
        if len({_memory(state[name]) for name in there}) > 1:
            yield Finding(
                kind=Kind.TIED_WEIGHTS,
                severity="surprising",
                sentence=rules.TiedWeights.SENTENCE(
                    names=" and ".join(f"`{name}`" for name in there)
                ),
                why=rules.TiedWeights.WHY(),
            )


def constant_parameters(exported: Exported) -> dict[str, str]:
    """Per constant of the program that is a parameter of the model, that one's name."""
    if exported.request is None:
        return {}
    module = as_module(exported.request.target)
    names = {
        parameter.data_ptr(): name
        for name, parameter in module.named_parameters()
        if _has_values(parameter) and parameter.numel()
    }
    result = {}
    for target, value in exported.program.constants.items():
        if _has_values(value) and value.numel() and value.data_ptr() in names:
            result[target] = names[value.data_ptr()]
    return result


def _has_values(value: object) -> TypeGuard[torch.Tensor]:
    """Whether it is a real tensor, not a fake one or one on the meta device."""
    return isinstance(value, torch.Tensor) and not is_fake(value) and not value.is_meta


def _memory(value: torch.Tensor) -> int:
    """Where a tensor's values are; of one without values, the tensor itself."""
    return value.data_ptr() if _has_values(value) else id(value)

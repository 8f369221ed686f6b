"""The calls of modules that one `generate()` makes: which module, with what, in which order.

Only outermost calls count: a module that is called inside of another's call is part of that one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch

from export_engine.capture import quiet
from export_engine.generation.hidden_state import find_changed_tensors, find_hidden_tensors
from export_engine.process import sandbox, undone


@dataclass(frozen=True)
class ObservedCall:
    """One outermost call of a module."""

    path: str
    """Where the module is in the model: `encoder`; empty for the model itself."""
    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    keeps: tuple[str, ...] = ()
    """Attributes of modules in which it left other tensors than were there before."""


@undone
def record_calls(model: torch.nn.Module) -> Iterator[list[ObservedCall]]:
    """Notes the outermost calls of the modules of a model, with copies of what they are given."""
    calls: list[ObservedCall] = []
    inside: list[torch.nn.Module] = []
    kept: dict[str, Any] = {}
    handles = []

    def entering(path: str) -> Callable[..., None]:
        def enter(module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            if not inside:
                pair = copy.deepcopy((args, kwargs), _not_to_copy(args, kwargs))
                calls.append(ObservedCall(path, module, *pair))
                kept.update(find_hidden_tensors(model))
            inside.append(module)

        return enter

    def leave(*_: Any) -> None:
        inside.pop()
        if not inside:
            calls[-1] = replace(
                calls[-1], keeps=find_changed_tensors(kept, find_hidden_tensors(model))
            )
            kept.clear()

    try:
        for path, module in model.named_modules():
            handles.append(module.register_forward_pre_hook(entering(path), with_kwargs=True))
            handles.append(module.register_forward_hook(leave, always_call=True))
        yield calls
    finally:
        for handle in handles:
            handle.remove()


def _not_to_copy(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[int, Any]:
    """What is not to be copied: a module or a config that is passed on."""
    values = [*args, *kwargs.values()]
    kept = (torch.nn.Module,)
    return {id(value): value for value in values if isinstance(value, kept)}


def run_generate(model: Any, inputs: Mapping[str, Any], tokens: int, **options: Any) -> Any:
    """The greedy generation of a model, of exactly so many new tokens; inputs are copied."""
    config = copy.deepcopy(model.generation_config)
    config.max_length = None
    config.max_new_tokens = config.min_new_tokens = tokens
    config.do_sample, config.num_beams = False, 1
    for text in ("temperature", "top_p", "top_k"):
        if hasattr(config, text):
            setattr(config, text, None)
    with sandbox(), torch.no_grad():
        return model.generate(**copy.deepcopy(dict(inputs)), generation_config=config, **options)


def calls_of(
    model: Any, inputs: Mapping[str, Any], tokens: int
) -> tuple[list[ObservedCall], list[str]]:
    """The outermost calls that one greedy generation makes, and what was warned of meanwhile."""
    with quiet() as heard, record_calls(model) as calls:
        run_generate(model, inputs, tokens)
    return calls, heard.warnings

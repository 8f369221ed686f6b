"""Arguments other than tensors to which the calls of a component give values that differ.

A program has one value of such an argument. That is only of interest where the module reads it:
`generate()` tells every model how many tokens are new, and few ask.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from export_engine.attempt import signature_of
from export_engine.defects import log_internal_error
from export_engine.generation.observed_calls import ObservedCall
from export_engine.torch_internals import call_leaves
from export_engine.verify import compare


def differing_arguments(calls: Sequence[ObservedCall]) -> dict[str, tuple[str, ...]]:
    """Per path the values that calls gave, as text, where another value gives another result."""
    groups: dict[str, list[str]] = {}
    for call in calls:
        for path, value in call_leaves(signature_of(call.module), call.args, call.kwargs):
            if not isinstance(value, torch.Tensor):
                groups.setdefault(path, []).append(repr(value)[:60])
    return {
        path: tuple(values)
        for path, values in groups.items()
        if len(set(values)) > 1 and _is_read(calls, path)
    }


def _is_read(calls: Sequence[ObservedCall], path: str) -> bool:
    """Whether a call gives something else with the value that another call was given."""
    if any(path not in call.kwargs for call in calls):
        return True  # inside of a container: it is not tried
    first = calls[0]
    other = next(
        call.kwargs[path] for call in calls if repr(call.kwargs[path]) != repr(first.kwargs[path])
    )
    try:
        one, changed = (
            _result(first, {**first.kwargs, path: value}) for value in (first.kwargs[path], other)
        )
        return not compare(changed, one).same
    except Exception as error:  # noqa: BLE001 - the module may take no other value
        log_internal_error(error, "calling a module with a changed argument")
        return True


def _result(call: ObservedCall, kwargs: dict[str, Any]) -> Any:
    with torch.no_grad():
        return call.module(*copy.deepcopy(call.args), **copy.deepcopy(kwargs))

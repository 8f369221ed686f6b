"""Connections between programs, found by running each on its example and comparing values.

Where one program's result is another's example input, the user made that example by calling the
first: then the tensor flows between them, whatever the two call it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from export_engine.attempt import Exported, signature_of
from export_engine.defects import log_internal_error
from export_engine.programs.component import Link
from export_engine.record import join_path
from export_engine.torch_internals import call_leaves, key_text, pytree
from export_engine.verify import call

_MOST_LEFT_OUT = 8
"""Rows at the front of what an encoder gives that are left out: a class token, registers."""
_LEAST = 4
"""The least elements of a tensor that is identified by its values."""


def links_by_value(attempts: Mapping[str, Exported]) -> list[Link]:
    """The links between programs that their examples show. Programs without a call have none."""
    groups = {name: _inputs(attempt) for name, attempt in attempts.items()}
    outputs = {
        source: _outputs(attempt)
        for source, attempt in attempts.items()
        if any(groups[name] for name in attempts if name != source)
    }
    whole = _links(outputs, groups, _same)
    pairs = {(link.target, link.input) for link in whole}
    others = {
        name: {path: tensor for path, tensor in inputs.items() if (name, path) not in pairs}
        for name, inputs in groups.items()
    }
    return whole + _links(outputs, others, _is_part)


def _links(
    outputs: Mapping[str, Mapping[str, torch.Tensor]],
    given: Mapping[str, Mapping[str, torch.Tensor]],
    alike: Callable[[torch.Tensor, torch.Tensor], bool],
) -> list[Link]:
    return [
        Link(source, output, target, path)
        for source, values in outputs.items()
        for output, value in values.items()
        for target, inputs in given.items()
        if target != source
        for path, other in inputs.items()
        if alike(value, other)
    ]


def _inputs(attempt: Exported) -> dict[str, torch.Tensor]:
    """The example inputs that values tell apart, by path."""
    request = attempt.request
    if request is None:
        return {}
    leaves = call_leaves(signature_of(request.target), request.args, request.kwargs)
    return {path: value for path, value in leaves if _telling(value)}


def _outputs(attempt: Exported) -> dict[str, torch.Tensor]:
    """The results of the example call, by path; none where eager fails."""
    request = attempt.request
    if request is None:
        return {}
    try:
        result: Any = call(request.target, request, seed=0).result
        leaves = pytree.tree_flatten_with_path(result)[0]
    except Exception as error:  # noqa: BLE001 - the model is the user's own; then names tell
        log_internal_error(error, "running a program's example to see what flows")
        return {}
    named = {join_path(map(key_text, keys)): value for keys, value in leaves}
    return {path: value for path, value in named.items() if _telling(value)}


def _telling(value: Any) -> bool:
    """Whether a value is a tensor that no other is likely to equal."""
    if not isinstance(value, torch.Tensor) or not value.is_floating_point():
        return False
    return value.numel() >= _LEAST and bool((value != value.flatten()[0]).any())


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return (
        one.shape == other.shape
        and one.dtype == other.dtype
        and one.device == other.device
        and torch.allclose(one, other, rtol=1e-4, atol=1e-5)
    )


def _is_part(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether one tensor is another without the front of its second dim, or with two dims as one.

    So an encoder's features go on without the class token, and those of all images in one list.
    """
    if one.dim() < 2 or other.dim() not in (one.dim(), one.dim() - 1):
        return False
    flat = other.dim() < one.dim()
    left = one.shape[1] - (other.shape[0] // max(one.shape[0], 1) if flat else other.shape[1])
    if not (0 if flat else 1) <= left <= _MOST_LEFT_OUT:
        return False
    part = one[:, left:]
    return _same(part.flatten(0, 1) if flat else part, other)

"""Lists of tensors that are as long as the batch, given to a program as one tensor.

A multimodal model is given its image features as a list, one entry per image. A program takes one
number of inputs, whatever the batch is; so the entries are joined along their first dim, where the
model gives the same result for it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import torch

from export_engine.attempt import signature_of
from export_engine.defects import log_internal_error
from export_engine.generation.observed_calls import ObservedCall
from export_engine.torch_internals import call_leaves, pytree
from export_engine.verify import compare


def lists_to_join(
    one: Sequence[ObservedCall], other: Sequence[ObservedCall]
) -> dict[str, set[str]]:
    """Per module, the paths of lists that are longer in a run with more rows.

    Args:
        one: the calls of a generation.
        other: those of the same with one more row.
    """
    groups: dict[str, set[str]] = {}
    for call, more in zip(one, other, strict=False):
        if call.path != more.path:
            break
        lengths, longer = _lengths(call), _lengths(more)
        paths = {path for path, length in lengths.items() if longer.get(path, length) != length}
        if paths and _takes_joined(call, paths):
            groups.setdefault(call.path, set()).update(paths)
    return groups


def join_lists(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Sequence[str], paths: AbstractSet[str]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with some lists as lists of one tensor.

    Args:
        args: those by position.
        kwargs: those by name.
        names: of the parameters, in order.
        paths: of the lists.
    """
    items = [_join(value, name, paths) for name, value in zip(names, args, strict=False)]
    rest = args[len(items) :]
    return (*items, *rest), {name: _join(value, name, paths) for name, value in kwargs.items()}


def join_call_lists(call: ObservedCall, lists: Mapping[str, AbstractSet[str]]) -> ObservedCall:
    """An observed call with the lists of its module joined."""
    paths = lists.get(call.path)
    if not paths:
        return call
    names = list(signature_of(call.module).parameters)
    args, kwargs = join_lists(call.args, call.kwargs, names, paths)
    return replace(call, args=args, kwargs=kwargs)


def _join(value: Any, path: str, paths: AbstractSet[str]) -> Any:
    if not any(text == path or text.startswith(f"{path}.") for text in paths):
        return value
    if path in paths and isinstance(value, list | tuple) and value:
        whole = torch.cat(list(value))
        return [whole] if isinstance(value, list) else (whole,)
    if isinstance(value, dict):
        changed = copy.copy(value)
        for key in list(value):
            changed[key] = _join(value[key], f"{path}.{key}", paths)
        return changed
    if type(value) in (list, tuple):
        items = [_join(item, f"{path}.{at}", paths) for at, item in enumerate(value)]
        return type(value)(items)
    return value


def _lengths(call: ObservedCall) -> dict[str, int]:
    """Per path of a list of tensors that can be joined, its length."""
    groups: dict[str, list[torch.Tensor]] = {}
    for path, value in call_leaves(signature_of(call.module), call.args, call.kwargs):
        parent, _, last = path.rpartition(".")
        if last.isdigit() and isinstance(value, torch.Tensor) and value.dim():
            groups.setdefault(parent, []).append(value)
    return {
        path: len(values)
        for path, values in groups.items()
        if len({(value.shape[1:], value.dtype) for value in values}) == 1
    }


def _takes_joined(call: ObservedCall, paths: AbstractSet[str]) -> bool:
    """Whether a module gives the same for joined lists."""
    other = join_call_lists(call, {call.path: paths})
    try:
        with torch.no_grad():
            results = []
            for tried_call in (
                call,
                other,
            ):  # copied apart: a cache that one fills is not the other's
                args, kwargs = copy.deepcopy((tried_call.args, dict(tried_call.kwargs)))
                leaves = call_leaves(signature_of(call.module), args, kwargs)
                lists = [value for path, value in leaves if path.rpartition(".")[0] in paths]
                results.append(_select_results(call.module(*args, **kwargs), lists))
            return compare(results[1], results[0]).same
    except Exception as error:  # noqa: BLE001 - the model may take lists one way only
        log_internal_error(error, "joining lists that are as long as the batch")
        return False


def _select_results(result: Any, lists: Sequence[Any]) -> list[Any]:
    """A module's results, without lists that it passes on unchanged."""
    leaves = pytree.tree_leaves(result)
    return [leaf for leaf in leaves if not any(leaf is value for value in lists)]

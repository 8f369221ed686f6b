"""Which classes of a call's inputs and results torch does not know, and how to register each.

The eager model runs once on copies, to find the objects and their contents. A class is registered
only if its objects survive flattening and unflattening.
"""

from __future__ import annotations

import dataclasses
import enum
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from export_engine.attempt import Request
from export_engine.capture import model_kept
from export_engine.defects import log_internal_error
from export_engine.registrations.pytree_containers import (
    Registered,
    Unfit,
    Way,
    beside_items,
    register_for_a_while,
    state_of,
    transformers_function,
)
from export_engine.torch_internals import is_container, is_input_type, pytree
from export_engine.verify import run

_PLAIN = (list, tuple, dict, OrderedDict)


def find_unregistered_values(request: Request) -> list[Any]:
    """The objects of classes that torch does not know, of the inputs and of what eager returns.

    Inputs appear twice, before and after the call: a cache starts empty and is filled.

    Raises:
        Unfit: the eager model does not run.
    """
    items = _list_unregistered(request.args) + _list_unregistered(dict(request.kwargs))
    target = request.target

    def call_target(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs), args, kwargs

    with model_kept(target):
        try:
            after = _list_unregistered(run(call_target, request, seed=0))
        except Exception as error:
            text = str(error).strip().partition("\n")[0]
            raise Unfit(f"the model does not run on the example ({text})") from error
    return items + after


def _list_unregistered(tree: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(tree) if not is_input_type(leaf)]


def find_registrations(values: Iterable[Any]) -> tuple[Registered, ...]:
    """The registrations that let torch flatten these values.

    Raises:
        Unfit: the objects do not survive a round trip.
    """
    values = list(values)
    reason: Unfit | None = None
    for own_ways in (True, False):
        setups = _of_classes(values, own_ways)
        try:
            with register_for_a_while(setups):
                for value in values:
                    _check_round_trip(value, own_ways)
        except Unfit as error:
            reason = error
            continue
        except Exception as error:  # noqa: BLE001 - a class may refuse to be made in any way
            log_internal_error(error, "flattening a container")
            text = str(error).strip().partition("\n")[0]
            reason = Unfit(f"flattening one fails ({text})")
            continue
        return setups
    raise reason or Unfit("no instance of its class was found")


def _of_classes(values: Iterable[Any], own_ways: bool) -> tuple[Registered, ...]:
    """One setup per class to register, for the values and for nested tensor containers."""
    entries: dict[type, Registered] = {}

    def visit(value: Any, root: bool, seen: tuple[int, ...]) -> None:
        if id(value) in seen:
            raise Unfit(f"a {type(value).__name__} contains itself")
        seen = (*seen, id(value))
        if type(value) in _PLAIN:
            for item in value.values() if isinstance(value, Mapping) else value:
                visit(item, root=False, seen=seen)
            return
        cls = type(value)
        if is_container(cls) or not (root or _may_hold(value)):
            return
        if root and isinstance(value, enum.Enum):
            entries[cls] = Registered(cls, "constant")
            return
        _refuse_kinds(value)
        way: Way = _way(cls) if own_ways else "attributes"
        state = state_of(value)
        if root or any(_has_tensor(each, 8) for each in state.values()):
            entries[cls] = Registered(cls, way)
        if way != "transformers":
            for each in state.values():
                visit(each, root=False, seen=seen)

    for value in values:
        visit(value, root=True, seen=())
    return tuple(entries.values())


def _may_hold(value: Any) -> bool:
    """Whether a value is an instance of a user class, whose attributes may hold tensors."""
    plain = isinstance(value, torch.Tensor | torch.nn.Module | type | enum.Enum)
    is_known = type(value).__module__.partition(".")[0] in (
        "builtins",
        "torch",
        "numpy",
        "functools",
    )
    return not plain and not is_known and not callable(value)


def _refuse_kinds(value: Any) -> None:
    cls = type(value)
    if isinstance(value, set | frozenset):
        raise Unfit("a set has no order, so it cannot be flattened")
    if isinstance(value, torch.nn.Module):
        raise Unfit("a module is passed as an argument; make it a submodule of the model instead")
    if isinstance(value, Iterator):
        raise Unfit(f"a {cls.__name__}, which can be read only once; return a list instead")
    if cls.__module__.partition(".")[0] == "numpy":
        raise Unfit("a NumPy value; pass `torch.from_numpy(array)` instead")
    if cls.__module__ == "torch":
        raise Unfit(
            f"a torch.{cls.__name__}, which torch itself flattens; keep it out of the inputs "
            "and the outputs"
        )
    if cls.__module__ == "builtins" or isinstance(value, type):
        raise Unfit(f"a {cls.__name__}, which is not a container of tensors")


def _way(cls: type) -> Way:
    if transformers_function(cls):
        return "transformers"
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return "dataclass" if fields and all(field.init for field in fields) else "attributes"


def _has_tensor(value: Any, depth: int) -> bool:
    """Whether a tensor can be reached from a value."""
    if isinstance(value, torch.Tensor):
        return True
    if depth == 0:
        return False
    if type(value) in _PLAIN:
        items = value.values() if isinstance(value, Mapping) else value
        return any(_has_tensor(item, depth - 1) for item in items)
    if is_container(type(value)):
        return True
    state = getattr(value, "__dict__", {}) if _may_hold(value) else {}
    return any(_has_tensor(item, depth - 1) for item in state.values())


def _check_round_trip(value: Any, own_ways: bool) -> None:
    """Raises Unfit where a value does not survive flattening and unflattening."""
    leaves, spec = pytree.tree_flatten(value)
    bad = [leaf for leaf in leaves if not is_input_type(leaf)]
    if bad:
        raise Unfit(f"a {type(value).__name__} holds a {type(bad[0]).__name__}")
    back = pytree.tree_unflatten(leaves, spec)
    if own_ways and transformers_function(type(value)):
        again, spec_again = pytree.tree_flatten(back)
        same = spec == spec_again and len(leaves) == len(again)
        same = same and all(map(_same, leaves, again))
    else:
        same = _same(value, back)
    if not same:
        raise Unfit(f"a {type(value).__name__} does not survive flattening and unflattening")


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal part by part; opaque objects must be identical."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if type(one) in (list, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        attributes = [hasattr(value, "__dict__") and bool(value.__dict__) for value in (one, other)]
        if list(one) != list(other) or attributes[0] != attributes[1]:
            return False
        beside = [beside_items(value) for value in (one, other)]
        if any(beside) and not _same(*beside):
            return False
        return all(_same(one[key], other[key]) for key in one)
    try:
        state = state_of(one)
    except Unfit:
        return bool(one == other)
    others = state_of(other)
    return state.keys() == others.keys() and all(_same(state[key], others[key]) for key in state)

"""The inputs of a call as pytree takes them apart, the specs of their dims, and containers."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch.export import dynamic_shapes
from torch.fx import _pytree as fx_pytree
from torch.utils import _pytree as pytree

from export_engine.record import join_path
from export_engine.torch_internals.symbols import int_bound


def keywords_apart(signature: inspect.Signature, by_parameter: Mapping[str, Any]) -> dict[str, Any]:
    """What is given by parameter, with each entry of `**kwargs` beside the others."""
    extra = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
    keywords = by_parameter.get(extra) if extra else None
    others = {name: value for name, value in by_parameter.items() if name != extra}
    if not isinstance(keywords, Mapping) or by_parameter.keys() & keywords.keys():
        return dict(by_parameter)
    return {**others, **keywords}


def call_leaves(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """The leaves of a call's inputs in torch's order, by path: `x`, `cache.0.key`, `args.0`.

    Raises:
        ValueError: a container's class is registered without a function that names what is in it.
    """
    arguments = keywords_apart(signature, signature.bind(*args, **kwargs).arguments)
    leaves = pytree.tree_flatten_with_path(arguments, is_leaf=lambda x: x is None)[0]
    return [(join_path(map(key_text, keys)), value) for keys, value in leaves]


def map_call_leaves(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    change: Callable[[str, Any], Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with each leaf of `call_leaves` changed, by path; new containers."""
    bound = signature.bind(*args, **kwargs)
    arguments = keywords_apart(signature, bound.arguments)
    changed = pytree.tree_map_with_path(
        lambda keys, value: change(join_path(map(key_text, keys)), value),
        arguments,
        is_leaf=lambda x: x is None,
    )
    named = [p.name for p in signature.parameters.values() if p.kind in _BY_POSITION]
    rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_POSITIONAL), "")
    extra = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), "")
    positional = [changed[name] for name in named[: len(args)]]
    keywords = {**changed.get(extra, {}), **changed}
    return (*positional, *changed.get(rest, ())), {name: keywords[name] for name in kwargs}


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def key_text(key: Any) -> str:
    """One step of a pytree path: a dict's key, a list's index, a field's name."""
    for field in ("key", "idx", "name"):
        if hasattr(key, field):
            return str(getattr(key, field))
    return str(key)


def dynamic_shapes_tree(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any], specs: list[Any]
) -> dict[str, Any]:
    """The tree of `dynamic_shapes` for a call, from one spec per leaf of `call_leaves`."""
    following = iter(specs)
    tree: dict[str, Any] = dynamic_shapes._tree_map_with_path(
        lambda path, leaf: next(following), dict(signature.bind(*args, **kwargs).arguments)
    )
    return tree


def specs_of_leaves(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    given: Mapping[str, Any],
) -> list[Any]:
    """The spec of each leaf of `call_leaves`, from a whole `dynamic_shapes`: the way back."""
    arguments = keywords_apart(signature, signature.bind(*args, **kwargs).arguments)
    found: list[Any] = []
    dynamic_shapes._tree_map_with_path(
        lambda path, leaf, spec: found.append(spec),
        arguments,
        keywords_apart(signature, given),
        tree_name="inputs",
    )
    return found


def dim_hint(dim: Any) -> tuple[str, int | None, int | None] | None:
    """Of Dim.AUTO, Dim.DYNAMIC and Dim.STATIC: the kind and the bounds; None for other specs."""
    if not isinstance(dim, dynamic_shapes._DimHint):
        return None
    return dim.type.name, dim.min, dim.max


def derived_dim(dim: Any) -> tuple[Any, int, int]:
    """A Dim as `scale * root + offset`; a Dim that is not derived is its own root."""
    if not hasattr(dim, "root"):
        return dim, 1, 0
    offset = int(dim.fn(0))
    return dim.root, int(dim.fn(1)) - offset, offset


def dim_bounds(dim: Any) -> tuple[int | None, int | None]:
    """The bounds that a Dim was made with; None for a side that was left open."""
    low, high = dim.min, dim.max
    return (int(low) if low else None), int_bound(high)


def is_input_type(value: Any) -> bool:
    """Whether a leaf of a call's inputs is of a class that an exported program can take."""
    plain = (torch.Tensor, bool, int, float, str, type(None), torch.ScriptObject)
    symbolic = (torch.SymInt, torch.SymFloat, torch.SymBool)
    return isinstance(value, plain + symbolic)


def is_container(cls: type) -> bool:
    """Whether torch takes values of a class apart, or takes them as a constant."""
    return cls in pytree.SUPPORTED_NODES


def register_container(
    cls: type,
    flatten: Callable[[Any], tuple[list[tuple[str, Any]], Any]],
    unflatten: Callable[[Iterable[Any], Any], Any],
    to_json: Callable[[Any], Any],
    from_json: Callable[[Any], Any],
) -> None:
    """Tells torch how to take values of a class apart.

    Args:
        cls: the class itself; a subclass is another.
        flatten: gives the parts with their names, and a context that compares by value.
        unflatten: its inverse, from the parts and the context.
        to_json: makes plain data of a context, for a program that is saved.
        from_json: its inverse.
    """

    def parts(value: Any) -> tuple[list[Any], Any]:
        named, context = flatten(value)
        return [part for _, part in named], context

    def named_parts(value: Any) -> tuple[list[Any], Any]:
        named, context = flatten(value)
        return [(pytree.GetAttrKey(name), part) for name, part in named], context

    pytree.register_pytree_node(
        cls,
        parts,
        unflatten,
        serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        to_dumpable_context=to_json,
        from_dumpable_context=from_json,
        flatten_with_keys_fn=named_parts,
    )


def deregister_container(cls: type) -> None:
    """Makes torch forget a container's class, in each of its registries."""
    if cls in pytree.SUPPORTED_NODES:
        pytree._deregister_pytree_node(cls)
    fx_pytree.SUPPORTED_NODES.pop(cls, None)
    fx_pytree.SUPPORTED_NODES_EXACT_MATCH.pop(cls, None)
    waiting = getattr(pytree, "_cxx_pytree_pending_imports", [])
    waiting[:] = [each for each in waiting if each[0][0] is not cls]
    if getattr(pytree, "_cxx_pytree_imported", False):
        import optree  # type: ignore[import-not-found, unused-ignore]

        with suppress(ValueError):
            optree.unregister_pytree_node(cls, namespace="torch")

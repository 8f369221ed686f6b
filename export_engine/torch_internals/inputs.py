"""The inputs of a call as a pytree, the specs of their dims, and containers."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from typing import Any

import torch

from export_engine.process import undone
from export_engine.record import join_path
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals import trees as pytree
from export_engine.torch_internals.symbols import int_bound


def signature_of(target: Callable[..., Any]) -> inspect.Signature:
    """The parameters that a call of the target is bound to; any at all for a bare builtin."""
    called = target.forward if isinstance(target, torch.nn.Module) else target
    try:
        return inspect.signature(called)
    except ValueError:
        return inspect.signature(lambda *args, **kwargs: None)


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
    arguments = dict(signature.bind(*args, **kwargs).arguments)
    if not torch_has.SPECS_WITH_PATH:
        return {name: _spec_tree(value, following) for name, value in arguments.items()}
    tree: dict[str, Any] = torch_has.SPECS_WITH_PATH.value(
        lambda path, leaf: next(following), arguments
    )
    return tree


def _spec_tree(tree: Any, following: Iterator[Any]) -> Any:
    """The specs of a tree's leaves in its build; those of a registered class as a list."""
    if isinstance(tree, Mapping):
        return {key: _spec_tree(value, following) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [_spec_tree(value, following) for value in tree]
    leaves = pytree.tree_leaves(tree)
    if len(leaves) == 1 and leaves[0] is tree:
        return next(following)
    return [next(following) for _ in leaves]


def specs_of_leaves(
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    given: Mapping[str, Any],
) -> list[Any]:
    """The spec of each leaf of `call_leaves`, from a whole `dynamic_shapes`: the way back."""
    arguments = keywords_apart(signature, signature.bind(*args, **kwargs).arguments)
    specs: list[Any] = []
    if not torch_has.SPECS_WITH_PATH:
        return _specs_below(arguments, keywords_apart(signature, given))
    torch_has.SPECS_WITH_PATH.value(
        lambda path, leaf, spec: specs.append(spec),
        arguments,
        keywords_apart(signature, given),
        tree_name="inputs",
    )
    return specs


def _specs_below(tree: Any, given: Any) -> list[Any]:
    """The spec of each leaf: the given one at the same place, or the one for all below it."""
    if isinstance(tree, Mapping) and isinstance(given, Mapping):
        return [value for key in tree for value in _specs_below(tree[key], given.get(key))]
    if isinstance(tree, list | tuple) and isinstance(given, list | tuple):
        pairs = zip(tree, given, strict=True)
        return [value for inner, spec in pairs for value in _specs_below(inner, spec)]
    leaves = pytree.tree_leaves(tree)
    if isinstance(given, list | tuple) and not (len(leaves) == 1 and leaves[0] is tree):
        return list(given)
    return [given] * len(leaves)


def dim_hint(dim: Any) -> tuple[str, int | None, int | None] | None:
    """Of Dim.AUTO, Dim.DYNAMIC and Dim.STATIC: the kind and the bounds; None for other specs."""
    if not isinstance(dim, type(torch.export.Dim.AUTO)):
        return None
    return dim.type.name, dim.min, dim.max


def split_dim(dim: Any) -> tuple[Any, int, int]:
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
    """Whether a class is a pytree node or a registered constant."""
    if torch_has.SUPPORTED_NODES:
        return cls in torch_has.SUPPORTED_NODES.value
    return cls in (*_TAKEN_APART, *_registered)


def without_paths(tree: Any) -> type | None:
    """The first class in a tree that is registered without names for what is in it, if any."""
    registered = torch_has.SUPPORTED_NODES.value if torch_has.SUPPORTED_NODES else {}
    node = registered.get(type(tree))
    if node is not None and node.flatten_with_keys_fn is None:
        return type(tree)
    if node is not None:
        children = node.flatten_fn(tree)[0]
    else:
        children = tree if isinstance(tree, tuple) else ()  # a namedtuple
    return next(filter(None, map(without_paths, children)), None)


_TAKEN_APART = (tuple, list, dict)
_registered: set[type] = set()
"""Classes that a fix has registered for a while."""


def register_container(
    cls: type,
    flatten: Callable[[Any], tuple[list[tuple[str, Any]], Any]],
    unflatten: Callable[[Iterable[Any], Any], Any],
    to_json: Callable[[Any], Any],
    from_json: Callable[[Any], Any],
) -> None:
    """Registers a class as a pytree node.

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

    def list_named_parts(value: Any) -> tuple[list[Any], Any]:
        named, context = flatten(value)
        return [(key(name), part) for name, part in named], context

    key = torch_has.ATTRIBUTE_KEY.value
    _ = torch_has.DEREGISTER_NODE.value  # do not register what cannot be undone
    torch_has.REGISTER_NODE.value(
        cls,
        parts,
        unflatten,
        serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        to_dumpable_context=to_json,
        from_dumpable_context=from_json,
        flatten_with_keys_fn=list_named_parts,
    )
    _registered.add(cls)


def missing_object_dicts() -> str:
    """Why strict mode cannot take apart an object that the model makes; empty if it can."""
    return "" if torch_has.OBJECT_DICTS else torch_has.OBJECT_DICTS.sentence


def deregister_container(cls: type) -> None:
    """Unregisters a container's class from each of torch's registries."""
    if is_container(cls):
        torch_has.DEREGISTER_NODE.value(cls)
    _registered.discard(cls)
    for registry in (torch_has.FX_NODES, torch_has.FX_NODES_EXACT):
        if registry:
            registry.value.pop(cls, None)
    waiting = torch_has.WAITING_NODES.value if torch_has.WAITING_NODES else []
    waiting[:] = [value for value in waiting if value[0][0] is not cls]
    if "torch.utils._cxx_pytree" in sys.modules:
        import optree  # type: ignore[import-not-found, unused-ignore]

        with suppress(ValueError):
            optree.unregister_pytree_node(cls, namespace="torch")


def field_names(value: Any) -> tuple[str, ...]:
    """The names of a NamedTuple's fields; empty for anything else."""
    return tuple(getattr(value, "_fields", ())) if isinstance(value, tuple) else ()


@undone
def module_inputs(given: Any) -> Iterator[None]:
    """The classes of modules in a call's inputs as pytree nodes, as while torch exports the call.

    Args:
        given: the inputs, args and kwargs; None where they are not known.
    """
    with ExitStack() as held:
        if torch_has.MODULES_AS_INPUTS:
            with warnings.catch_warnings():  # torch calls a function that it calls deprecated
                warnings.simplefilter("ignore", FutureWarning)
                held.enter_context(torch_has.MODULES_AS_INPUTS.value(given))
        yield

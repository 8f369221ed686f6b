"""The leaves of a call's inputs by path, and errors for paths that do not match.

Importing this module imports torch.
"""

from __future__ import annotations

import difflib
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from export_engine.record import split_path
from export_engine.shapes.dims import Bounds, Spec, Static
from export_engine.shapes.errors import Misfit, ShapesError
from export_engine.shapes.printing import write
from export_engine.torch_internals import call_leaves

_PLAIN = (torch.Tensor, bool, int, float, complex, str, type(None))
"""The leaves of a call, as torch flattens it."""
_SHOWN = 12
"""Inputs that a message lists."""


class Leaf(NamedTuple):
    """A tensor, number or other value that a call passes, and where: `x`, `cache.0.key`."""

    path: str
    value: Any


def leaves_of(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> list[Leaf]:
    """Every leaf of a call, None included, in torch's order.

    A parameter's name starts a path; what `*args` takes is `args.0`, and what `**kwargs` takes has
    its own keyword.

    Raises:
        ShapesError: a container's class is registered without names for what is in it.
    """
    try:
        return [Leaf(*call_leaf) for call_leaf in call_leaves(signature, args, kwargs)]
    except ValueError as error:
        raise ShapesError(f"The inputs of the call have no paths: {error}") from error


def check_paths(paths: Iterable[str], leaves: list[Leaf], signature: inspect.Signature) -> None:
    """Raises Misfit for the first path that is not exactly one leaf of the call."""
    times = Counter(leaf.path for leaf in leaves)
    for path in paths:
        if times[path] == 0:
            raise Misfit(_no_such_leaf(path, leaves, signature), path)
        if times[path] > 1:
            raise Misfit(f"{times[path]} inputs of the call share the path {path}", path)


def check_dims(leaf: Leaf, specs: Sequence[Any], bounds: Mapping[str, Bounds]) -> None:
    """Raises Misfit if a spec's number of dims differs from its tensor's."""
    path, value = leaf
    if len(specs) == value.dim():
        return
    read = [spec for spec in specs if isinstance(spec, Spec)]
    completed = write({path: tuple([*read, *[Static()] * value.dim()][: value.dim()])}, bounds)
    raise Misfit(
        f"{path} has {count(value.dim())}, {list(value.shape)}, but the spec has "
        f"{len(specs)}. Write one entry for each; `_` keeps a dim static: {completed}",
        path,
    )


def no_dims(leaf: Leaf) -> Misfit:
    """The error for a spec of a leaf that is neither a tensor nor an int."""
    kind = "None" if leaf.value is None else f"a {type(leaf.value).__name__}"
    return Misfit(f"{leaf.path} is {kind} and has no dims; leave it out of the spec", leaf.path)


def count(dims: int) -> str:
    """A number of dims in words."""
    return "1 dim" if dims == 1 else f"{dims} dims"


def _no_such_leaf(path: str, leaves: list[Leaf], signature: inspect.Signature) -> str:
    inside = [leaf for leaf in leaves if leaf.path.startswith(f"{path}.")]
    if inside:
        return f"{path} holds several inputs; name the one you mean: {_join_paths(inside)}"
    around = next((leaf for leaf in leaves if path.startswith(f"{leaf.path}.")), None)
    if around is not None:
        return _nothing_inside(path, around)
    name = (split_path(path) or [path])[0]
    if path == name and name in signature.parameters:
        return f"this call does not pass {name}; leave it out of the spec"
    near = difflib.get_close_matches(path, [leaf.path for leaf in leaves], n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    text = f"no input is called {path}.{hint} The call's tensors are: {_join_paths(leaves)}"
    opaque = next((leaf for leaf in leaves if not isinstance(leaf.value, _PLAIN)), None)
    if opaque is None:
        return text
    return f"{text}. As for {opaque.path}, {_not_looked_into(opaque.value)}"


def _nothing_inside(path: str, around: Leaf) -> str:
    if around.value is None:
        return f"there is no {path}: {around.path} is None in this call"
    if isinstance(around.value, torch.Tensor):
        return f"there is no {path}: {around.path} is a tensor"
    return f"there is no {path}: {_not_looked_into(around.value)}"


def _not_looked_into(value: Any) -> str:
    return (
        f"torch does not flatten a {type(value).__name__}. Register the class with "
        "torch.export.register_dataclass, or with register_pytree_node and its keys"
    )


def _join_paths(leaves: list[Leaf]) -> str:
    tensors = [leaf.path for leaf in leaves if isinstance(leaf.value, torch.Tensor)]
    more = ", …" if len(tensors) > _SHOWN else ""
    return ", ".join(tensors[:_SHOWN]) + more or "none"

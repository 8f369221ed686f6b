"""Writes of a call into the containers among its arguments.

torch.export captures mutations of input tensors. It does not capture what the model writes into a
dict, a list or a cache: the program leaves those unchanged.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

from export_engine.torch_internals import call_leaves, pytree


class Refilled(NamedTuple):
    """A call's writes into its containers."""

    paths: tuple[str, ...]
    """Paths such as `cache.k`, where a value was removed, added or replaced."""
    lost: tuple[str, ...]
    """Those of `paths` that are not among the call's results: only the container has them."""


def input_leaves(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The leaves of a call's inputs, by path; by number, where a container has no names."""
    try:
        return dict(call_leaves(signature, args, kwargs))
    except (TypeError, ValueError):
        leaves = pytree.tree_leaves((args, dict(kwargs)))
        return {str(number): leaf for number, leaf in enumerate(leaves)}


def find_container_writes(
    before: Mapping[str, Any], after: Mapping[str, Any], result: Any
) -> Refilled:
    """Differences of the leaves of the same inputs before and after a call."""
    returned = {id(leaf) for leaf in pytree.tree_leaves(result)}
    none = object()
    paths = [
        path for path in {**before, **after} if before.get(path, none) is not after.get(path, none)
    ]
    lost = [path for path in paths if path not in after or id(after[path]) not in returned]
    return Refilled(tuple(paths), tuple(lost))

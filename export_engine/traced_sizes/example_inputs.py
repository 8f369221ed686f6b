"""The inputs of a call, leaf by leaf: a Request with some of them replaced.

The user's own arguments are never written to; containers are rebuilt around the new leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from export_engine.attempt import Request, signature_of
from export_engine.shapes import Named, leaves_of
from export_engine.torch_internals import map_call_leaves


def with_leaves(request: Request, change: Callable[[str, Any], Any]) -> Request:
    """The request with each leaf of its inputs replaced by what `change` makes of it.

    Args:
        request: what is called.
        change: takes a leaf's path (`x`, `cache.0.key`) and its value.
    """
    args, kwargs = map_call_leaves(
        signature_of(request.target), request.args, request.kwargs, change
    )
    return request.with_changes(args=args, kwargs=kwargs)


def with_size(request: Request, dims: Iterable[tuple[str, int]], size: int) -> Request:
    """The request with an example of another size along some dims, and along those tied to them.

    Dims with the same Dim name follow; derived ones by their formula. Tensors
    are repeated or cut, so that their values stay plausible.

    Args:
        request: what is called.
        dims: paths of inputs, and positions of dims; -1 for an input that is itself a number.
        size: the size they are to have.
    """
    wanted = dict.fromkeys(dims, size)
    shapes = request.shapes
    specs = dict(shapes.leaves) if shapes else {}
    roots: dict[str, int] = {}
    for (path, position), new in wanted.items():
        spec = _at(specs.get(path, ()), position)
        if isinstance(spec, Named):
            roots[spec.name] = (new - spec.offset) // spec.scale
    for path, of_leaf in specs.items():
        for position, spec in enumerate(of_leaf):
            if isinstance(spec, Named) and spec.name in roots:
                wanted.setdefault((path, position), spec.scale * roots[spec.name] + spec.offset)

    def resize(path: str, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            number = wanted.get((path, -1), wanted.get((path, 0)))
            return value if number is None or not isinstance(value, int) else number
        for position in range(value.dim()):
            new = wanted.get((path, position))
            if new is not None:
                value = repeat_slices(value, position, new)
        return value

    return with_leaves(request, resize)


def repeat_slices(value: torch.Tensor, dim: int, size: int) -> torch.Tensor:
    """A copy of a tensor with another size along a dim, its slices repeated."""
    if value.shape[dim] == size:
        return value
    if value.shape[dim] == 0:
        shape = list(value.shape)
        shape[dim] = size
        return torch.zeros(shape, dtype=value.dtype, device=value.device)
    rows = torch.arange(size, device=value.device) % value.shape[dim]
    return value.detach().index_select(dim, rows).requires_grad_(value.requires_grad)


def leaf_values(request: Request) -> dict[str, Any]:
    """The leaves of a request's inputs, by path."""
    return dict(leaves_of(signature_of(request.target), request.args, request.kwargs))


def _at(specs: Any, position: int) -> Any:
    position = max(position, 0)
    return specs[position] if position < len(specs) else None

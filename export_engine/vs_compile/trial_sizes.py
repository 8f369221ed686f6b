"""The sizes to call at: `512,1024,2048`, or `batch=512,1024,2048`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from export_engine.attempt import Request
from export_engine.shapes import Auto, Named, Pinned, Shapes, Spec, Static
from export_engine.traced_sizes import leaf_values, with_size

_PLACE = re.compile(r"(?P<path>.+)\.shape\[(?P<position>\d+)\]")


class SizesError(ValueError):
    """Sizes that do not apply to this call. The message can be shown unchanged."""


@dataclass(frozen=True)
class SizesToTry:
    """One size of a call that is to vary, and the values it is to take."""

    name: str
    """In the user's terms: `batch`, `x.shape[0]`."""
    dims: tuple[tuple[str, int], ...]
    """Its places: paths of inputs, and positions of dims."""
    sizes: tuple[int, ...]

    def request_at(self, request: Request, size: int) -> Request:
        """The call at one of the sizes; sizes tied to it by the Shapes follow."""
        return with_size(request, self.dims, size)

    def varying(self, request: Request) -> Request:
        """The request, with the size left to torch to decide where no Shapes are given."""
        if request.asks_for_shapes:
            return request
        leaves = leaf_values(request)
        specs: dict[str, tuple[Spec, ...]] = {}
        for path, position in self.dims:
            rank = leaves[path].dim()
            specs[path] = tuple(Auto() if at == position else Static() for at in range(rank))
        return request.with_changes(shapes=Shapes(specs))


def sizes_to_try(request: Request, asked: str | Iterable[int]) -> SizesToTry:
    """What is to vary, and how.

    Args:
        request: the call.
        asked: sizes, or a text with them; before a `=`, the name of a Dim or a place,
            `x.shape[0]`. Without one, the first Dim of the Shapes, else the first size of the
            first tensor.

    Raises:
        SizesError: there is no such size, or a size is not a number.
    """
    name, _, listed = asked.rpartition("=") if isinstance(asked, str) else ("", "", asked)
    name = name.strip()
    items = listed.split(",") if isinstance(listed, str) else list(listed)
    sizes = tuple(_number(item) for item in items if not isinstance(item, str) or item.strip())
    if not sizes:
        raise SizesError("Name the sizes to call at: 512,1024,2048")
    name, dims = _find_dims(request, name) if name else _first(request)
    return SizesToTry(name, dims, sizes)


def _number(given: object) -> int:
    text = str(given).strip()
    if not text.isdigit():
        raise SizesError(f"{text!r} is not a size. Write numbers: 512,1024,2048")
    return int(text)


Dims = tuple[tuple[str, int], ...]


def _find_dims(request: Request, name: str) -> tuple[str, Dims]:
    named = _dims(request)
    if name in named:
        return name, named[name]
    leaves = leaf_values(request)
    place = _PLACE.fullmatch(name)
    if place is not None:
        value, position = leaves.get(place["path"]), int(place["position"])
        if isinstance(value, torch.Tensor) and position < value.dim():
            return name, ((place["path"], position),)
    texts = [*named, *(f"{path}.shape[0]" for path in _tensors(request))]
    raise SizesError(f"There is no size {name!r} in this call. Available: {', '.join(texts)}")


def _first(request: Request) -> tuple[str, Dims]:
    for name, dims in _dims(request).items():
        return name, dims
    shapes = request.shapes
    for path, specs in (shapes.leaves if shapes else {}).items():
        for position, spec in enumerate(specs):
            if not isinstance(spec, Static | Pinned):
                return f"{path}.shape[{position}]", ((path, position),)
    for path in _tensors(request):
        return f"{path}.shape[0]", ((path, 0),)
    raise SizesError("No input of this call is a tensor with a size that could be dynamic.")


def _dims(request: Request) -> dict[str, Dims]:
    """Every Dim of the Shapes, and the places where it is used alone."""
    shapes = request.shapes
    groups: dict[str, Dims] = {}
    for path, specs in (shapes.leaves if shapes else {}).items():
        for position, spec in enumerate(specs):
            if isinstance(spec, Named) and not spec.derived:
                groups[spec.name] = (*groups.get(spec.name, ()), (path, position))
    return groups


def _tensors(request: Request) -> list[str]:
    leaves = leaf_values(request).items()
    return [path for path, value in leaves if isinstance(value, torch.Tensor) and value.dim() > 0]

"""Fresh inputs of other sizes: values like the example's, never its tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from export_engine.attempt import Request
from export_engine.torch_internals import is_fake
from export_engine.traced_sizes import repeat_slices, with_leaves


def fresh_request(request: Request, sizes: Mapping[str, Sequence[int]], seed: int) -> Request:
    """The request with inputs of the given sizes.

    Args:
        request: whose arguments are the example.
        sizes: per path of an input, its sizes; of a number input, the number.
        seed: of the values.
    """
    generator = torch.Generator().manual_seed(seed)

    def fresh(path: str, value: Any) -> Any:
        wanted = sizes.get(path)
        if isinstance(value, torch.Tensor):
            return fresh_tensor(value, wanted or value.shape, generator)
        if wanted and isinstance(value, int) and not isinstance(value, bool):
            return wanted[0]
        return value

    return with_leaves(request, fresh)


def fresh_tensor(
    example: torch.Tensor, sizes: Sequence[int], generator: torch.Generator
) -> torch.Tensor:
    """A tensor of these sizes with plausible values.

    Floats have its mean and spread; whole numbers and truth values are drawn from its own, so that
    ids stay ids and masks stay masks; what only counts up goes on counting.
    """
    with torch.no_grad():
        if example.is_meta or is_fake(example):
            return example.new_empty(tuple(sizes)).requires_grad_(example.requires_grad)
        if example.layout is not torch.strided or example.is_quantized:
            return example.detach().clone()
        if example.is_floating_point() or example.is_complex():
            tensor = _floats(example, sizes, generator)
        else:
            tensor = _whole(example, sizes, generator)
        return tensor.to(example.device).requires_grad_(example.requires_grad)


def _floats(
    example: torch.Tensor, sizes: Sequence[int], generator: torch.Generator
) -> torch.Tensor:
    values = example.detach()
    working = torch.complex64 if values.is_complex() else torch.float32
    finite = values[torch.isfinite(values)].to("cpu", working) if values.numel() else values
    if finite.numel() == 0 or bool((finite == finite.reshape(-1)[0]).all()):
        return _tile(example, sizes)  # constant, such as a mask of ones, or of -inf
    if not torch.isfinite(values).all() or _few(finite):
        return _draw(example, sizes, generator)
    noise = torch.randn(tuple(sizes), dtype=working, generator=generator, device="cpu")
    tensor = (noise * finite.std() + finite.mean()).to(example.dtype)
    turned = bool(torch.randint(0, 2, (), generator=generator, device="cpu"))
    return -tensor if turned else tensor  # take both branches of a test on the sign


def _few(values: torch.Tensor) -> bool:
    """Whether there are few distinct values, as in a mask."""
    if values.is_complex() or values.numel() <= 4:
        return False
    return len(torch.unique(values)) <= 2


def _whole(example: torch.Tensor, sizes: Sequence[int], generator: torch.Generator) -> torch.Tensor:
    values = example.detach()
    if values.dim() and values.shape[-1] > 1 and sizes and _counts(values):
        start = int(values.reshape(-1)[0])
        row = torch.arange(start, start + sizes[-1], dtype=values.dtype, device="cpu")
        return row.expand(tuple(sizes)).clone()
    if values.numel() == 0 or bool((values == values.reshape(-1)[0]).all()):
        return _tile(example, sizes)
    return _draw(example, sizes, generator)


def _counts(values: torch.Tensor) -> bool:
    """Whether every row is start, start + 1, ..., as positions are."""
    if values.dtype is torch.bool:
        return False
    rows = values.reshape(-1, values.shape[-1])
    return bool((rows[:, 1:] - rows[:, :-1] == 1).all() and (rows[:, 0] == rows[0, 0]).all())


def _tile(example: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    tensor = example.detach()
    for dim, size in enumerate(sizes):
        tensor = repeat_slices(tensor, dim, size)
    return tensor.clone()


def _draw(example: torch.Tensor, sizes: Sequence[int], generator: torch.Generator) -> torch.Tensor:
    """Each value one of the example's."""
    values = example.detach().reshape(-1).cpu()
    count = 1
    for size in sizes:
        count *= size
    at = torch.randint(0, len(values), (count,), generator=generator, device="cpu")
    return values[at].reshape(tuple(sizes))

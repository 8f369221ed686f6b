"""Raise errors that would end a GPU's context on the host instead, as on a CPU.

An index out of range, or an assertion of a program that does not hold, stops a CUDA kernel for
good: every later call of the process fails, also the user's, until Python starts again. Actions try
models and programs at values that they may refuse, so while one goes on, the kernels that assert
look first. `torch.library` replaces them; where it cannot give the one that was there
(`get_kernel`), only assertions are looked at.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

_ALONG_A_DIM = (
    *("gather", "index_select", "index_add", "index_add_", "index_copy", "index_copy_"),
    *("index_reduce", "index_reduce_"),
    *(f"scatter{text}" for text in (".src", ".value", ".reduce", ".value_reduce")),
    *(f"scatter_{text}" for text in (".src", ".value", ".reduce", ".value_reduce")),
    *("scatter_add", "scatter_add_", "scatter_reduce.two", "scatter_reduce_.two"),
)
"""Ops that take a tensor, a dim and indices into it, first and in this order."""

_kept: list[_Checked] = []
"""The library with the kernels that look first, while there is one."""


@contextmanager
def gpu_checked(key: str = "CUDA") -> Iterator[None]:
    """Kernels that would stop a GPU raise IndexError or RuntimeError on the host inside; it nests.

    Args:
        key: torch's dispatch key of the kernels.
    """
    if _kept or not _has(key):
        yield
        return
    _kept.append(_library(key))
    try:
        yield
    finally:
        _kept.clear()  # with the library go its kernels


@contextmanager
def gpu_unchecked() -> Iterator[None]:
    """Kernels are torch's own inside, as they are to be timed; for what ran before, checked."""
    key = _kept[0].key if _kept else ""
    _kept.clear()
    try:
        yield
    finally:
        if key:
            _kept.append(_library(key))


def _has(key: str) -> bool:
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return key != "CUDA" or bool(torch.cuda.device_count())


class _Checked(NamedTuple):
    """The replaced kernels of a dispatch key; torch's own are back once this is gone."""

    library: Any
    key: str


def _library(key: str) -> _Checked:
    import torch

    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says once that a kernel is replaced
        for name, kernel in _ASSERTIONS.items():
            library.impl(name, kernel, key)
        get_kernel: Any = getattr(torch.library, "get_kernel", None)
        for name, check in _CHECKS.items() if get_kernel else ():
            with suppress(RuntimeError):  # a torch without this op
                own = get_kernel(f"aten::{name}", key)
                library.impl(name, partial(_check_and_call, check, own), key, with_keyset=True)
    return _Checked(library, key)


def _check_and_call(
    check: Callable[..., None], own: Any, keys: Any, *args: Any, **kwargs: Any
) -> Any:
    check(*args, **kwargs)
    return own.call_boxed(keys, *args, **kwargs)


def _assert(held: Any, said: str = "") -> None:
    if not bool(held):
        raise RuntimeError(said or "Expected Tensor with single nonzero value, but got zero")


def _assert_and_pass(held: Any, said: str, passed: Any) -> Any:
    _assert(held, said)
    return passed.clone()


_ASSERTIONS: dict[str, Callable[..., Any]] = {
    "_assert_async": _assert,
    "_assert_async.msg": _assert,
    "_functional_assert_async.msg": _assert_and_pass,
}


def _within(indices: Any, size: int, dim: int, least: int) -> None:
    """Raises IndexError, in the words of torch's CPU kernels."""
    if not indices.numel() or _is_captured():
        return
    low, high = (int(value) for value in indices.aminmax())
    if low < least or high >= size:
        wrong = low if low < least else high
        raise IndexError(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


def _is_captured() -> bool:
    import torch

    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


def _along_a_dim(tensor: Any, dim: int, index: Any, *_: Any, **__: Any) -> None:
    _within(index, tensor.shape[dim] if tensor.dim() else 1, dim, 0)


def _check_fill(tensor: Any, dim: int, index: Any, *_: Any, **__: Any) -> None:
    size = tensor.shape[dim] if tensor.dim() else 1
    _within(index, size, dim, -size)


def _by_each(tensor: Any, indices: Any, *_: Any, **__: Any) -> None:
    """`x[i, :, j]`: a mask takes as many dims as it has, None takes one."""
    dim = 0
    for index in indices:
        if index is None:
            dim += 1
        elif not _counts(index):
            dim += index.dim()
        else:
            _within(index, tensor.shape[dim], dim, -tensor.shape[dim])
            dim += 1


def _counts(index: Any) -> bool:
    """Whether it holds indices; a mask of bool or uint8 does not."""
    return str(index.dtype) in ("torch.int64", "torch.int32")


def _of_all(tensor: Any, index: Any, *_: Any, **__: Any) -> None:
    _within(index, tensor.numel(), 0, -tensor.numel())


def _classes(scores: Any, target: Any, weight: Any, reduction: int, ignored: int) -> None:
    dim = 1 if scores.dim() > 1 else 0
    kept = target[target != ignored]
    _within(kept, scores.shape[dim], dim, 0)


def _shares(value: Any, *_: Any, **__: Any) -> None:
    if value.numel() and not bool(((value >= 0) & (value <= 1)).all()):
        raise RuntimeError("all elements of input should be between 0 and 1")


_CHECKS: dict[str, Callable[..., None]] = {
    **dict.fromkeys(_ALONG_A_DIM, _along_a_dim),
    **dict.fromkeys(("index_fill_.int_Scalar", "index_fill_.int_Tensor"), _check_fill),
    **dict.fromkeys(("index.Tensor", "_index_put_impl_"), _by_each),
    **dict.fromkeys(("take", "put_"), _of_all),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), _classes),
    "binary_cross_entropy": _shares,
}

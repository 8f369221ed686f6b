"""A program run in another dtype: every op takes and gives it."""

from __future__ import annotations

from typing import Any

import torch

from export_engine.torch_internals import pytree
from export_engine.values.steps import Steps

_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def in_dtype(dtype: torch.dtype) -> type[Steps]:
    """An interpreter that runs a program in a dtype.

    Parameters, buffers and inputs are cast, and so are dtypes that an op names, such as
    `to(torch.float32)`. An op without a kernel for the dtype is run in float32,
    and its result is rounded.
    """

    class InDtype(Steps):
        runs_nested = True

        def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
            return _cast(super().placeholder(target, args, kwargs), dtype)

        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if "_assert_tensor_metadata" in str(target):
                return None
            value = pytree.tree_map(lambda each: _cast(each, dtype), (args, kwargs))
            try:
                result = super().call_function(target, *value)
            except (RuntimeError, NotImplementedError) as error:
                if "not implemented for" not in str(error):
                    raise
                wide = pytree.tree_map(lambda each: _cast(each, torch.float32), (args, kwargs))
                result = super().call_function(target, *wide)
            return pytree.tree_map(lambda each: _cast(each, dtype), result)

    return InDtype


def _cast(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, torch.Tensor):
        return value.to(dtype) if value.dtype in _FLOATS else value
    return dtype if isinstance(value, torch.dtype) and value in _FLOATS else value

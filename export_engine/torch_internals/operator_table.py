"""torch's own operators as text: what `archive/operators.txt` holds."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

import torch
from torch._ops import _higher_order_ops

from export_engine.torch_internals.operators import op_schema

_NAMESPACES = ("aten", "prims", "prim")
_REGISTERING = ("torch._inductor.fx_passes.control_dependencies", "executorch.exir.delegate")
"""Modules that add operators once they are imported, whoever does so."""


def operator_lines() -> Iterator[str]:
    """A line for each operator that a program may call: its schema, a tab, and its tags.

    Operators with an `out` argument are left out: torch.export has none. Then one for each
    higher-order operator, as it calls its arguments: `cond(pred, true_fn, false_fn, operands)`.
    """
    for module in _REGISTERING:
        with suppress(ImportError):
            import_module(module)
    for name in sorted(torch._C._dispatch_get_all_op_names()):
        overload = _overload(name)
        if overload is None or torch.Tag.out in overload.tags:
            continue
        tags = sorted(tag.name for tag in overload.tags)
        yield f"{op_schema(overload)}\t{' '.join(tags)}"
    for name, operator in sorted(_higher_order_ops.items()):
        parameters = inspect.signature(operator.__call__).parameters.values()
        names = [
            parameter.name
            for parameter in parameters
            if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        yield f"{name}({', '.join(names)})"


def _overload(name: str) -> Any:
    namespace, _, rest = name.partition("::")
    if namespace not in _NAMESPACES:
        return None
    packet, _, overload = rest.partition(".")
    result = getattr(getattr(torch.ops, namespace), packet, None)
    return getattr(result, overload or "default", None)

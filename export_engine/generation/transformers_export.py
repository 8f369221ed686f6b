"""transformers' own patches for export: it replaces methods while it traces.

A transformers without exporters does not; then nothing is patched.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

import torch

from export_engine.attempt import signature_of
from export_engine.defects import log_internal_error
from export_engine.generation.chunk_padding import padding_for_any_length
from export_engine.generation.observed_calls import ObservedCall
from export_engine.process import undone
from export_engine.torch_internals import scans_exported

_EXPORTER = "transformers.exporters.exporter_dynamo"
_UTILS = "transformers.exporters.utils"


def has_sliding_layers(values: Iterable[Any]) -> bool:
    """Whether a cache cuts off what is older than its window: such a layer counts in Python."""
    return any(
        "Sliding" in type(layer).__name__
        for value in values
        for cache in (value, *(getattr(value, name, None) for name in _INNER))
        for layer in getattr(cache, "layers", None) or ()
    )


_INNER = ("self_attention_cache", "cross_attention_cache")


def prepare_call(call: ObservedCall) -> ObservedCall:
    """A call with what its module would read from values, computed before and given to it.

    An encoder of images makes its positions and the bounds of each image in loops over their sizes,
    which a trace fixes. transformers' modules also take them as arguments.
    """
    args, kwargs = prepare_arguments(call.module, call.args, call.kwargs)
    return replace(call, args=args, kwargs=kwargs)


def prepare_arguments(
    module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of such a call; those that are given where nothing is to be computed."""
    names = list(signature_of(module).parameters)
    if len(args) > len(names) or hasattr(module, "get_rope_index"):  # its positions are given
        return args, dict(kwargs)
    entries = {**dict(zip(names, args, strict=False)), **kwargs}
    made = dict(entries)
    try:
        with torch.no_grad():
            import_module(_UTILS).precompute_export_inputs(module, made)
    except ImportError:
        return args, dict(kwargs)
    except Exception as error:  # noqa: BLE001 - a module that only names an argument as those do
        log_internal_error(error, "computing values that a module reads")
        return args, dict(kwargs)
    if all(value is entries.get(name) for name, value in made.items()):
        return args, dict(kwargs)
    return (), {name: value for name, value in made.items() if value is not None}


@undone
def patch_transformers() -> Iterator[None]:
    """While inside, transformers' classes have the methods that its exporter traces."""
    try:
        apply = import_module(_UTILS).apply_patches
    except ImportError:
        yield
        return
    import_module(_EXPORTER)
    with apply("dynamo"), _scans_traced(), padding_for_any_length():
        yield


_EXPORTING = "is_torchdynamo_exporting"


@undone
def _scans_traced() -> Iterator[None]:
    """While inside, state-space models scan with torch's op, not with a loop over the prompt.

    They have both, and take the loop under torch.export for ONNX's sake; it fixes the prompt.
    """
    changed = [
        vars(module)
        for name, module in list(sys.modules.items())
        if name.startswith("transformers.models.")
        and _EXPORTING in vars(module)
        and "use_associative_scan" in _parameters(vars(module).get("mamba_selective_scan"))
    ]
    before = [names[_EXPORTING] for names in changed]
    try:
        with scans_exported() as can:
            for names in changed if can else ():
                names[_EXPORTING] = lambda: False
            yield
    finally:
        for names, own in zip(changed, before, strict=True):
            names[_EXPORTING] = own


def _parameters(function: object) -> frozenset[str]:
    """The names of the parameters of a function; none of anything else."""
    return frozenset(inspect.signature(function).parameters if callable(function) else ())

"""Known causes for which eager itself answers otherwise than the code that was traced."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from export_engine.attempt import Request, as_module
from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.verify.program_under_test import Subject

_LAYERS = (
    torch.nn.TransformerEncoder,
    torch.nn.TransformerEncoderLayer,
    torch.nn.MultiheadAttention,
)


def find_known_cause(subject: Subject, request: Request, seed: int) -> str:
    """A sentence on a known cause of a difference on some inputs, with the way out; else empty.

    In eval mode and without gradients, `nn.TransformerEncoder` and its parts take a fast path in
    eager, with fused kernels on nested tensors: padded positions are 0 in its output. No trace
    takes it (https://docs.pytorch.org/docs/2.13/backends.html#module-torch.backends.mha).
    """
    if subject.eager is None or not hasattr(torch.backends, "mha"):
        return ""
    layers = [
        module for module in as_module(subject.eager).modules() if isinstance(module, _LAYERS)
    ]
    if not layers or not torch.backends.mha.get_fastpath_enabled():
        return ""
    try:
        with fast_path_off():
            theirs = subject.run(subject.eager, request, seed)
        ours = subject.run(subject.module, request, seed)
    except Exception as error:  # noqa: BLE001 - the model raises what it likes; then it is another cause
        log_internal_error(error, "calling eager without its fast path")
        return ""
    if not subject.compare(ours, theirs).same:
        return ""
    name = next(item.__name__ for item in _LAYERS if any(isinstance(one, item) for one in layers))
    return (
        f"Only eager takes the fast path of `nn.{name}`, which returns 0 at padded positions. With "
        "`torch.backends.mha.set_fastpath_enabled(False)`, eager agrees with the program."
    )


@undone
def fast_path_off() -> Iterator[None]:
    """Eager runs without the fast path of attention inside."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)

"""Known causes for which eager itself differs from the traced code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from export_engine.attempt import Request, as_module
from export_engine.defects import log_internal_error
from export_engine.process import undone
from export_engine.torch_internals import announce_exporting
from export_engine.verify.asking_line import find_asking_line, line_shown
from export_engine.verify.program_under_test import Subject

_LAYERS = (
    torch.nn.TransformerEncoder,
    torch.nn.TransformerEncoderLayer,
    torch.nn.MultiheadAttention,
)


def find_known_cause(subject: Subject, request: Request, seed: int) -> str:
    """A sentence on a known cause of a difference on some inputs, with the way out; else empty."""
    if subject.eager is None:
        return ""
    return (
        _find_fast_path(subject, request, seed)
        or _find_exporting(subject, request, seed)
        or _find_grad_mode(subject, request, seed)
    )


def _find_fast_path(subject: Subject, request: Request, seed: int) -> str:
    """On the fast path of attention.

    In eval mode and without gradients, `nn.TransformerEncoder` and its parts take a fast path in
    eager, with fused kernels on nested tensors: padded positions are 0 in its output. No trace
    takes it (https://docs.pytorch.org/docs/2.13/backends.html#module-torch.backends.mha).
    """
    if not hasattr(torch.backends, "mha"):
        return ""
    layers = [
        module for module in as_module(subject.eager).modules() if isinstance(module, _LAYERS)
    ]
    if not layers or not torch.backends.mha.get_fastpath_enabled():
        return ""
    if not _agrees_within(fast_path_off, subject, request, seed):
        return ""
    name = next(item.__name__ for item in _LAYERS if any(isinstance(one, item) for one in layers))
    return (
        f"Only eager takes the fast path of `nn.{name}`, which returns 0 at padded positions. With "
        "`torch.backends.mha.set_fastpath_enabled(False)`, eager agrees with the program."
    )


def _find_exporting(subject: Subject, request: Request, seed: int) -> str:
    """On code that asks whether it is exported, and computes something else then."""
    if not _agrees_within(announce_exporting, subject, request, seed):
        return ""

    def run(wrapped: Callable[[Any], Any], exporting: bool) -> object:
        with announce_exporting() if exporting else nullcontext():
            return subject.run(wrapped(subject.eager), request, seed)

    place = find_asking_line(run, (), {})
    line = f" See {line_shown(place)}." if place is not None else ""
    return f"The code checks whether it is being exported, and eager takes the other branch.{line}"


def _find_grad_mode(subject: Subject, request: Request, seed: int) -> str:
    """On code that asks whether gradients are recorded; Verify calls it as inference does."""
    if not _agrees_within(lambda: record_gradients(subject), subject, request, seed):
        return ""
    return (
        "The code checks whether gradients are recorded: under `torch.no_grad()`, eager takes the "
        "other branch. With gradients, it agrees with the program."
    )


def _agrees_within(
    context: Callable[[], AbstractContextManager[None]],
    subject: Subject,
    request: Request,
    seed: int,
) -> bool:
    """Whether eager agrees with the program inside of a context, and not outside."""
    try:
        ours = subject.run(subject.module, request, seed)
        if subject.compare(ours, subject.run(subject.eager, request, seed)).same:
            return False  # the difference is of another call
        with context():
            theirs = subject.run(subject.eager, request, seed)
    except Exception as error:  # noqa: BLE001 - the model raises what it likes; then it is another cause
        log_internal_error(error, "calling eager to find a known cause of a difference")
        return False
    return subject.compare(ours, theirs).same


@undone
def record_gradients(subject: Subject) -> Iterator[None]:
    """Calls of a Subject record gradients inside."""
    subject.grad = True
    try:
        yield
    finally:
        subject.grad = False


@undone
def fast_path_off() -> Iterator[None]:
    """Eager runs without the fast path of attention inside."""
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)

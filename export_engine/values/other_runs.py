"""The runs that a program's run can be held against: eager's, or its own in another dtype."""

from __future__ import annotations

import torch

from export_engine.attempt import NO_MODEL, Exported, Request, as_module
from export_engine.capture import capture, values_of_call
from export_engine.defects import log_internal_error
from export_engine.describe import describe
from export_engine.record import Record
from export_engine.torch_internals import contexts_left
from export_engine.values.in_dtype import in_dtype
from export_engine.values.pair_error import RunOf
from export_engine.verify import examine, find_known_cause

_LOOSE = 16.0
"""The allowed multiple of torch.testing's tolerances: kernels may sum in another order."""
_DTYPES = {name: getattr(torch, name) for name in ("float16", "bfloat16", "float32", "float64")} | {
    "half": torch.float16,
    "float": torch.float32,
    "double": torch.float64,
}


def dtype_named(name: object) -> torch.dtype | None:
    """A floating dtype, `bfloat16` or `torch.bfloat16`; None for anything else."""
    if isinstance(name, torch.dtype):
        return name if name in _DTYPES.values() else None
    return _DTYPES.get(str(name).removeprefix("torch."))


def eager_run(exported: Exported, request: Request, device: str) -> RunOf:
    """The model's own run: traced once more, at exactly these inputs.

    It is traced without the caller's contexts; with the program's fixes if it does not trace
    without them.

    Raises:
        ValueError: the program was opened without its model, or it cannot be traced.
    """
    if exported.request is None:
        raise ValueError(NO_MODEL)
    title = "eager"
    with contexts_left(values_of_call(as_module(request.target), request)):
        traced = capture(request.with_changes(shapes=None, edits=(), strict=False))
        if not isinstance(traced, Exported):
            title = "eager with the fixes" if request.edits else "eager in the program's mode"
            traced = capture(request.with_changes(shapes=None))
    if not isinstance(traced, Exported):
        raise ValueError("The eager model cannot be traced with these inputs.")
    return RunOf(title, traced, describe(traced), request, device)


def outputs_apart(exported: Exported, record: Record, request: Request) -> str:
    """How the program's outputs differ from those of the model called in eager; empty if not.

    A trace of the model does not tell: eager may take a fast path that no trace takes.
    """
    with examine(exported, record, 0) as subject:
        try:
            theirs = subject.run(subject.eager, request)
            ours = subject.run(subject.module, request)
        except Exception as error:  # noqa: BLE001 - either may refuse the call; the ops tell the rest
            log_internal_error(error, "comparing outputs with eager")
            return ""
        difference = subject.compare(ours, theirs, _LOOSE)
        if difference.same:
            return ""
        cause = find_known_cause(subject, request, 0) or (
            "Eager runs different ops than its trace."
        )
    return f"Called in eager, the model returns a different result: {difference.detail}. {cause}"


def run_in_dtype(
    exported: Exported, record: Record, request: Request, device: str, dtype: torch.dtype
) -> RunOf:
    """The program with every float in a dtype."""
    title = str(dtype).removeprefix("torch.")
    return RunOf(title, exported, record, request, device, in_dtype(dtype))

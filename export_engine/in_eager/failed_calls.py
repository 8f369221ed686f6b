"""Whether a model that does not export runs in eager: if not, that is the first thing to say."""

from __future__ import annotations

import re
import traceback
from dataclasses import replace

import torch

from export_engine.attempt import Diagnosis, Failed, Kind, Request
from export_engine.capture import as_exported, model_kept
from export_engine.defects import log_internal_error
from export_engine.diagnose import failing_place, message, of_a_device
from export_engine.torch_internals import is_fake
from export_engine.traced_sizes import leaf_values
from export_engine.verify import run

_UNCHANGED = frozenset({Kind.NOT_A_MODULE, Kind.SHAPES_MISMATCH})
_SAME_IN_EAGER = frozenset({Kind.DEVICE_MISMATCH, Kind.OPERATOR_FAILED})
"""Kinds whose sentence describes a failure of eager as well."""
_TOO = "The model also fails in eager. "
_LONGEST = 300
_WHY_TRACING = (
    "While tracing, sizes are symbols and tensors have no values. This line needs a concrete "
    "size or a value."
)
_WHY_EAGER = "torch.export traces a call of the model, so that call must run in eager first."


def beside_eager(attempt: Failed) -> tuple[Diagnosis | None, bool]:
    """The diagnosis in the light of a run in eager, and whether the model runs there."""
    diagnosis, request = attempt.diagnosis, attempt.request
    if diagnosis is None or request is None or request.fixed_by:
        return diagnosis, True  # of a fixed request, the first attempt has told
    if diagnosis.kind in _UNCHANGED:
        return diagnosis, True
    error = _eager_error(request)
    if error is None:
        return _while_tracing(diagnosis, attempt.error), True
    if _of_capture(error):
        return diagnosis, True
    if diagnosis.kind in _SAME_IN_EAGER:
        sentence = f"{_TOO}{diagnosis.sentence.removeprefix(_TOO)}"  # it may have been said before
        return replace(diagnosis, sentence=sentence, why=_WHY_EAGER), False
    text = of_a_device(" ".join(message(error).split()))
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
    place = failing_place(error)
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return Diagnosis(
        kind=Kind.OWN_ERROR,
        sentence=f"The model also fails in eager, with {what.rstrip('.')}.",
        why=_WHY_EAGER,
        stack=place.stack,
        span=place.span,
    ), False


def _of_capture(error: BaseException) -> bool:
    """Whether torch's own capture raised it: `torch.cond` also traces its branches in eager."""
    return type(error).__module__.startswith(_CAPTURES)


_CAPTURES = "torch._dynamo."


def _while_tracing(diagnosis: Diagnosis, raised: BaseException) -> Diagnosis:
    """An error of the model's code that only tracing leads to, said to be that."""
    text = diagnosis.sentence
    if _OBJECTS in text:
        called = failing_place(raised).text
        sentence = (
            f"`{called}` receives an array of objects, which NumPy computed from a symbolic size."
        )
        return replace(diagnosis, kind=Kind.OWN_ERROR, sentence=sentence, why=_WHY_NUMPY)
    if diagnosis.kind is not Kind.OWN_ERROR or not text.startswith(_RAISED):
        return diagnosis
    called = failing_place(raised).text
    if called and _OF_NUMPY.search(text):
        sentence = f"`{called}` passes a symbolic size to NumPy, which cannot compute with it."
        return replace(diagnosis, sentence=sentence, why=_WHY_NUMPY)
    sentence = f"{_ONLY_TRACING}{text.removeprefix(_RAISED)}"
    return replace(diagnosis, sentence=sentence, why=_WHY_TRACING)


_OF_NUMPY = re.compile(r"loop of ufunc does not support argument \d+ of type Sym")
_OBJECTS = "can't convert np.ndarray of type numpy.object_"
_WHY_NUMPY = (
    "While tracing, a dynamic size is a symbol, and NumPy accepts only numbers. torch functions "
    "and Python operators accept it: torch.arange, torch.sym_sqrt, math.ceil."
)
_RAISED = "The model itself raised "
_ONLY_TRACING = "The model runs in eager, but while tracing this line raised "


def _eager_error(request: Request) -> Exception | SystemExit | None:
    """The model's error on its own example in eager; None if it runs, or cannot be run."""
    if any(tensor.is_meta or is_fake(tensor) for tensor in _tensors(request)):
        return None
    with as_exported(request), model_kept(request.target):
        try:
            run(request.target, request, seed=0, grad=torch.is_grad_enabled())
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the model raises
            log_internal_error(error, "running the model in eager")
            frames = [frame.name for frame in traceback.extract_tb(error.__traceback__)]
            return None if "_copied" in frames else error
    return None


def _tensors(request: Request) -> list[torch.Tensor]:
    """The tensors that a call works on."""
    target = request.target
    own = list(target.parameters()) if isinstance(target, torch.nn.Module) else []
    return [*own, *(v for v in leaf_values(request).values() if isinstance(v, torch.Tensor))]

"""Failures because torch's own `dynamic_shapes`, as the user wrote them, do not fit the call."""

from __future__ import annotations

from export_engine.attempt import Diagnosis, Failed, Kind, signature_of
from export_engine.shapes import Shapes, ShapesError


def diagnose_mismatched_specs(attempt: Failed) -> Diagnosis | None:
    """Diagnoses `dynamic_shapes` that do not match the pytree of the inputs."""
    request = attempt.request
    if request is None or request.shapes is None or isinstance(request.shapes, Shapes):
        return None
    try:
        Shapes.from_torch(request.shapes, request.target, request.args, request.kwargs)
    except ShapesError as error:
        reason = error.message.removesuffix(".")
        said = reason.removeprefix("these dynamic_shapes do not fit the call: ")
        names = ", ".join(f"`{name}`" for name in _names(attempt))
        return Diagnosis(
            kind=Kind.SHAPES_MISMATCH,
            sentence=f"The `dynamic_shapes` do not fit this call: {said}.",
            why=f"The call's inputs are {names}. Each needs an entry of the same structure, with "
            "one entry per dim of a tensor; `*args` takes a tuple, and each keyword of "
            "`**kwargs` goes by its own name.",
        )
    return None


def _names(attempt: Failed) -> list[str]:
    assert attempt.request is not None
    request = attempt.request
    return list(signature_of(request.target).bind(*request.args, **request.kwargs).arguments)

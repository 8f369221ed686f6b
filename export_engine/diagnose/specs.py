"""Failures because torch's own `dynamic_shapes`, as the user wrote them, do not fit the call."""

from __future__ import annotations

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, signature_of
from export_engine.shapes import Shapes, ShapesError

_BEGINS = "these dynamic_shapes do not fit the call: "


def diagnose_mismatched_specs(attempt: Failed) -> Diagnosis | None:
    """Diagnoses `dynamic_shapes` that do not match the pytree of the inputs."""
    request = attempt.request
    if request is None or request.dynamic_shapes is None or request.shapes is not None:
        return None
    try:
        Shapes.from_torch(request.dynamic_shapes, request.target, request.args, request.kwargs)
    except ShapesError as error:
        reason = error.message.removesuffix(".")
        text = reason.removeprefix(_BEGINS)
        names = ", ".join(f"`{name}`" for name in _names(attempt))
        return Diagnosis(
            kind=Kind.SHAPES_MISMATCH,
            sentence=rules.ShapesMismatch.SENTENCE(reason=text),
            why=rules.ShapesMismatch.WHY(names=names),
        )
    return None


def _names(attempt: Failed) -> list[str]:
    assert attempt.request is not None
    request = attempt.request
    return list(signature_of(request.target).bind(*request.args, **request.kwargs).arguments)

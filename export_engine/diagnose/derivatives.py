"""Derivatives that a model takes: `torch.func`'s transforms, and backward passes."""

from __future__ import annotations

import ast

from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.errors import cause, message
from export_engine.diagnose.failing_line import Place, place_before
from export_engine.diagnose.torch_messages import TRANSFORMED
from export_engine.source import parse_stack_trace

_BACKWARD = (
    *("autograd.grad", ".backward", "func.grad", ".grad_and_value", ".vjp", ".jacrev"),
    *("functional.jacobian", ".hessian"),
)
_FORWARD = (".jacfwd", ".jvp", ".linearize")
_FILES = tuple(
    f"/_functorch/{each}.py" for each in ("eager_transforms", "predispatch", "pyfunctorch")
)
"""Of torch, that run the transforms; `vmap` alone can be traced."""


def derivative(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a transform of `torch.func` that cannot be traced.

    torch fails below it in many ways: for a wrapped tensor without values, an attribute that it
    lacks, or only when the tensors that it left in the graph become constants.
    """
    place = place_before(attempt.error, _FILES)
    if place is None and TRANSFORMED not in message(cause(attempt.error)):
        return None
    return derivative_at(place if place is not None and place.stack else _traced(attempt))


def derivative_at(place: Place) -> Diagnosis | None:
    """Diagnoses the derivative that a statement of a place's stack takes; None if none does."""
    outer = [Place(place.stack[:number]) for number in range(1, len(place.stack))]
    return next(filter(None, map(_taken, [*outer, place])), None)


def _taken(place: Place) -> Diagnosis | None:
    backward = called_in(place, _BACKWARD)
    call = backward or called_in(place, _FORWARD)
    if call is None:
        return None
    does = "runs a backward pass" if backward else "takes a derivative in forward mode"
    engine = (
        "a backward pass are called by autograd's engine"
        if backward
        else ("a transform run on tensors that wrap others")
    )
    return Diagnosis(
        kind=Kind.TENSOR_LEAK,
        sentence=f"`{place.text_of(call)}` {does}, which torch.export does not "
        "trace: the gradient has no values to store in the program.",
        why=f"torch.export traces the operators that `forward` calls. The operators of {engine}, "
        "below what is traced. Write the derivative out, or take it outside of the model.",
        stack=place.stack,
        span=place.span_of(call),
    )


def _traced(attempt: Failed) -> Place:
    """The line whose transform is in the graph."""
    recording = attempt.recording
    graph = recording.graph.graph if recording.graph is not None else None
    for node in graph.nodes if graph is not None else ():
        if ".predispatch" in getattr(node.target, "__module__", ""):
            return Place(parse_stack_trace(node.meta.get("stack_trace") or ""))
    return Place()


def called_in(place: Place, names: tuple[str, ...]) -> ast.Call | None:
    """The call of a function of such a name in the statement of a place."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and f".{ast.unparse(node.func)}".endswith(names):
            return node
    return None

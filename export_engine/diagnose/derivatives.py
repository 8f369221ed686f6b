"""Derivatives that a model takes: `torch.func`'s transforms, and backward passes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.errors import break_type, cause, message
from export_engine.diagnose.failing_line import Place, failing_place, place_before
from export_engine.diagnose.torch_messages import TRANSFORMED
from export_engine.source import parse_stack_trace

_OF_AUTOGRAD = ("autograd.grad", ".backward")
_BACKWARD = (
    *("func.grad", ".grad_and_value", ".vjp", ".jacrev"),
    *("functional.jacobian", ".hessian"),
)
_FORWARD = (".jacfwd", ".jvp", ".linearize")
_FILES = tuple(
    f"/_functorch/{text}.py" for text in ("eager_transforms", "predispatch", "pyfunctorch")
)
"""Of torch, that run the transforms; `vmap` alone can be traced."""


def diagnose_derivative(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a backward pass, or a transform of `torch.func`, that cannot be traced.

    torch fails below it in many ways: for a wrapped tensor without values, an attribute that it
    lacks, or only when the tensors that it left in the graph become constants.
    """
    place = place_before(attempt.error, _FILES)
    if place is None and break_type(attempt.error):
        diagnosis = _diagnose_derivative_break(failing_place(attempt.error))
        if diagnosis is not None:
            return diagnosis
    if place is None and TRANSFORMED not in message(cause(attempt.error)):
        return None
    return derivative_at(
        place if place is not None and place.stack else _find_transform_line(attempt)
    )


def derivative_at(place: Place) -> Diagnosis | None:
    """Diagnoses the derivative that a statement of a place's stack takes; None if none does."""
    outer = [Place(place.stack[:number]) for number in range(1, len(place.stack))]
    return next(filter(None, map(_diagnose_derivative_at, [*outer, place])), None)


def _diagnose_derivative_break(place: Place) -> Diagnosis | None:
    """Diagnoses the derivative at which strict mode stops, or one that its line prepares."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    if place.code is None or statement is None:
        return None
    if not any(map(_prepares, ast.walk(statement))):
        return _diagnose_rejected_derivative(place)
    return next(filter(None, map(_diagnose_rejected_derivative, _later(place))), None)


def derivative_after(place: Place) -> Diagnosis | None:
    """Diagnoses the derivative that a later statement of a place's function takes."""
    return next(filter(None, map(derivative_at, _later(place))), None)


def _later(place: Place) -> Iterator[Place]:
    """The statements after a place's in its function."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    function = place.code.function(statement) if place.code and statement is not None else None
    for node in ast.walk(function) if function is not None else ():
        if isinstance(node, ast.stmt) and node.lineno > place.stack[-1].line:
            yield Place((*place.stack[:-1], place.stack[-1]._replace(line=node.lineno)))


def _diagnose_rejected_derivative(place: Place) -> Diagnosis | None:
    """Diagnoses a derivative that strict mode refuses."""
    diagnosis = _diagnose_derivative_at(place)
    if diagnosis is None:
        return None
    call = find_call(place, (*_OF_AUTOGRAD, *_BACKWARD, *_FORWARD))
    text = rules.GraphBreak.DERIVATIVE(text=place.text_of(call))
    return replace(diagnosis, kind=Kind.GRAPH_BREAK, sentence=text)


def _prepares(node: ast.AST) -> bool:
    """Whether it asks autograd to record what is computed from a tensor."""
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr in ("requires_grad_", "enable_grad")


def _diagnose_derivative_at(place: Place) -> Diagnosis | None:
    own = find_call(place, _OF_AUTOGRAD)
    backward = own or find_call(place, _BACKWARD)
    call = backward or find_call(place, _FORWARD)
    if call is None:
        return None
    does = "runs a backward pass" if backward else "takes a derivative in forward mode"
    lost = "a tensor that autograd saved for it" if own else "the gradient"
    return Diagnosis(
        kind=Kind.TENSOR_LEAK,
        sentence=rules.TensorLeak.DERIVATIVE(
            text=place.text_of(call), does=does, fully="fully " if own else "", lost=lost
        ),
        why=_why(own=own is not None, backward=backward is not None),
        stack=place.stack,
        span=place.span_of(call),
    )


def _find_transform_line(attempt: Failed) -> Place:
    """The line whose transform is in the graph."""
    recording = attempt.recording
    graph = recording.graph.graph if recording.graph is not None else None
    for node in graph.nodes if graph is not None else ():
        if ".predispatch" in getattr(node.target, "__module__", ""):
            return Place(parse_stack_trace(node.meta.get("stack_trace") or ""))
    return Place()


def find_call(place: Place, names: tuple[str, ...]) -> ast.Call | None:
    """The call of a function of such a name in the statement of a place."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    for node in ast.walk(statement) if statement is not None else ():
        if isinstance(node, ast.Call) and f".{ast.unparse(node.func)}".endswith(names):
            return node
    return None


def _why(*, own: bool, backward: bool) -> str:
    if own:
        return rules.TensorLeak.AUTOGRAD_WHY()
    return rules.TensorLeak.BACKWARD_WHY() if backward else rules.TensorLeak.FORWARD_MODE_WHY()

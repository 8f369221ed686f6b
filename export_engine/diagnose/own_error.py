"""Failures that torch did not cause: the model's own code raised an exception."""

from __future__ import annotations

import ast
import traceback

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind
from export_engine.diagnose.errors import break_type, came_through, cause, find, is_a, message
from export_engine.diagnose.failing_line import (
    Place,
    chain,
    failing_place,
    find_dynamo_place,
    is_torch,
)
from export_engine.diagnose.torch_messages import (
    explanation,
    not_subscriptable,
    plain,
    read_observed_exception,
)
from export_engine.source import is_shown
from export_engine.torch_internals import is_raised_in
from export_engine.traced_sizes import symbol_names

_BREAKS = {
    "failed to bind arguments when attempting to inline": "TypeError",
    "failed to find name in frame builtins": "NameError",
    "Data-dependent assertion failed (cannot compile partial graph)": "AssertionError",
    "Attempted to read undefined local variable": "UnboundLocalError",
    "TypeError from user code": "TypeError",
}
# torch functions between a call in the model and its callee, or that raise what
# the model asks them to.
_BETWEEN = frozenset(
    {
        "_call_impl",
        "_wrapped_call_impl",
        "__getattr__",
        "module_call_wrapper",
        "module_getattr_wrapper",
        "call_module",
        "forward",
        "_check",
        "_check_with",
        "_check_value",
        "_check_index",
        "_check_is_size",
        "_assert",
    }
)


def diagnose_own_error(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an exception that the model raised."""
    interpreted = _find_observed_exception(attempt.error)
    pair = interpreted or _find_raised_exception(attempt)
    if pair is None:
        return None
    name, text = pair
    place = failing_place(attempt.error)
    if interpreted is not None:
        place = _first_raised(attempt, interpreted, place)
    text = plain(text, symbol_names(attempt))
    return Diagnosis(
        kind=Kind.OWN_ERROR,
        sentence=rules.OwnError.SENTENCE(
            name=name, message=f": {text}" if text else " without a message"
        ),
        why=rules.OwnError.WHY(),
        stack=place.stack,
        span=place.span,
    )


def _find_observed_exception(error: BaseException) -> tuple[str, str] | None:
    """The exception that Dynamo saw the model raise."""
    for chained_error in chain(error):
        if is_a(chained_error, "FakeTensorObservedException"):
            return None  # an operator rejected its inputs
        if (
            is_a(chained_error, "ObservedException")
            and type(chained_error).__name__ != "ObservedException"
        ):
            again = message(find(error, "Unsupported") or error)
            return read_observed_exception(
                type(chained_error).__name__, message(chained_error), again
            )
    name = _BREAKS.get(break_type(error))
    inner = cause(error)
    python = type(inner).__name__ == "TypeError"
    no_items = not_subscriptable(message(find(error, "Unsupported") or error))
    if no_items:
        return "TypeError", no_items
    if name is None:
        refused = python and break_type(error) and is_raised_in(inner, ("run_node",))
        return ("TypeError", message(inner)) if refused else None
    if python:
        return name, message(inner)
    return name, _source_says(failing_place(error)) or explanation(
        message(find(error, "Unsupported") or error)
    )


def _first_raised(attempt: Failed, found: tuple[str, str], again: Place) -> Place:
    """Where an exception was raised before a `finally` or a context manager raised it again."""
    outer = [(location.file, location.function) for location in again.stack]
    for raised in attempt.recording.raised:
        place = find_dynamo_place(raised.frames)
        inner = [(location.file, location.function) for location in place.stack]
        same = read_observed_exception(raised.cls, raised.text) == found
        if same and len(inner) > len(outer) and inner[: len(outer)] == outer:
            return place
    return again


def _source_says(place: Place) -> str:
    """Python's message, where Dynamo's is about Dynamo."""
    match place.question.node if place.question else place.expression:
        case ast.Assert(msg=ast.Constant(value=str(said))):
            return said
        case ast.Assert():
            return f"`{place.text}` does not hold"
        case ast.Name(id=name):
            return f"name '{name}' is not defined"
    return ""


def _find_raised_exception(attempt: Failed) -> tuple[str, str] | None:
    """The exception that the user's code raised."""
    error = attempt.error if not break_type(attempt.error) else cause(attempt.error)
    place = failing_place(error)
    if type(error).__module__.startswith("torch") or not place.stack or not _by_the_model(error):
        return None
    name = type(error).__name__
    text = message(error)
    if isinstance(error, AssertionError) and not text:
        return name, _source_says(place)
    return name, text


def _by_the_model(error: BaseException) -> bool:
    """Whether it was raised by the model's code, or a library's, and not inside of an operator."""
    if isinstance(error, RecursionError):
        return True
    if came_through(error, "__torch_dispatch__", "__torch_function__"):
        return False
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    for code in reversed(frames):
        if is_shown(code.co_filename):
            return True
        if is_torch(code.co_filename) and code.co_name not in _BETWEEN:
            return False
    return False

"""Failures of operators: no fake kernel, mixed devices, rejected inputs."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

import torch

from export_engine import rules
from export_engine.attempt import Diagnosis, Failed, Kind, Link, signature_of
from export_engine.diagnose.errors import (
    break_type,
    came_through,
    cause,
    find,
    message,
    operator_of,
)
from export_engine.diagnose.explanations import graph_break_page
from export_engine.diagnose.facts import NoFakeKernel
from export_engine.diagnose.failing_line import Place, failing_place, variables_at
from export_engine.diagnose.torch_messages import find_mixed_devices, plain
from export_engine.shapes import leaves_of
from export_engine.torch_internals import operator_without_fake
from export_engine.traced_sizes import symbol_names

_CUSTOM_OPS = Link(
    "docs",
    "Custom operators",
    "How to give an operator a fake kernel",
    "https://docs.pytorch.org/tutorials/advanced/custom_ops_landing_page.html",
)
_NESTED = re.compile(r"\b(?:as_)?nested_tensor(?:_from_jagged)?\(")
_BREAKS = ("RuntimeError when making fake tensor call", "TypeError when making fake tensor call")


def diagnose_no_fake_kernel(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an operator without a fake kernel."""
    pair = operator_without_fake(cause_of_missing(attempt.error))
    if pair is None:
        return None
    name, overload = pair
    place = failing_place(attempt.error)
    text = f"what `{place.text}` returns" if place.text else "what it returns"
    return Diagnosis(
        kind=Kind.NO_FAKE_KERNEL,
        sentence=(rules.NoFakeKernel.SENTENCE(name=name, code=text)),
        why=rules.NoFakeKernel.WHY(),
        stack=place.stack,
        span=place.span,
        links=(_CUSTOM_OPS,),
        facts=NoFakeKernel(name, overload),
    )


def diagnose_nested_control_flow(attempt: Failed) -> Diagnosis | None:
    """Diagnoses a line that makes a nested tensor, which fails in many ways."""
    place = failing_place(attempt.error)
    if _NESTED.search(place.text or "") is None:
        return None
    return Diagnosis(
        kind=Kind.OPERATOR_FAILED,
        sentence=rules.OperatorFailed.NESTED_TENSOR(code=place.text),
        why=rules.OperatorFailed.NESTED_TENSOR_WHY(),
        stack=place.stack,
        span=place.span,
    )


def cause_of_missing(error: BaseException) -> BaseException:
    """The error that names the operator."""
    return find(error, "UnsupportedOperatorException") or cause(error)


def diagnose_device_mismatch(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an operator with tensors on different devices."""
    devices = _devices(attempt.error)
    if devices is None:
        return None
    place = failing_place(attempt.error)
    operator = operator_of(attempt.error)
    text = f"`{place.text}`" if place.text else f"`{operator}`"
    return Diagnosis(
        kind=Kind.DEVICE_MISMATCH,
        sentence=rules.DeviceMismatch.SENTENCE(code=text, device=devices[0], other=devices[1]),
        why=rules.DeviceMismatch.WHY(),
        stack=place.stack,
        span=place.span,
        links=graph_break_page(break_type(attempt.error)),
    )


def _devices(error: BaseException) -> tuple[str, str] | None:
    """The two devices; up to torch 2.12, whose error has no class of its own, by its text."""
    result = find(error, "FakeTensorDeviceMismatchError")
    if result is None:
        return find_mixed_devices(str(error))
    return str(getattr(result, "common_device", "?")), str(getattr(result, "device", "?"))


def diagnose_op_rejected(attempt: Failed) -> Diagnosis | None:
    """Diagnoses an operator that rejected its inputs."""
    error = cause(attempt.error)
    observed = find(attempt.error, "FakeTensorObservedException") is not None
    fake_call = observed or break_type(attempt.error) in _BREAKS
    if not fake_call and not came_through(error, "__torch_dispatch__", "__torch_function__"):
        return None
    place = failing_place(attempt.error)
    if not place.stack:
        return None
    return Diagnosis(
        kind=Kind.OPERATOR_FAILED,
        sentence=_refusal(place, plain(message(error), symbol_names(attempt)))
        + _dtypes(attempt, place, message(error)),
        why=rules.OperatorFailed.OP_REJECTED_WHY(),
        stack=place.stack,
        span=place.span,
    )


_OF_DTYPES = re.compile(
    r"\bdtypes?\b|\btype\b|\btypes\b|torch\.(?:u?int|float|bfloat|complex|bool)|"
    r"\b(?:Long|Int|Half|Float|Double|Byte|Bool|BFloat16)\b|must be long|^Promotion of "
)
"""In what an op says when it refuses a dtype; it names no input of the model."""
_FEW = 4


def _dtypes(attempt: Failed, place: Place, said: str) -> str:
    """The dtypes of what the failing expression reads, by the names in the code."""
    if place.expression is None or not _OF_DTYPES.search(said):
        return ""
    variables = variables_at(attempt.error, place) or _inputs(attempt)
    whole = _in_place(place) or place.expression
    nodes = [node for node in ast.walk(whole) if isinstance(node, ast.expr)]
    read = {ast.unparse(node): _value_of(node, variables) for node in nodes}
    told = [f"`{name}` is {_dtype(item)}" for name, item in read.items() if _is_tensor(item)]
    for name, value in read.items():
        owns = any(other.startswith(f"{name}.") for other in read)
        if isinstance(value, torch.nn.Module) and not owns:
            kinds = dict.fromkeys(map(_dtype, value.parameters()))
            told += [f"the parameters of `{name}` are {' and '.join(kinds)}"] if kinds else []
    return f" Here {', '.join(told[:_FEW])}." if told else ""


def _in_place(place: Place) -> ast.AugAssign | None:
    """The statement `y += x` that a place is in."""
    statement = place.code.statement(place.stack[-1].line) if place.code else None
    return statement if isinstance(statement, ast.AugAssign) else None


def _is_tensor(value: object) -> bool:
    return issubclass(type(value), torch.Tensor)


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _value_of(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """The object of a name, or of a module's attribute, found without running user code."""
    if isinstance(node, ast.Name):
        return variables.get(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    owner = _value_of(node.value, variables)
    if not isinstance(owner, torch.nn.Module):
        return None
    held = vars(owner)
    places = (held.get("_modules"), held.get("_parameters"), held.get("_buffers"), held)
    return next((place[node.attr] for place in places if place and node.attr in place), None)


def _inputs(attempt: Failed) -> Mapping[str, Any]:
    """The example's tensors by the names of the parameters."""
    request = attempt.request
    if request is None:
        return {}
    leaves = leaves_of(signature_of(request.target), request.args, request.kwargs)
    return {"self": request.target, **{leaf.path: leaf.value for leaf in leaves}}


_ONLY_FIXED = "SymIntArrayRef expected to contain only concrete integers"
"""The C++ error of an overload without symbolic sizes (`c10/core/SymIntArrayRef.h`)."""
_OF_TORCHS_SOURCE = re.compile(r"(?:/[\w.+-]+)+\.(?:cpp|cu|h):\d+: ")
"""Where torch was built is nobody's concern."""


def _refusal(place: Place, said: str) -> str:
    if place.text and _ONLY_FIXED in said:
        return rules.OperatorFailed.FIXED_SIZES_ONLY(code=place.text)
    said = _OF_TORCHS_SOURCE.sub("", said)
    whole = _in_place(place)
    text = ast.unparse(whole) if whole is not None else place.text
    called = f"`{text}` fails" if text else "An operator failed"
    return f"{called}: {said}." if said else f"{called}, without a message."

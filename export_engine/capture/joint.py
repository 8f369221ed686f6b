"""A training step as one graph: the forward pass to the loss, and its backward pass."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import PurePath
from typing import Any

import torch

from export_engine.attempt import GivenGraph, GraphProgram, Request, as_module, signature_of
from export_engine.capture.sandbox.model_snapshot import surroundings_kept
from export_engine.capture.sandbox.output import quiet
from export_engine.capture.sandbox.restored_attributes import attributes_kept
from export_engine.defects import log_internal_error
from export_engine.error_text import error_text
from export_engine.plain_errors import PlainError
from export_engine.process import sandbox
from export_engine.source import TORCH, is_own, is_shown
from export_engine.torch_internals import (
    MissingCapabilityError,
    counters_kept,
    dynamo_leftovers_freed,
    is_backward,
    joint_graph,
    module_hooks_left,
    transforms_left,
)
from export_engine.trace import Recording
from export_engine.traced_sizes import call_paths

_OWN_TRAINING = {
    ".backward()": "runs its backward pass itself",
    "autograd.grad": "computes its gradients itself",
}
"""Steps that train by themselves, by a part of Dynamo's name of what it does not trace."""
_OPTIMIZERS = f"{TORCH}optim{os.sep}"


class JointFailed(PlainError, RuntimeError):
    """torch cannot make a joint graph of this call. Its cause is torch's error."""


def capture_joint(request: Request) -> GivenGraph:
    """Traces a call that gives a loss, and the backward pass that autograd makes of it.

    Nothing is trained: gradients and weights stay as they are.

    Args:
        request: the call: a module that returns the loss, or a function, `loss_fn(model, batch)`.
            Modules among the arguments of a function count as held by it.

    Raises:
        JointFailed: torch cannot trace the call, or nothing in its result needs a gradient.
        MissingCapabilityError: this torch cannot make joint graphs.
        TypeError: the target cannot be called, or not with these arguments.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    module, args, kwargs = _as_step(request)
    paths = call_paths(request.with_changes(target=module, args=args, kwargs=kwargs))
    started = time.perf_counter()
    with (
        sandbox(),
        counters_kept(),
        dynamo_leftovers_freed(),
        transforms_left(),
        module_hooks_left(),
        quiet() as heard,
        surroundings_kept(request, Recording()),
        attributes_kept(module, Recording()),
        torch.enable_grad(),
        ExitStack() as stack,
    ):
        try:
            traced = joint_graph(stack, module, args, kwargs)
        except MissingCapabilityError:
            raise
        except Exception as error:
            log_internal_error(error, "making a joint graph")
            raise JointFailed(_explain_failure(error, request.cells)) from error
    if not any(map(is_backward, traced.graph.graph.nodes)):
        raise JointFailed(
            "Nothing in the result needs a gradient, so there is no backward pass. Return the "
            "loss, and leave requires_grad on for the parameters to train."
        )
    return GivenGraph(
        request=None,
        recording=Recording(),
        program=GraphProgram(traced.graph, paths, traced.values),
        seconds=time.perf_counter() - started,
        warnings=heard.warnings,
        printed=heard.printed,
        title=request.title,
        given="joint graph",
        cells=request.cells,
    )


def _explain_failure(error: Exception, cells: Mapping[str, str]) -> str:
    """A sentence on a step that torch cannot trace: why, on which line, what to write instead."""
    stack = list(getattr(error, "real_stack", None) or ())  # of Dynamo's errors
    shown = [frame for frame in stack if is_own(frame.filename) and is_shown(frame.filename)]
    where = ""
    if shown:
        path = shown[-1].filename
        where = f" ({cells.get(path, PurePath(path).name)}:{shown[-1].lineno})"
    kind = str(getattr(error, "gb_type", ""))
    own = next((what for part, what in _OWN_TRAINING.items() if part in kind), "")
    if any(frame.filename.startswith(_OPTIMIZERS) for frame in stack):
        own = "calls an optimizer"
    if own:
        return (
            f"The step {own}{where}. Return the loss instead: a joint graph adds the backward "
            "pass, and contains no optimizer."
        )
    return f"torch cannot make a joint graph of this call{where}: {error_text(error)}"


class _Step(torch.nn.Module):
    """A call of a function as a module. Modules among the arguments are submodules, by name."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._function = request.target
        bound = signature_of(request.target).bind(*request.args, **request.kwargs)
        self._names = [
            name for name, value in bound.arguments.items() if isinstance(value, torch.nn.Module)
        ]
        for name in self._names:
            self.add_module(name, bound.arguments[name])
        self.inputs = {
            name: value for name, value in bound.arguments.items() if name not in self._names
        }

    def forward(self, **inputs: Any) -> Any:
        return self._function(**inputs, **{name: getattr(self, name) for name in self._names})


def _as_step(request: Request) -> tuple[torch.nn.Module, tuple[Any, ...], dict[str, Any]]:
    """The call as that of a module, to which tensors alone are given."""
    if isinstance(request.target, torch.nn.Module):
        return request.target, request.args, dict(request.kwargs)
    kinds = {parameter.kind for parameter in signature_of(request.target).parameters.values()}
    if kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}:
        step = _Step(request)
        return step, (), step.inputs
    if any(
        isinstance(value, torch.nn.Module) for value in (*request.args, *request.kwargs.values())
    ):
        raise TypeError(
            "A function with *args or **kwargs cannot receive a module here. Name its "
            "parameters: loss_fn(model, x, y)."
        )
    return as_module(request.target), request.args, dict(request.kwargs)

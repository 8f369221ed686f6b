"""Hooks that record what happens while torch traces. All are removed afterwards."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from types import SimpleNamespace
from typing import Any

import torch

from export_engine.defects import passing_over
from export_engine.process import raise_if_interrupted, undone, whole_contexts, whole_with
from export_engine.source import TORCH, format_stack, user_stack
from export_engine.torch_internals import guard_hooks
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import hook
from export_engine.torch_internals.caught_errors import caught_errors
from export_engine.torch_internals.columns import columns_kept
from export_engine.torch_internals.dynamic_spec import ignore_attached
from export_engine.torch_internals.generated_code_lines import lines_behind
from export_engine.torch_internals.inputs import keywords_apart
from export_engine.torch_internals.value_origins import dependence
from export_engine.trace import PartialGraph, Raised, Recording

# By these ops torch's C++ asks a fake tensor for an attribute, in functions that may not throw: an
# exception there ends the process ("terminate called after throwing an instance of 'python_error'",
# measured with torch 2.13).
for _attribute in ("device", "layout"):
    if hasattr(torch.ops.prim, _attribute):
        whole_with(getattr(torch.ops.prim, _attribute).default)
whole_contexts(TORCH)


@undone
def recording(into: Recording) -> Iterator[None]:
    """Records into `into` while an export runs inside; all hooks are removed afterwards."""
    with ExitStack() as hooks:
        hooks.enter_context(_full_stacks(into))
        hooks.enter_context(columns_kept(into))
        hooks.enter_context(guard_hooks.guards(into))
        hooks.enter_context(guard_hooks.conditions_of_code(into))
        hooks.enter_context(guard_hooks.births(into))
        hooks.enter_context(guard_hooks.consequences(into))
        hooks.enter_context(_modules(into))
        hooks.enter_context(_partial_graph(into))
        hooks.enter_context(_record_raised(into))
        hooks.enter_context(caught_errors(into))
        hooks.enter_context(_keywords_apart())
        hooks.enter_context(ignore_attached())
        yield


@undone
def counters_kept() -> Iterator[None]:
    """Restore Dynamo's counters of the user's compilations, which an export also changes."""
    if not torch_has.COUNTERS:
        yield
        return
    counters = torch_has.COUNTERS.value
    before = {name: counter.copy() for name, counter in counters.items()}
    try:
        yield
    finally:
        counters.clear()
        counters.update(before)


@undone
def transforms_left() -> Iterator[None]:
    """Leaves the transforms of `torch.func` in which a failed trace ended.

    torch keeps their levels on a stack of the thread, and a trace that fails inside may leave its
    own there; then `torch.randn` and more refuse to run, as they do inside of `torch.vmap`. It may
    also leave hooks on saved tensors refused; then checkpointing raises.
    """
    levels = torch_has.TRANSFORM_DEPTH and torch_has.LEAVE_TRANSFORMS
    hooks = torch_has.REFUSES_HOOKS and torch_has.REFUSE_HOOKS and torch_has.ALLOW_HOOKS
    depth = torch_has.TRANSFORM_DEPTH.value() if levels else 0
    refused = torch_has.REFUSES_HOOKS.value() if hooks else None
    try:
        yield
    finally:
        if levels:
            torch_has.LEAVE_TRANSFORMS.value(depth)
        if hooks and torch_has.REFUSES_HOOKS.value() != refused:
            if refused is None:
                torch_has.ALLOW_HOOKS.value()
            else:
                torch_has.REFUSE_HOOKS.value(refused)


@undone
def module_hooks_left() -> Iterator[None]:
    """Takes away the hook on all modules that torch puts there while it traces.

    torch 2.11 takes it away itself only where the export succeeds.
    """
    hooks: dict[int, Any] = torch_has.BUFFER_HOOKS.value if torch_has.BUFFER_HOOKS else {}
    before = set(hooks)
    try:
        yield
    finally:
        for number in hooks.keys() - before:
            del hooks[number]


@undone
def torch_options(names: Iterable[str]) -> Iterator[None]:
    """Turns torch's config options on for a while; one that this torch lacks is skipped."""
    with ExitStack() as switches:
        for name in names:
            for patch in (torch_has.FX_CONFIG, torch_has.DYNAMO_CONFIG):
                if patch and hasattr(patch.owner, name):
                    switches.enter_context(patch.value(**{name: True}))
        yield


def _full_stacks(into: Recording) -> AbstractContextManager[None]:
    """Gives nodes the whole user stack, where torch keeps only frames named `forward`.

    torch walks the stack in C++, makes text of all of it, then filters (`TracerBase.create_node`).
    Here only the frames to show are looked at, which costs less. See pytorch issue 191967.
    """

    def make(original: Any) -> Any:
        def create_node(self: Any, *args: Any, **kwargs: Any) -> Any:
            raise_if_interrupted()
            wanted = torch_has.STACK_TRACES.of(self, False)
            if not wanted:
                return original(self, *args, **kwargs)
            self.record_stack_traces = False
            try:
                node = original(self, *args, **kwargs)
            finally:
                self.record_stack_traces = wanted
            with torch_has.CREATE_NODE.tolerate(into):
                if not node.stack_trace and node.op not in ("placeholder", "output"):
                    stack = user_stack(sys._getframe(1), lines_behind)
                    if stack:
                        node.stack_trace = format_stack(stack)
            return node

        return create_node

    return hook(torch_has.CREATE_NODE, make)


@undone
def _modules(into: Recording) -> Iterator[None]:
    """Reports each module that tracing enters.

    Non-strict tracing calls modules; strict tracing interprets their bytecode.
    """
    told = into.on_module or (lambda _: None)

    def wrap_call_module(original: Any) -> Any:
        def call_module(self: Any, m: Any, forward: Any, args: Any, kwargs: Any) -> Any:
            module = m.get_base() if hasattr(m, "get_base") else m
            told(module)
            left = into.on_call(module, args, kwargs) if into.on_call else None
            result = original(self, m, forward, args, kwargs)
            if left is not None:
                left(result)
            return result

        return call_module

    def wrap_call_function(original: Any) -> Any:
        def call_function(self: Any, *args: Any, **kwargs: Any) -> Any:
            raise_if_interrupted()
            told(getattr(self, "value", None))
            return original(self, *args, **kwargs)

        return call_function

    with (
        hook(torch_has.CALL_MODULE, wrap_call_module),
        hook(torch_has.STRICT_MODULES, wrap_call_function),
    ):
        yield


@undone
def _partial_graph(into: Recording) -> Iterator[None]:
    """Keeps the (partial) graph of the outermost trace.

    Strict mode traces twice: Dynamo interprets Python, and clears its graph when that fails; what
    it made is then traced again as non-strict mode traces the module.
    """

    def wrap_dispatch_trace(original: Any) -> Any:
        def dispatch_trace(root: Any, tracer: Any, *args: Any, **kwargs: Any) -> Any:
            into.traces += 1
            try:
                return original(root, tracer, *args, **kwargs)
            finally:
                into.traces -= 1
                if not into.traces and hasattr(tracer, "graph"):
                    into.graph = PartialGraph(tracer.graph, tracer.root)
                    with passing_over("looking at what kept values were computed from"):
                        into.depends = dependence(tracer, tracer.graph, into.entered_with)
                    if into.on_traced is not None:
                        into.on_traced()

        return dispatch_trace

    def wrap_cleanup(original: Any) -> Any:
        def cleanup(self: Any) -> None:
            error = sys.exc_info()[1]
            again = "RestartAnalysis" in (item.__name__ for item in type(error).__mro__)
            if error is not None and not again and not into.traces:
                with passing_over(
                    "copying the graph so far"
                ):  # report the error that ended the trace
                    copied = torch.fx.Graph()
                    copied.graph_copy(self.tracers[0].graph, {})
                    into.graph = PartialGraph(copied, SimpleNamespace(**self.nn_modules))
            original(self)

        return cleanup

    with (
        hook(torch_has.DISPATCH_TRACE, wrap_dispatch_trace),
        hook(torch_has.CLEANUP, wrap_cleanup),
    ):
        yield


def _record_raised(into: Recording) -> AbstractContextManager[None]:
    """Records the exceptions that Dynamo sees the model raise.

    One that passes a `finally` or a context manager is raised again there, and has lost its line.
    """

    def make(original: Any) -> Any:
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            original(self, *args, **kwargs)
            with torch_has.OBSERVED.tolerate(into):
                frames = tuple(getattr(self, "real_stack", None) or ())
                into.raised.append(Raised(type(self).__name__, str(self), frames))

        return init

    return hook(torch_has.OBSERVED, make)


@undone
def _keywords_apart() -> Iterator[None]:
    """Makes torch treat each entry of `**kwargs` as a separate input, under its keyword.

    Up to 2.13, torch treats them as one dict in some steps of an export and as several inputs in
    others, so no spec of them is accepted (issues 150022 and 150371). Since then it takes specs,
    but in non-strict mode guards on such an input are about a dict that is not there.
    """
    with ExitStack() as hooks:
        if torch_has.TRACING_KEYWORDS:
            hooks.enter_context(hook(torch_has.SOURCED_PREFIXES, _with_keywords_apart))
        elif all(_COMBINING):  # torch must see the same in every step
            for capability in _COMBINING:
                hooks.enter_context(hook(capability, _apart))
        yield


_COMBINING = (
    torch_has.COMBINE_ARGS,
    torch_has.COMBINE_IN_TRACE,
    torch_has.COMBINE_NON_STRICT,
    torch_has.COMBINE_STRICT,
)
"""Where torch puts a call's arguments together, up to 2.13."""


def _with_keywords_apart(original: Any) -> Any:
    def make_sourced_prefixes(*args: Any, **kwargs: Any) -> Any:
        with hook(torch_has.COMBINE_NON_STRICT, _apart):
            return original(*args, **kwargs)

    return make_sourced_prefixes


def _apart(original: Any) -> Any:
    def combine_args(f: Any, args: Any, kwargs: Any) -> Any:
        combined = original(f, args, kwargs)
        called = f.forward if isinstance(f, torch.nn.Module) else f
        return keywords_apart(inspect.signature(called), combined)

    return combine_args

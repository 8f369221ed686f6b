"""Watches torch.compile, and restores torch's global state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch

from export_engine.process import undone
from export_engine.source import Location, Stack, is_shown
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.capability import Capability, hook
from export_engine.torch_internals.symbols import expression_of, int_bound, short_dtype
from export_engine.trace import Seen, SeenBreak, SeenGraph, SeenRecompile

_UNBOUNDED = 2**62
_TORCH = str(Path(torch.__file__).parent)


@undone
def compile_watched(target: Callable[..., Any], into: Seen) -> Iterator[Callable[..., Any]]:
    """The target under torch.compile, recording its calls into `into`.

    A copy of the target's function is compiled, so the user's compiled graphs are neither used nor
    changed. torch's records about called functions are removed, except for functions that the user
    compiled.

    Raises:
        MissingCapabilityError: this torch lacks a name that is needed to restore its state.
    """
    for capability in (*torch_has.OF_COMPARISON, torch_has.COUNTERS):
        _ = capability.value
    backend = _backend(into)
    with ExitStack() as stack:
        stack.enter_context(_no_files())
        stack.enter_context(_state_kept(backend))
        stack.enter_context(_breaks(into))
        stack.enter_context(_recompiles(into))
        stack.enter_context(_limits(into))
        handle = torch_has.BYTECODE_HOOK.value(lambda code, _: _frame(code, into))
        stack.callback(handle.remove)
        yield torch.compile(_fresh(target), backend=backend)


def _no_files() -> AbstractContextManager[Any]:
    """Keeps torch from caching profiles for the next process."""
    patch = torch_has.DYNAMO_CONFIG
    names = ("automatic_dynamic_local_pgo", "automatic_dynamic_remote_pgo")
    entries = {name: False for name in names if patch and hasattr(patch.owner, name)}
    return patch.value(**entries) if entries else nullcontext()


def _fresh(target: Callable[..., Any]) -> Callable[..., Any]:
    """The target with a code object of its own: torch.compile keeps its graphs by code object."""
    called: Any = target
    if isinstance(target, torch.nn.Module):
        hooks = (torch_has.FORWARD_HOOKS, torch_has.FORWARD_PRE_HOOKS)
        if not all(hooks) or any(capability.of(target) for capability in hooks):
            return target
        called = target.forward
    code = getattr(called, "__code__", None)
    # torch.compile wraps torch's own functions in one function, so all share its code and graphs
    if code is not None and not code.co_filename.startswith(_TORCH):
        if isinstance(called, MethodType) and isinstance(called.__func__, FunctionType):
            return MethodType(_copy_function(called.__func__), called.__self__)
        if isinstance(called, FunctionType):
            return _copy_function(called)

    def run(*args: Any, **kwargs: Any) -> Any:
        return called(*args, **kwargs)

    own: Any = run
    return _copy_function(own)


def _copy_function(function: FunctionType) -> FunctionType:
    result = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__, result.__module__ = function.__qualname__, function.__module__
    return result


@undone
def _state_kept(backend: Any) -> Iterator[None]:
    """Dynamo's counters, its memory of sizes and of code are as before, also on interrupt.

    A name that this torch lacks is skipped; its state stays as the calls left it.
    """
    held = [
        (capability, _copy_value(capability))
        for capability in (torch_has.FRAME_COUNTER, torch_has.FRAME_COMPILE_COUNTER)
        if capability
    ]
    # what torch knows of the sizes of earlier calls is set aside for a while, so not copied
    memory = [
        (capability, getattr(capability.owner, capability.name))
        for capability in (torch_has.SIZES_SEEN, torch_has.FIRST_SIZES_SEEN)
        if capability
    ]
    counters = torch_has.COUNTERS.value
    counted = copy.deepcopy(dict(counters))
    reasons = torch_has.BREAK_REASONS.value if torch_has.BREAK_REASONS else []
    reasons_before = len(reasons)
    codes = torch_has.INPUT_CODES.value
    items = set(codes.seen_ids)
    torch_has.RESET_SIZES.value()
    try:
        yield
    finally:
        for reference in list(codes.seen):
            code = reference()
            if code is not None:
                _forget(code, backend, new=id(code) not in items)
        for capability, value in (*held, *memory):
            setattr(capability.owner, capability.name, value)
        del reasons[reasons_before:]
        counters.clear()
        counters.update(counted)


def _copy_value(capability: Capability) -> Any:
    return copy.copy(getattr(capability.owner, capability.name))


def _forget(code: CodeType, backend: Any, new: bool) -> None:
    """Removes the graphs of a function, unless some are the user's.

    Args:
        code: the function's.
        backend: ours.
        new: whether torch had not met the function before; then its marks are taken away too.
    """
    entries = torch_has.CACHE_ENTRIES.value(code)
    if (entries or new) and all(_unwrap_backend(entry.backend) is backend for entry in entries):
        torch_has.RESET_CODE.value(code)


def _unwrap_backend(backend: Any) -> Any:
    """The user's function inside torch.compile's wrapper."""
    while hasattr(backend, "_torchdynamo_orig_backend"):
        backend = backend._torchdynamo_orig_backend
    return getattr(backend, "compiler_fn", backend)


def _backend(into: Seen) -> Callable[..., Any]:
    """A backend that records its graph and runs it eagerly."""

    def keep(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        number = len(into.graphs)
        frame = str(torch_has.COMPILE_ID.value())
        into.graphs.append(_graph(graph, frame, into))
        into.call.made.append(number)

        def run(*args: Any) -> Any:
            into.call.ran.append(number)
            return graph.forward(*args)

        return run

    return keep


def _graph(graph: torch.fx.GraphModule, frame: str, into: Seen) -> SeenGraph:
    inputs: list[tuple[str, str]] = []
    sizes: dict[str, tuple[str, int | None, int | None]] = {}
    context = torch_has.TRACING_CONTEXT.value() if torch_has.TRACING_CONTEXT else None
    env = context.fake_mode.shape_env if context and context.fake_mode else None
    for node in graph.graph.find_nodes(op="placeholder"):
        source = _source(node)
        value = node.meta.get("example_value")
        if not isinstance(value, torch.Tensor) or not source:
            continue
        inputs.append((source, f"{short_dtype(value.dtype)}[{', '.join(map(str, value.shape))}]"))
        shape: tuple[Any, ...] = tuple(value.shape)
        for position, size in enumerate(shape):
            if isinstance(size, torch.SymInt):
                _note_size(
                    str(size), expression_of(size), f"{source}.size()[{position}]", env, sizes
                )
    reason: Any = graph.compile_subgraph_reason
    ended = _matching(reason, into) if reason is not None and reason.graph_break else None
    ops = [_op(node) for node in _calls(graph)]
    return SeenGraph(frame, inputs, sizes, ops, graph.code.strip(), ended)


def _note_size(name: str, symbol: Any, source: str, env: Any, sizes: dict[str, Any]) -> None:
    result = torch_has.VAR_TO_RANGE.of(env, {}).get(symbol) if env is not None else None
    if name not in sizes and result is not None:
        sizes[name] = (source, int_bound(result.lower), int_bound(result.upper))


def _calls(graph: torch.fx.GraphModule) -> list[torch.fx.Node]:
    return [node for node in graph.graph.nodes if node.op.startswith("call_")]


def _op(node: torch.fx.Node) -> str:
    target = node.target
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def _source(node: torch.fx.Node) -> str:
    """The source of a graph's input: `L['x']`."""
    source = getattr(node.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)


def _matching(reason: Any, into: Seen) -> SeenBreak:
    """The break that ended a graph, as recorded."""
    stack = _stack(reason.user_stack)
    for seen_break in reversed(into.breaks):
        if seen_break.stack[-1:] == stack[-1:]:
            return seen_break
    result = SeenBreak(str(reason.reason).splitlines()[0], str(reason.reason), stack)
    into.breaks.append(result)
    return result


@undone
def _breaks(into: Seen) -> Iterator[None]:
    def make(original: Any) -> Any:
        def log_graph_break(
            self: Any, code_options: Any, reason: str, exc: Any, *args: Any, **kwargs: Any
        ) -> Any:
            if not getattr(exc, "logged", False):
                now = torch_has.EXTRACT_STACK.value() if torch_has.EXTRACT_STACK else ()
                stack = _stack(getattr(exc, "real_stack", ()) or now)
                kind = getattr(exc, "gb_type", None) or str(exc).splitlines()[0]
                seen_break = SeenBreak(str(kind), str(exc), stack)
                into.breaks.append(seen_break)
                into.call.breaks.append(seen_break)
                into.between.setdefault(str(torch_has.COMPILE_ID.value()), []).append(seen_break)
            return original(self, code_options, reason, exc, *args, **kwargs)

        return log_graph_break

    with hook(torch_has.LOG_BREAK, make):
        yield


@undone
def _recompiles(into: Seen) -> Iterator[None]:
    def make(original: Any) -> Any:
        def reasons_of(entries: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            reasons = original(entries, frame, *args, **kwargs)
            for reason in reasons:
                which, _, guard = str(reason).partition(": ")
                file = frame.f_code.co_filename
                into.call.recompiles.append(SeenRecompile(which, guard, file))
            return reasons

        return reasons_of

    with hook(torch_has.RECOMPILE_REASONS, make):
        yield


@undone
def _limits(into: Seen) -> Iterator[None]:
    def make(original: Any) -> Any:
        def exceeds(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if result[0]:
                into.call.limit = int(getattr(torch_has.DYNAMO_CONFIG.owner, str(result[1]), 0))
            return result

        return exceeds

    with hook(torch_has.RECOMPILE_LIMIT, make):
        yield


def _frame(code: CodeType, into: Seen) -> None:
    frame = str(torch_has.COMPILE_ID.value())
    into.frames[frame] = Location(code.co_filename, code.co_firstlineno, code.co_name)


def _stack(summaries: Any) -> Stack:
    locations = [
        Location(summary.filename, summary.lineno or 0, summary.name) for summary in summaries
    ]
    return tuple(location for location in locations if is_shown(location.file))

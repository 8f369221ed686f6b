"""Watches torch.compile, and leaves nothing of it behind in torch's global state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo import convert_frame, pgo, symbolic_convert, utils
from torch._guards import CompileContext, TracingContext

from export_engine.process import undone
from export_engine.source import Location, Stack, is_shown
from export_engine.torch_internals.patching import replaced
from export_engine.torch_internals.symbols import int_bound, short_dtype
from export_engine.trace import Seen, SeenBreak, SeenGraph, SeenRecompile

_UNBOUNDED = 2**62


@undone
def compile_watched(target: Callable[..., Any], into: Seen) -> Iterator[Callable[..., Any]]:
    """The target as torch.compile makes it, telling `into` what happens when it is called.

    A copy of the target's own function is compiled, so that what the user compiled stays, and the
    copy meets no graph of theirs. What torch notes about functions that were called is taken back,
    but for those that the user has compiled themselves: these keep both.
    """
    backend = _backend(into)
    with ExitStack() as stack:
        stack.enter_context(dynamo_config.patch(**_NO_FILES))
        stack.enter_context(_state_kept(backend))
        stack.enter_context(_breaks(into))
        stack.enter_context(_recompiles(into))
        stack.enter_context(_limits(into))
        handle = convert_frame.register_bytecode_hook(lambda code, _: _frame(code, into))
        stack.callback(handle.remove)
        yield torch.compile(_fresh(target), backend=backend)


_NO_FILES: dict[str, Any] = {
    name: False
    for name in ("automatic_dynamic_local_pgo", "automatic_dynamic_remote_pgo")
    if hasattr(dynamo_config, name)
}
"""What torch would write down for the next process."""


def _fresh(target: Callable[..., Any]) -> Callable[..., Any]:
    """The target with a code object of its own: torch.compile keeps its graphs by code object."""
    called: Any = target
    if isinstance(target, torch.nn.Module):
        hooks = (target._forward_hooks, target._forward_pre_hooks)
        if any(hooks):
            return target
        called = target.forward
    if isinstance(called, MethodType) and isinstance(called.__func__, FunctionType):
        return MethodType(_copied(called.__func__), called.__self__)
    if isinstance(called, FunctionType):
        return _copied(called)

    def run(*args: Any, **kwargs: Any) -> Any:
        return target(*args, **kwargs)

    return run


def _copied(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__.replace(),
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


@undone
def _state_kept(backend: Any) -> Iterator[None]:
    """Dynamo's counters, its memory of sizes and of code are as before, also on interrupt.

    A name that this torch lacks is passed over: what it would hold stays as the calls left it.
    """
    held = [
        (owner, name, copy.copy(getattr(owner, name)))
        for owner, name in _HELD
        if hasattr(owner, name)
    ]
    memory = [(pgo, name, getattr(pgo, name)) for name in _MEMORY if hasattr(pgo, name)]
    counters = copy.deepcopy(dict(utils.counters))
    reasons = len(utils.graph_break_reasons)
    known = set(convert_frame.input_codes.seen_ids)
    pgo.reset_code_state()
    try:
        yield
    finally:
        for reference in list(convert_frame.input_codes.seen):
            code = reference()
            if code is not None:
                _forget(code, backend, new=id(code) not in known)
        for owner, name, value in (*held, *memory):
            setattr(owner, name, value)
        del utils.graph_break_reasons[reasons:]
        utils.counters.clear()
        utils.counters.update(counters)


_HELD = ((convert_frame, "FRAME_COUNTER"), (convert_frame, "FRAME_COMPILE_COUNTER"))
_MEMORY = ("_CODE_STATE", "_INIT_CODE_STATE")
"""What torch knows of the sizes of earlier calls; set aside for a while, so not copied."""


def _forget(code: CodeType, backend: Any, new: bool) -> None:
    """Takes the graphs of a function away, unless some are not ours.

    Args:
        code: the function's.
        backend: ours.
        new: whether torch had not met the function before; then its marks are taken away too.
    """
    entries = torch._C._dynamo.eval_frame._debug_get_cache_entry_list(code)
    if (entries or new) and all(_innermost(entry.backend) is backend for entry in entries):
        torch._C._dynamo.eval_frame.reset_code(code)


def _innermost(backend: Any) -> Any:
    """The function that the user gave, under what torch.compile wraps it in."""
    while hasattr(backend, "_torchdynamo_orig_backend"):
        backend = backend._torchdynamo_orig_backend
    return getattr(backend, "compiler_fn", backend)


def _backend(into: Seen) -> Callable[..., Any]:
    """A backend that keeps what it is given, and runs it as it is."""

    def keep(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        number = len(into.graphs)
        frame = str(CompileContext.current_compile_id())
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
    context = TracingContext.try_get()
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
                _note_size(str(size), size.node.expr, f"{source}.size()[{position}]", env, sizes)
    reason: Any = graph.compile_subgraph_reason
    ended = _matching(reason, into) if reason is not None and reason.graph_break else None
    ops = [_op(node) for node in _calls(graph)]
    return SeenGraph(frame, inputs, sizes, ops, graph.code.strip(), ended)


def _note_size(name: str, symbol: Any, source: str, env: Any, sizes: dict[str, Any]) -> None:
    found = env.var_to_range.get(symbol) if env is not None else None
    if name not in sizes and found is not None:
        sizes[name] = (source, int_bound(found.lower), int_bound(found.upper))


def _calls(graph: torch.fx.GraphModule) -> list[torch.fx.Node]:
    return [node for node in graph.graph.nodes if node.op.startswith("call_")]


def _op(node: torch.fx.Node) -> str:
    target = node.target
    return target if isinstance(target, str) else getattr(target, "__name__", str(target))


def _source(node: torch.fx.Node) -> str:
    """Where a graph's input comes from: `L['x']`."""
    source = getattr(node.meta.get("grapharg"), "source", None)
    name = getattr(source, "name", "")
    return str(name() if callable(name) else name)


def _matching(reason: Any, into: Seen) -> SeenBreak:
    """The break that ended a graph, as it was told when torch met it."""
    stack = _stack(reason.user_stack)
    for each in reversed(into.breaks):
        if each.stack[-1:] == stack[-1:]:
            return each
    found = SeenBreak(str(reason.reason).splitlines()[0], str(reason.reason), stack)
    into.breaks.append(found)
    return found


@undone
def _breaks(into: Seen) -> Iterator[None]:
    def make(original: Any) -> Any:
        def log_graph_break(
            self: Any, code_options: Any, reason: str, exc: Any, *args: Any, **kwargs: Any
        ) -> Any:
            if not getattr(exc, "logged", False):
                stack = _stack(getattr(exc, "real_stack", ()) or TracingContext.extract_stack())
                kind = getattr(exc, "gb_type", None) or str(exc).splitlines()[0]
                found = SeenBreak(str(kind), str(exc), stack)
                into.breaks.append(found)
                into.call.breaks.append(found)
                into.between.setdefault(str(CompileContext.current_compile_id()), []).append(found)
            return original(self, code_options, reason, exc, *args, **kwargs)

        return log_graph_break

    with replaced(symbolic_convert.InstructionTranslatorBase, "log_graph_break", make):
        yield


@undone
def _recompiles(into: Seen) -> Iterator[None]:
    def make(original: Any) -> Any:
        def reasons_of(entries: Any, frame: Any, *args: Any, **kwargs: Any) -> Any:
            reasons = original(entries, frame, *args, **kwargs)
            for said in reasons:
                which, _, guard = str(said).partition(": ")
                file = frame.f_code.co_filename
                into.call.recompiles.append(SeenRecompile(which, guard, file))
            return reasons

        return reasons_of

    with replaced(convert_frame, "get_and_maybe_log_recompilation_reasons", make):
        yield


@undone
def _limits(into: Seen) -> Iterator[None]:
    def make(original: Any) -> Any:
        def exceeds(*args: Any, **kwargs: Any) -> Any:
            found = original(*args, **kwargs)
            if found[0]:
                into.call.limit = int(getattr(dynamo_config, str(found[1]), 0))
            return found

        return exceeds

    with replaced(convert_frame, "exceeds_recompile_limit", make):
        yield


def _frame(code: CodeType, into: Seen) -> None:
    frame = str(CompileContext.current_compile_id())
    into.frames[frame] = Location(code.co_filename, code.co_firstlineno, code.co_name)


def _stack(summaries: Any) -> Stack:
    found = [Location(each.filename, each.lineno or 0, each.name) for each in summaries]
    return tuple(each for each in found if is_shown(each.file))

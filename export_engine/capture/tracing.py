"""Request → Attempt: runs torch.export with recording, progress and interruption.

`capture` leaves the user's module, arguments and torch's global state unchanged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from typing import Any

import torch
from torch.nn.parameter import is_lazy

from export_engine.attempt import (
    Attempt,
    Exported,
    Failed,
    Request,
    apply_edits,
    as_module,
    install_setups,
    name_of,
    signature_of,
)
from export_engine.capture.container_writes import find_container_writes, input_leaves
from export_engine.capture.context_effect import find_context_effect
from export_engine.capture.outside_reads import copies_seen, outside_reads_seen
from export_engine.capture.sandbox.model_snapshot import in_eval_mode, surroundings_kept
from export_engine.capture.sandbox.output import quiet
from export_engine.capture.sandbox.restored_attributes import attributes_kept
from export_engine.defects import log_internal_error
from export_engine.listing import join_names
from export_engine.process import sandbox, undone
from export_engine.progress import Progress
from export_engine.shapes import from_the_front, specs_by_input
from export_engine.torch_internals import (
    active_contexts,
    contexts_left,
    counters_kept,
    device_types,
    dynamo_leftovers_freed,
    find_attached_spec,
    inference_mode_left,
    is_fake,
    is_shapes_spec,
    module_hooks_left,
    patches_noted,
    pytree,
    recording,
    torch_options,
    transforms_left,
)
from export_engine.trace import Change, ContextEffect, PartialGraph, Recording

_CONTAINERS = (
    torch.nn.ModuleList,
    torch.nn.ModuleDict,
    torch.nn.ParameterList,
    torch.nn.ParameterDict,
)


def capture(request: Request, progress: Callable[[Progress], None] | None = None) -> Attempt:
    """Exports the request's call.

    Args:
        request: what to export. Without shapes, what `@dynamic_spec` attached to the target holds.
        progress: called on each module that tracing enters, inside the trace: keep it short.

    Returns:
        Exported, or Failed with what torch raised.

    Raises:
        TypeError: the target cannot be called, or not with these arguments, or is not initialized.
        ShapesError: the request's shapes do not fit the call.
        KeyboardInterrupt: the user interrupted; nothing has changed.
    """
    module = as_module(request.target)
    _check_arguments(request)
    _check_initialized(module)
    if not request.asks_for_shapes:
        request = request.with_changes(dynamic_shapes=find_attached_spec(request.target))
    record = Recording(_counter(module, progress) if progress else None)
    values = values_of_call(module, request)
    record.contexts = active_contexts(device_types(values))
    program: torch.export.ExportedProgram | None = None
    error: Exception | SystemExit | None = None
    started = time.perf_counter()
    with (
        sandbox(),
        nullcontext() if request.strict else patches_noted(record.patches),  # ours come after
        counters_kept(),
        dynamo_leftovers_freed(),
        transforms_left(),
        module_hooks_left(),
        quiet() as heard,
        in_eval_mode(request.target, request.eval_mode),
        surroundings_kept(request, record),
        attributes_kept(module, record) as look,
        install_setups(request.setups) as keep,
        contexts_entered(request),
        apply_edits(request.edits),
        torch_options(request.options),
        recording(record),
        nullcontext() if request.strict else outside_reads_seen(record.reads),
        nullcontext() if request.strict else copies_seen(record.copies),
    ):
        record.on_call = _inputs_watched(module, record)
        record.on_traced = lambda: record.changes.extend(look())
        dynamic_shapes = _dynamic_shapes(request)  # paths into a container need its registration
        weightless = _fakes_of(module)
        try:
            result = run_export(module, request, dynamic_shapes)
            _check_values(result, record, weightless)
            program = result
            keep()
            record.graph = None  # the program contains all of it
            record.raised.clear()
        except (Exception, SystemExit) as raised:  # noqa: BLE001 - any failure is an outcome
            log_internal_error(raised, "exporting")
            error = raised
    record.depends, record.entered_with = None, ()
    entries: dict[str, Any] = {
        "request": request,
        "recording": record,
        "seconds": time.perf_counter() - started,
        "warnings": heard.warnings,
        "printed": heard.printed + (heard.complained if error is None else ""),
        "title": request.title,
    }
    if program is not None:
        if record.contexts:
            with contexts_left(values):
                record.context_effect = find_context_effect(program, capture(request))
        return Exported(program=program, **entries)
    assert error is not None
    _note_hindering_contexts(request, record, values)
    return Failed(error=error, **entries)


def _note_hindering_contexts(request: Request, record: Recording, values: list[Any]) -> None:
    """Records the contexts around a failed export without which the call exports."""
    contexts = (*record.contexts, *inference_mode_left(values))
    if not contexts:
        return
    with contexts_left(values):
        other = capture(request)
    if isinstance(other, Exported):
        record.contexts = contexts
        record.context_effect = ContextEffect("", "without it, the call exports")


def values_of_call(module: torch.nn.Module, request: Request) -> list[Any]:
    """All tensors that a call has to do with, and what else is among its inputs."""
    leaves = pytree.tree_leaves((request.args, dict(request.kwargs)))
    return [*module.parameters(), *module.buffers(), *leaves]


@undone
def contexts_entered(request: Request) -> Iterator[None]:
    """The contexts that the request asks for."""
    with ExitStack() as contexts:
        for function in request.within:
            contexts.enter_context(function())
        yield


@undone
def as_exported(request: Request) -> Iterator[None]:
    """The contexts of an export: eval mode, registered containers, the request's own contexts."""
    with (
        in_eval_mode(request.target, request.eval_mode),
        install_setups(request.setups),
        contexts_entered(request),
    ):
        yield


def run_export(
    module: torch.nn.Module, request: Request, dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """Calls torch.export. Recorded stacks end at this function's frame."""
    return torch.export.export(
        module,
        request.args,
        dict(request.kwargs),
        dynamic_shapes=dynamic_shapes,
        strict=request.strict,
        prefer_deferred_runtime_asserts_over_guards=_DEFERRED in request.options,
    )


class StandInHeld(RuntimeError):
    """torch.export returned a program with fake tensors in it; it cannot be run."""


def _fakes_of(module: torch.nn.Module) -> list[torch.Tensor]:
    """The fake tensors that a model has itself: it was made under FakeTensorMode."""
    held = (*module.parameters(), *module.buffers())
    return [value for value in held if is_fake(value)]


def _check_values(
    program: torch.export.ExportedProgram, record: Recording, own: Sequence[torch.Tensor]
) -> None:
    """Raises StandInHeld if torch accepts such a program, as in strict mode or with torch.func.

    The model's `own` fake tensors do not leak.
    """
    held = {**program.state_dict, **program.constants}
    numbers = set(map(id, own))
    names = [name for name, value in held.items() if is_fake(value) and id(value) not in numbers]
    if names:
        record.graph = PartialGraph(program.graph, program.graph_module)
        raise StandInHeld(
            "torch.export returned a program with a fake tensor in the exported program "
            f"constant's list, which has no values: {', '.join(names)}."
        )


def _inputs_watched(
    module: torch.nn.Module, record: Recording
) -> Callable[[object, tuple[Any, ...], dict[str, Any]], Callable[[Any], None]]:
    """Records what the module writes into the containers that tracing passes; they are copies."""
    signature = signature_of(module)

    def on_enter(
        called: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[Any], None]:
        if called is not module:
            return lambda _: None
        before = input_leaves(signature, args, kwargs)
        record.entered_with = tuple(before.values())

        def left(result: Any) -> None:
            container_writes = find_container_writes(
                before, input_leaves(signature, args, kwargs), result
            )
            by_input: dict[str, list[str]] = {}
            for path in container_writes.paths:
                by_input.setdefault(path.partition(".")[0], []).append(path)
            for name, paths in by_input.items():
                lost = not set(container_writes.lost).isdisjoint(paths)
                record.changes.append(
                    Change("input", name, "content", join_names(paths), lost=lost)
                )

        return left

    return on_enter


_DEFERRED = "prefer_deferred_runtime_asserts_over_guards"


def _check_arguments(request: Request) -> None:
    """Raises a short TypeError before torch raises one from deep inside."""
    signature, name = signature_of(request.target), name_of(request.target)
    try:
        leaves = pytree.tree_leaves((request.args, dict(request.kwargs)))
    except RecursionError:
        raise TypeError(
            f"An argument of {name}() contains itself, or is nested too deeply for torch's "
            "pytrees. Pass tensors in a finite structure."
        ) from None
    for leaf in leaves:
        _check_written_out(leaf, name)
    try:
        signature.bind(*request.args, **request.kwargs)
    except TypeError as error:
        text = str(error)
        verb = "" if text.startswith("got ") else "is " if text.startswith("missing ") else "got "
        raise TypeError(f"{name}() {verb}{text}; its signature is {name}{signature}") from None


def _check_written_out(leaf: Any, name: str) -> None:
    if isinstance(leaf, int):
        try:
            str(leaf)  # as each input is in a program's signature
        except ValueError as error:
            raise TypeError(
                f"An argument of {name}() is an integer of {leaf.bit_length():,} bits, which a "
                f"program cannot record: {error}."
            ) from None


def _check_initialized(module: torch.nn.Module) -> None:
    """Raises a TypeError for lazy modules that were not called: tracing would initialize them."""
    held = (*module.named_parameters(), *module.named_buffers())
    lazy = [name for name, value in held if is_lazy(value)]
    if lazy:
        names = f"{lazy[0]} and {len(lazy) - 1} more are" if len(lazy) > 1 else f"{lazy[0]} is"
        raise TypeError(
            f"{names} not initialized: a lazy module gets its sizes from its first call. Call the "
            "model once, then export it."
        )


def _dynamic_shapes(request: Request) -> Any:
    target, args, kwargs, shapes = request.target, request.args, request.kwargs, request.shapes
    value = request.dynamic_shapes
    if value is None:
        value = None if shapes is None else shapes.to_torch(target, args, kwargs)
    elif is_shapes_spec(value):
        if shapes is not None:
            shapes.check_possible()
    else:
        value = from_the_front(value, target, args, kwargs)
    return specs_by_input(value, target, args, kwargs)


def _counter(
    module: torch.nn.Module, progress: Callable[[Progress], None]
) -> Callable[[object], None]:
    """Turns module entries into monotonic progress."""
    callable_modules = {
        id(submodule): path
        for path, submodule in module.named_modules()
        if not issubclass(type(submodule), _CONTAINERS)  # `__class__` may lie, or raise
    }
    entered: set[int] = set()

    def on_module(entering: object) -> None:
        path = callable_modules.get(id(entering))
        if path is not None:
            entered.add(id(entering))
            progress(Progress(len(entered), len(callable_modules), path))

    return on_module

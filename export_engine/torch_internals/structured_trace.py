"""torch's structured trace of a compilation, without a folder or a variable."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from types import BuiltinFunctionType, ModuleType
from typing import Any

from export_engine.process import raise_if_interrupted, undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.trace import CompilationTrace


class _Handler(logging.Handler):
    """Notes the entries of one thread."""

    def __init__(self, into: CompilationTrace, told: Callable[[str], None]) -> None:
        super().__init__()
        self._into = into
        self._told = told
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        if record.thread != self._thread:
            return
        raise_if_interrupted()  # torch logs far more often than it makes artifacts
        if isinstance(metadata, dict):
            name = self._into.add(metadata, getattr(record, "payload", None))
            if name:
                self._told(name)


def missing_provenance() -> str | None:
    """Why this torch does not tell which kernel an op became, as a sentence; None if it does."""
    needed = (torch_has.TRACE_LOG, torch_has.PROVENANCE_LEVEL, torch_has.INDUCTOR_CONFIG)
    return next((capability.sentence for capability in needed if not capability), None)


def caches_off() -> AbstractContextManager[Any]:
    """Compilations inside take nothing from torch's caches and leave nothing there."""
    return compiler_options({"force_disable_caches": True})


def find_unknown_options(options: Iterable[str]) -> list[str]:
    """Those that Inductor does not have; none where torch does not list what it has."""
    if not torch_has.INDUCTOR_OPTIONS:
        return []
    items = set(torch_has.INDUCTOR_OPTIONS.value())
    return [option for option in options if option not in items]


def compiler_options(options: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """Inductor's options while compilations run inside.

    Args:
        options: by name, as `torch.compile(options=...)` takes them.
    """
    if not options:
        return nullcontext()
    patched: AbstractContextManager[Any] = torch_has.INDUCTOR_CONFIG.value(dict(options))
    return patched


def calls_kernels_in_cpp() -> bool:
    """Whether Inductor is set to generate C++ that calls the kernels, in place of Python."""
    return bool(torch_has.CPP_WRAPPER) and bool(torch_has.CPP_WRAPPER.value)


def _can_record() -> bool:
    return bool(torch_has.GENERATED_MODULES) and bool(torch_has.KERNEL_EVENT)


@undone
def kernels_recorded(path: str, kernels: Iterable[str]) -> Iterator[None]:
    """Inside, each call of a C++ kernel by generated Python is an event of torch's profiler.

    Args:
        path: of the generated module, as torch's trace names it.
        kernels: names, as in that module.
    """
    names = sorted(set(kernels))
    # Of a compilation without caches torch's own list forgets the module.
    modules = [*torch_has.GENERATED_MODULES.value, *sys.modules.values()] if _can_record() else []
    scopes = [
        vars(module)
        for module in modules
        if isinstance(module, ModuleType) and vars(module).get("__file__") == path
    ]
    replaced = [
        (scope, name, scope[name])
        for scope in scopes
        for name in names
        if isinstance(scope.get(name), BuiltinFunctionType)
    ]
    try:
        for scope, name, kernel in replaced:
            scope[name] = _record_calls(name, kernel)
        yield
    finally:
        for scope, name, kernel in replaced:
            scope[name] = kernel


def _record_calls(name: str, kernel: Callable[..., None]) -> Callable[..., None]:
    event = torch_has.KERNEL_EVENT.value

    def call(*args: Any) -> None:
        with event(name):
            kernel(*args)

    return call


@undone
def compilation_traced(
    told: Callable[[str], None], in_python: bool = False
) -> Iterator[CompilationTrace]:
    """Compilations inside track provenance, and their artifacts are noted.

    Handlers of the user's, such as those of TORCH_TRACE, get none of it.

    Args:
        told: called with the name of each artifact as it is made.
        in_python: whether generated Python calls the kernels, so that `kernels_recorded` can have
            their events. If C++ calls them, each has an event compiled into it, which takes longer.

    Raises:
        MissingCapabilityError: this torch does not track provenance.
    """
    log: logging.Logger = torch_has.TRACE_LOG.value
    options: dict[str, Any] = {f"trace.{torch_has.PROVENANCE_LEVEL.name}": 1}
    events_later = in_python and not calls_kernels_in_cpp() and _can_record()
    if torch_has.KERNEL_PROFILE and not events_later:
        options[f"cpp.{torch_has.KERNEL_PROFILE.name}"] = True
    compilation_trace = CompilationTrace()
    handlers, level = list(log.handlers), log.level
    names = torch_has.INTERNED.value if torch_has.INTERNED else {}
    interned = dict(names)
    with ExitStack() as stack:
        stack.enter_context(torch_has.INDUCTOR_CONFIG.value(options))
        log.handlers[:] = [_Handler(compilation_trace, told)]
        log.setLevel(logging.DEBUG)
        try:
            yield compilation_trace
        finally:
            log.handlers[:] = handlers
            log.setLevel(level)
            names.clear()
            names.update(interned)

"""What a compilation tells of itself: torch's structured trace, without a folder or a variable."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from typing import Any

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has

STAGE_ARTIFACTS = (
    "dynamo_output_graph",
    "before_pre_grad_graph",
    "before_post_grad_graph",
    "inductor_post_grad_graph",
    "inductor_provenance_tracking_node_mappings",
    "inductor_provenance_tracking_kernel_stack_traces",
    "inductor_output_code",
    "inductor_aot_wrapper_code",
    "inductor_aot_kernel_code",
)
"""The artifacts that stages are made of."""
_HITS = ("fx_graph_cache_hit", "aotautograd_cache_hit")


@dataclass
class CompilationTrace:
    """The artifacts of one compilation."""

    texts: dict[str, str] = field(default_factory=dict)
    """By name; of several graphs, the first one's."""
    cached: bool = False
    """Whether torch's cache gave the code."""

    def add(self, metadata: dict[str, Any], payload: str | None) -> str:
        """Takes one entry of the trace; returns the name of an artifact that is wanted."""
        name = artifact_name(metadata)
        if name in _HITS:
            self.cached = True
        if name not in STAGE_ARTIFACTS or not payload or name in self.texts:
            return ""
        self.texts[name] = payload
        return name


def artifact_name(metadata: dict[str, Any]) -> str:
    """The name of an entry's artifact; of an entry with a key of its own, that key."""
    for key in ("artifact", "graph_dump"):
        named = metadata.get(key)
        if isinstance(named, dict):
            return str(named.get("name", ""))
    return next((name for name in STAGE_ARTIFACTS if name in metadata), "")


class _Handler(logging.Handler):
    """Notes the entries of one thread."""

    def __init__(self, into: CompilationTrace, told: Callable[[str], None]) -> None:
        super().__init__()
        self._into = into
        self._told = told
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        metadata = getattr(record, "metadata", None)
        if record.thread == self._thread and isinstance(metadata, dict):
            name = self._into.add(metadata, getattr(record, "payload", None))
            if name:
                self._told(name)


def missing_provenance() -> str | None:
    """Why this torch does not tell which kernel an op became, as a sentence; None if it does."""
    needed = (torch_has.TRACE_LOG, torch_has.PROVENANCE_LEVEL, torch_has.INDUCTOR_CONFIG)
    return next((each.sentence for each in needed if not each), None)


def caches_off() -> AbstractContextManager[Any]:
    """Compilations inside take nothing from torch's caches and leave nothing there."""
    return compiler_options({"force_disable_caches": True})


def unknown_options(options: Iterable[str]) -> list[str]:
    """Those that Inductor does not have; none where torch does not list what it has."""
    if not torch_has.INDUCTOR_OPTIONS:
        return []
    known = set(torch_has.INDUCTOR_OPTIONS.value())
    return [each for each in options if each not in known]


def compiler_options(options: Mapping[str, Any]) -> AbstractContextManager[Any]:
    """Inductor's options while compilations run inside.

    Args:
        options: by name, as `torch.compile(options=...)` takes them.
    """
    if not options:
        return nullcontext()
    patched: AbstractContextManager[Any] = torch_has.INDUCTOR_CONFIG.value(dict(options))
    return patched


@undone
def compilation_traced(told: Callable[[str], None]) -> Iterator[CompilationTrace]:
    """Compilations inside track provenance, and their artifacts are noted.

    Handlers of the user's, such as those of TORCH_TRACE, get none of it.

    Args:
        told: called with the name of each artifact as it is made.

    Raises:
        MissingCapabilityError: this torch does not track provenance.
    """
    log: logging.Logger = torch_has.TRACE_LOG.value
    options: dict[str, Any] = {f"trace.{torch_has.PROVENANCE_LEVEL.name}": 1}
    if torch_has.KERNEL_PROFILE:
        options[f"cpp.{torch_has.KERNEL_PROFILE.name}"] = True
    made = CompilationTrace()
    handlers, level = list(log.handlers), log.level
    names = torch_has.INTERNED.value if torch_has.INTERNED else {}
    interned = dict(names)
    with ExitStack() as stack:
        stack.enter_context(torch_has.INDUCTOR_CONFIG.value(options))
        log.handlers[:] = [_Handler(made, told)]
        log.setLevel(logging.DEBUG)
        try:
            yield made
        finally:
            log.handlers[:] = handlers
            log.setLevel(level)
            names.clear()
            names.update(interned)

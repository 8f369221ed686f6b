"""The registered delegation backends: those that come with Export Explorer, and entry points'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch

from export_engine.defects import log_internal_error
from export_engine.delegate.backend import DelegationBackend, Lowered, Verdict
from export_engine.delegate.builtin_backends.executorch_partitioners import (
    CoreMl,
    Qualcomm,
    Tosa,
    Vulkan,
)
from export_engine.delegate.builtin_backends.onnx_runtime import OnnxRuntime
from export_engine.delegate.builtin_backends.openvino import OpenVino
from export_engine.delegate.builtin_backends.xnnpack import Xnnpack
from export_engine.error_text import error_text
from export_engine.plain_errors import WrongArgument
from export_engine.run import collect_backends

GROUP = "export_explorer.delegation_backends"
BUILT_IN: tuple[type[DelegationBackend], ...] = (
    Xnnpack,
    CoreMl,
    Qualcomm,
    Vulkan,
    Tosa,
    OnnxRuntime,
    OpenVino,
)


def delegation_backends() -> dict[str, DelegationBackend]:
    """Every delegation backend by name, in display order. A broken one reports its error."""
    return collect_backends(BUILT_IN, GROUP, DelegationBackend, _Broken)  # type: ignore[type-abstract]


def find_backend(name: str) -> DelegationBackend:
    """A delegation backend that can be asked here.

    Raises:
        WrongArgument: there is none of this name, or it cannot be asked here; the text says why.
    """
    entries = delegation_backends()
    if name not in entries:
        raise WrongArgument(f"There is no delegation backend {name!r}. Available: {_all(entries)}.")
    missing = why_missing(entries[name])
    if missing is not None:
        raise WrongArgument(f"{entries[name].title} cannot be checked here. {missing}")
    return entries[name]


def why_missing(backend: DelegationBackend) -> str | None:
    """Why a backend cannot be asked here, as a sentence; None if it can."""
    try:
        return backend.missing()
    except Exception as error:  # noqa: BLE001 - whatever someone else's code raises
        log_internal_error(error, "asking a delegation backend what it lacks")
        return f"{backend.title} cannot tell whether it is available here: {error_text(error)}"


def _all(names: Iterable[str]) -> str:
    return ", ".join(names)


class _Broken:
    """A placeholder for a third-party backend that cannot be loaded."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = self.title = name
        self._reason = reason

    def missing(self) -> str | None:
        return self._reason

    def lower(self, program: torch.export.ExportedProgram) -> Lowered:
        raise RuntimeError(self._reason)

    def can_take(self, program: torch.export.ExportedProgram) -> Mapping[str, Verdict]:
        raise RuntimeError(self._reason)

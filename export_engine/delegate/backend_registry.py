"""The registered delegation backends: those that come with Export Explorer, and entry points'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

import torch

from export_engine.defects import passed_over
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
    """Every delegation backend by name, in display order. A broken one says so."""
    known: dict[str, DelegationBackend] = {}
    for kind in BUILT_IN:
        backend = kind()
        known[backend.name] = backend
    for point in entry_points(group=GROUP):
        added = _load(point)
        if added.name in known:
            name = point.value if point.name in known else point.name
            added = _Broken(name, f"{point.value} has the name of another backend, {added.name!r}.")
        known[added.name] = added
    return known


def find_backend(name: str) -> DelegationBackend:
    """A delegation backend that can be asked here.

    Raises:
        WrongArgument: there is none of this name, or it cannot be asked here; the text says why.
    """
    known = delegation_backends()
    if name not in known:
        raise WrongArgument(f"There is no delegation backend {name!r}. There are: {_all(known)}.")
    missing = why_missing(known[name])
    if missing is not None:
        raise WrongArgument(f"{known[name].title} cannot be asked here. {missing}")
    return known[name]


def why_missing(backend: DelegationBackend) -> str | None:
    """Why a backend cannot be asked here, as a sentence; None if it can."""
    try:
        return backend.missing()
    except Exception as error:  # noqa: BLE001 - whatever someone else's code raises
        passed_over(error, "asking a delegation backend what it lacks")
        return f"{backend.title} cannot say whether it is here: {error_text(error)}"


def _all(names: Iterable[str]) -> str:
    return ", ".join(names)


def _load(point: EntryPoint) -> DelegationBackend:
    """The backend of someone else's package, which breaks nothing here."""
    try:
        added = point.load()()
        if not isinstance(added, DelegationBackend):
            raise TypeError(f"{point.value} does not make a DelegationBackend")
    except Exception as error:  # noqa: BLE001 - whatever it raises
        passed_over(error, "loading a delegation backend")
        return _Broken(point.name, f"{point.value} cannot be loaded: {error_text(error)}")
    return added


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

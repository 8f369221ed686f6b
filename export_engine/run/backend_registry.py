"""The registered backends: those that come with Export Explorer, and those of entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol, TypeVar

from export_engine.defects import log_internal_error
from export_engine.error_text import error_text, format_with_type
from export_engine.plain_errors import WrongArgument
from export_engine.run.backend import Backend, Job, Ready
from export_engine.run.builtin_backends.aot_inductor import AOTInductor
from export_engine.run.builtin_backends.eager import Eager
from export_engine.run.builtin_backends.executorch import ExecuTorch
from export_engine.run.builtin_backends.inductor import Inductor
from export_engine.run.builtin_backends.onnx import Onnx
from export_engine.run.builtin_backends.openvino import OpenVino
from export_engine.run.builtin_backends.program import Program
from export_engine.run.builtin_backends.tensorrt import TensorRT
from export_engine.run.builtin_backends.xla import Xla

GROUP = "export_explorer.backends"
BUILT_IN: tuple[type[Backend], ...] = (
    Eager,
    Program,
    Inductor,
    AOTInductor,
    Onnx,
    ExecuTorch,
    OpenVino,
    TensorRT,
    Xla,
)


class Named(Protocol):
    """The interface of every backend."""

    name: str
    title: str


B = TypeVar("B", bound=Named)


def backends() -> dict[str, Backend]:
    """Every backend by name, in display order. A broken one reports its error."""
    return collect_backends(BUILT_IN, GROUP, Backend, _Broken)  # type: ignore[type-abstract]


def collect_backends(
    built_in: Iterable[type[B]], group: str, protocol: type[B], broken: Callable[[str, str], B]
) -> dict[str, B]:
    """Backends by name, in display order: those that come along, and those of entry points.

    Args:
        built_in: those that come along.
        group: of the entry points.
        protocol: what each of them has to be.
        broken: makes what takes the place of one that cannot be used, of a name and the reason.
    """
    result = {backend.name: backend for backend in (kind() for kind in built_in)}
    for point in entry_points(group=group):
        added = _load(point, protocol, broken)
        if added.name in result:
            name = point.value if point.name in result else point.name
            added = broken(name, f"{point.value} has the name of another backend, {added.name!r}.")
        result[added.name] = added
    return result


def _load(point: EntryPoint, protocol: type[B], broken: Callable[[str, str], B]) -> B:
    """The backend of someone else's package, which breaks nothing here."""
    try:
        added = point.load()()
        if not isinstance(added, protocol):
            raise TypeError(f"{point.value} does not create a {protocol.__name__}")
        told: tuple[object, ...] = added.name, added.title
        if not all(isinstance(value, str) for value in told):
            raise TypeError("its name or title is not a str")
    except Exception as error:  # noqa: BLE001 - whatever it raises
        log_internal_error(error, "loading a backend")
        return broken(point.name, f"{point.value} cannot be loaded: {error_text(error)}")
    return added


def missing_for(backend: Backend, device: str) -> str | None:
    """Why a backend cannot run on a device here, as a sentence; None if it can.

    One that fails as it is asked cannot.
    """
    try:
        reason = backend.missing(device)
    except Exception as error:  # noqa: BLE001 - whatever it raises
        log_internal_error(error, "checking what a backend needs")
        text = format_with_type(error)
        return f"{backend.title} cannot tell whether it runs here: its missing() raised {text}."
    return reason if reason is None else str(reason)


def choose_backends(names: str | Iterable[str] | None, device: str, eager: bool) -> list[Backend]:
    """The backends of these names; of `all`, those that can run on the device.

    Args:
        names: one, several, several with commas between, `all`, or None for the quick ones.
        device: where they are to run.
        eager: whether there is an eager model; if not, `all` and None leave it out.

    Raises:
        ValueError: there is no backend of such a name.
    """
    entries = backends()
    if names is None:
        names = ("eager", "program") if eager else ("program",)
    wanted = check_names(names)
    if wanted == ["all"]:
        able = [backend for backend in entries.values() if missing_for(backend, device) is None]
        return able if eager else [backend for backend in able if backend.name != "eager"]
    return [entries[text] for text in dict.fromkeys(wanted)]


def check_names(names: str | Iterable[str] | None) -> list[str]:
    """The names of backends one by one; `all` is one, and None gives none.

    Raises:
        ValueError: there is no backend of such a name.
    """
    if names is None:
        return []
    wanted = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
    if wanted == ["all"]:
        return wanted
    entries = backends()
    unknown = [text for text in wanted if text not in entries]
    if unknown or not wanted:
        text = f"There is no backend {unknown[0]!r}." if unknown else "Pass the name of a backend."
        raise WrongArgument(f"{text} Available: {', '.join(entries)}; or all.")
    return wanted


class _Broken:
    """A placeholder for a third-party backend that cannot be loaded."""

    def __init__(self, name: str, reason: str) -> None:
        self.name = self.title = name
        self._reason = reason

    def missing(self, device: str) -> str | None:
        return self._reason

    def prepare(self, job: Job) -> Ready:
        raise RuntimeError(self._reason)

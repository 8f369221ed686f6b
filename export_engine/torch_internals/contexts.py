"""torch's settings around a call: read them, or leave them for a while.

Autocast, default dtype and device, modes that change what functions and ops do, deterministic
algorithms, kernels of attention: a program has none of them where it runs.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import torch

from export_engine.process import undone
from export_engine.source import TORCH, Location
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.patching import replace_attribute
from export_engine.trace import ActiveContext, Patch

_DEVICES = ("cpu", "cuda", "xpu", "mps", "hpu", "mtia", "xla", "privateuseone")
_OWN_DTYPES = {"cpu": torch.bfloat16, "cuda": torch.float16}
"""Autocast's default dtype on a device."""
_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep
_KERNELS = ("flash", "mem_efficient", "math", "cudnn")


def active_contexts(devices: Collection[str]) -> tuple[ActiveContext, ...]:
    """Settings that differ from torch's defaults, apart from the grad mode.

    Args:
        devices: types of those that the call's tensors are on, which may include the default.
    """
    return (
        *(
            ActiveContext("autocast", f"torch.autocast({device!r}, dtype={dtype})")
            for device, dtype in _autocasts().items()
        ),
        *_of_defaults(),
        *(
            ActiveContext("device", f"torch.device({str(mode.device)!r})")
            if _is_device(mode)
            else ActiveContext("mode", type(mode).__name__)
            for mode in _function_modes()
            if not (_is_device(mode) and mode.device.type in {"cpu", *devices})
        ),
        *(ActiveContext("mode", type(mode).__name__) for mode in _dispatch_modes()),
        *(
            ActiveContext("hook", f"register_module{kind}({name})")
            for kind, hooks in _global_hooks()
            for name in map(_name_of, hooks.values())
        ),
    )


@undone
def contexts_left(values: Collection[Any]) -> Iterator[None]:
    """torch as a process starts with it, inside; all is as it was afterwards.

    Args:
        values: of which tensors are what is computed with. A default device that one is on stays.
            So does inference mode, which is entered if it made one: torch neither writes to that
            outside, nor traces with it.
    """
    inference = _are_of_inference_mode(values)
    with ExitStack() as undo:
        if inference != torch.is_inference_mode_enabled():
            undo.enter_context(torch.inference_mode(inference))
        for device, dtype in _autocasts().items():
            undo.callback(torch.set_autocast_enabled, device, True)
            undo.callback(torch.set_autocast_dtype, device, dtype)
            torch.set_autocast_enabled(device, False)
            if device in _OWN_DTYPES:
                torch.set_autocast_dtype(device, _OWN_DTYPES[device])
        undo.callback(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float32)
        if torch.are_deterministic_algorithms_enabled():
            warns = torch.is_deterministic_algorithms_warn_only_enabled()
            undo.callback(torch.use_deterministic_algorithms, True, warn_only=warns)
            torch.use_deterministic_algorithms(False)
        for name in _kernels_off():
            switch = getattr(torch.backends.cuda, f"enable_{name}_sdp")
            undo.callback(switch, False)
            switch(True)
        for _, hooks in _global_hooks():
            undo.callback(hooks.update, dict(hooks))
            hooks.clear()
        undo.enter_context(_modes_left(device_types(values)))
        yield


def inference_mode_left(values: Collection[Any]) -> tuple[ActiveContext, ...]:
    """Inference mode, if it is on here and `contexts_left` leaves it.

    Args:
        values: the tensors of a call, and anything else.
    """
    on = torch.is_inference_mode_enabled() and not _are_of_inference_mode(values)
    return (ActiveContext("mode", "torch.inference_mode()"),) if on else ()


def _are_of_inference_mode(values: Collection[Any]) -> bool:
    return any(isinstance(value, torch.Tensor) and value.is_inference() for value in values)


@undone
def _modes_left(devices: Collection[str]) -> Iterator[None]:
    """Takes modes off their stacks, but for those of torch's own tracing."""
    functions, dispatches = _function_modes(), _dispatch_modes()
    for _ in functions:
        torch_has.POP_FUNCTION_MODE.value()
    for _ in dispatches:
        torch_has.POP_DISPATCH_MODE.value()
    kept = [mode for mode in functions if _is_device(mode) and mode.device.type in devices]
    for mode in kept:
        torch_has.PUSH_FUNCTION_MODE.value(mode)
    try:
        yield
    finally:
        for _ in kept:
            torch_has.POP_FUNCTION_MODE.value()
        for mode in functions:
            torch_has.PUSH_FUNCTION_MODE.value(mode)
        for mode in dispatches:
            torch_has.PUSH_DISPATCH_MODE.value(mode)


def device_types(values: Any) -> set[str]:
    """The types of the devices of tensors: `cpu`, `cuda`."""
    return {value.device.type for value in values if isinstance(value, torch.Tensor)}


def _autocasts() -> dict[str, torch.dtype]:
    """Per type of device where autocast is on, the dtype that it computes in."""
    result: dict[str, torch.dtype] = {}
    for device in _DEVICES:
        with suppress(RuntimeError):  # torch knows no such device, or no autocast there
            if torch.is_autocast_enabled(device):
                result[device] = torch.get_autocast_dtype(device)
    return result


def _of_defaults() -> Iterator[ActiveContext]:
    dtype = torch.get_default_dtype()
    if dtype is not torch.float32:
        yield ActiveContext("dtype", f"torch.set_default_dtype({dtype})")
    if torch.are_deterministic_algorithms_enabled():
        yield ActiveContext("deterministic", "torch.use_deterministic_algorithms(True)")
    if _kernels_off():
        yield ActiveContext("attention", "torch.nn.attention.sdpa_kernel")


def _kernels_off() -> list[str]:
    """Kernels of attention that are not to be used."""
    asked = {name: getattr(torch.backends.cuda, f"{name}_sdp_enabled", None) for name in _KERNELS}
    return [name for name, ask in asked.items() if ask is not None and not ask()]


def _global_hooks() -> Iterator[tuple[str, dict[int, Any]]]:
    """Hooks on all modules that there are: `_forward_hook` or `_forward_pre_hook`, and those."""
    for names in torch_has.GLOBAL_HOOKS:
        if names and names.value:
            yield names.name.removeprefix("_global").removesuffix("s"), names.value


def _name_of(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _is_device(mode: Any) -> bool:
    """Whether a mode is `torch.device(...)`, or the default device."""
    return isinstance(getattr(mode, "device", None), torch.device)


def _function_modes() -> list[Any]:
    """The modes that torch's functions pass, the outermost first."""
    needed = (torch_has.FUNCTION_MODES, torch_has.POP_FUNCTION_MODE, torch_has.PUSH_FUNCTION_MODE)
    return list(torch_has.FUNCTION_MODES.value()) if all(needed) else []


def _dispatch_modes() -> list[Any]:
    """The modes that ops pass, the outermost first, but for those of torch's own tracing."""
    needed = (torch_has.DISPATCH_MODES, torch_has.POP_DISPATCH_MODE, torch_has.PUSH_DISPATCH_MODE)
    modes = torch_has.DISPATCH_MODES.value() if all(needed) else []
    return [mode for mode in modes if getattr(mode, "_mode_key", None) is None]


@undone
def patches_noted(into: list[Patch]) -> Iterator[None]:
    """Notes the functions of torch that somebody else has replaced, as they are called inside."""
    calls: list[Patch] = []
    note = calls.append  # a list that a closure holds is the model's, and would be put back

    def noting(patch: Patch) -> Callable[[Any], Any]:
        def make(original: Any) -> Any:
            def note_and_call(*args: Any, **kwargs: Any) -> Any:
                note(patch)
                return original(*args, **kwargs)

            return note_and_call

        return make

    with ExitStack() as hooks:
        for owner, name, patch in _patches():
            hooks.enter_context(replace_attribute(owner, name, noting(patch)))
        try:
            yield
        finally:
            into += dict.fromkeys(calls)


def _patches() -> Iterator[tuple[Any, str, Patch]]:
    """Public functions of torch whose code is not torch's."""
    owners: list[tuple[str, Any]] = [
        ("torch", torch),
        ("torch.Tensor", torch.Tensor),
        ("torch.nn.functional", torch.nn.functional),
        ("torch.linalg", torch.linalg),
        ("torch.special", torch.special),
        ("torch.fft", torch.fft),
    ]
    owners += [
        (f"torch.nn.{name}", item)
        for name, item in vars(torch.nn).items()
        if isinstance(item, type) and issubclass(item, torch.nn.Module)
    ]
    for path, owner in owners:
        for name, value in list(vars(owner).items()):
            place = _foreign_place(value)
            if place is not None:
                yield owner, name, Patch(f"{path}.{name}", place)


def _foreign_place(value: Any) -> Location | None:
    """Where the code is of a function that was put on torch by others; None for torch's own.

    Wrappers that Python's library makes, as for what is deprecated, are torch's. A
    `functools.partial` has no place.
    """
    if isinstance(value, partial):
        return Location("", 0, "functools.partial")
    if not isinstance(value, FunctionType):
        return None
    code = value.__code__
    file = code.co_filename
    of_python = file.startswith(_LIBRARY) and "site-packages" not in file
    if file.startswith((TORCH, "<")) or of_python or Path(file).name == "typing_extensions.py":
        return None
    return Location(file, code.co_firstlineno, code.co_name)

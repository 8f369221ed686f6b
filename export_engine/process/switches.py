"""Process-wide settings that a model may change: dtypes, modes, the environment, the folder."""

from __future__ import annotations

import gc
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any

Switch = tuple[Callable[[], Any], Callable[[Any], object]]
"""How it is read, and set."""


@contextmanager
def switches_kept() -> Iterator[None]:
    """Restores on exit those that changed inside. Torch's and NumPy's only if imported before."""
    before: list[tuple[Switch, Any]] = []
    functions = _torch_functions()
    for switch in _switches():
        with suppress(RuntimeError):  # torch refuses to tell where its old and new names are mixed
            before.append((switch, switch[0]()))
    try:
        yield
    finally:
        for (read, write), value in before:
            with suppress(RuntimeError):  # as above, or the user froze torch's flags
                if read() != value:
                    write(value)
        if functions is not None:
            functions.__exit__(None, None, None)


def _switches() -> Iterator[Switch]:
    yield from _PYTHON
    if "numpy" in sys.modules:
        yield from _of_numpy()
    if "torch" in sys.modules:
        yield from _of_torch()


def _torch_functions() -> AbstractContextManager[None] | None:
    """Restore on exit whether torch calls `__torch_function__`.

    A guard of Dynamo that raises while it says why it failed leaves all of them disabled
    (`GuardManager.check_verbose`, torch 2.11 to 2.15).
    """
    if "torch" not in sys.modules:
        return None
    import torch

    state: AbstractContextManager[None] = torch.DisableTorchFunction()
    state.__enter__()
    state.__exit__(None, None, None)
    return state


def _folder() -> str:
    with suppress(OSError):  # it was deleted
        return os.getcwd()  # noqa: PTH109 - as it is set
    return ""


def _go_to(folder: str) -> None:
    with suppress(OSError):  # deleted meanwhile
        os.chdir(folder)


def _set_environment(before: dict[str, str]) -> None:
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update(before)


def _set_filters(before: list[Any]) -> None:
    warnings.filters[:] = before  # type: ignore[index]
    with warnings.catch_warnings():  # on its exit, Python drops what it cached of the filters
        pass


def _level_of(logger: logging.Logger) -> Switch:
    return lambda: logger.level, logger.setLevel


_PYTHON: tuple[Switch, ...] = (
    (lambda: dict(os.environ), _set_environment),
    (_folder, _go_to),
    (lambda: list(sys.path), lambda before: sys.path.__setitem__(slice(None), before)),
    (sys.getrecursionlimit, sys.setrecursionlimit),
    (sys.gettrace, sys.settrace),
    (sys.getprofile, sys.setprofile),
    (gc.isenabled, lambda before: gc.enable() if before else gc.disable()),
    (lambda: list(warnings.filters), _set_filters),
    *(_level_of(logging.getLogger(name)) for name in (None, "torch")),
    (lambda: logging.root.manager.disable, logging.disable),
)


def _of_numpy() -> Iterator[Switch]:
    import numpy as np

    yield np.geterr, lambda before: np.seterr(**before)
    yield np.get_printoptions, lambda before: np.set_printoptions(**before)


def _of_torch() -> Iterator[Switch]:
    import torch

    cudnn, cpu = torch.backends.cudnn, torch.device("cpu")
    yield torch.get_default_dtype, torch.set_default_dtype
    yield (
        torch.get_default_device,
        lambda before: torch.set_default_device(None if before == cpu else before),
    )
    yield torch.is_grad_enabled, torch.set_grad_enabled
    yield (
        lambda: (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        lambda before: torch.use_deterministic_algorithms(before[0], warn_only=before[1]),
    )
    yield torch.get_num_threads, torch.set_num_threads
    yield torch.get_float32_matmul_precision, torch.set_float32_matmul_precision
    yield torch.is_warn_always_enabled, torch.set_warn_always
    yield (
        lambda: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()),
        lambda before: torch.autograd.set_detect_anomaly(*before),
    )
    yield from (_attribute(cudnn, name) for name in ("enabled", "benchmark", "deterministic"))
    yield _attribute(torch.backends.mkldnn, "enabled")
    for device in ("cpu", "cuda"):
        yield from _of_autocast(torch, device)


def _of_autocast(torch: Any, device: str) -> Iterator[Switch]:
    yield (
        lambda: torch.is_autocast_enabled(device),
        lambda before: torch.set_autocast_enabled(device, before),
    )
    yield (
        lambda: torch.get_autocast_dtype(device),
        lambda before: torch.set_autocast_dtype(device, before),
    )


def _attribute(owner: Any, name: str) -> Switch:
    return lambda: getattr(owner, name), lambda before: setattr(owner, name, before)

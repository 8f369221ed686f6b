"""Runs an action in the kernel's main thread, where it can be interrupted.

JupyterLab delivers widget messages in a separate thread, so they are answered while a cell runs. An
export must not run at the same time as a cell: both would trace, and an interrupt reaches only the
main thread.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

_T = TypeVar("_T")


def in_main_thread(action: Callable[[], _T]) -> _T:
    """Return or raise the action's result, KeyboardInterrupt included.

    Waits for the running cell. Without a kernel, the action runs where it is called.
    """
    loop = _kernel_loop()
    if loop is None or threading.current_thread() is threading.main_thread():
        return action()
    done: Future[_T] = Future()
    loop.add_callback(_run, action, done)
    return done.result()


def _run(action: Callable[[], _T], done: Future[_T]) -> None:
    """A kernel ignores interrupts between cells; while the action runs they are handled."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done.set_result(action())
    except BaseException as error:  # noqa: BLE001 - whoever waits gets it, interrupts too
        done.set_exception(error)
    finally:
        signal.signal(signal.SIGINT, before)


def _kernel_loop() -> Any:
    """The event loop of the kernel that this process is; None in any other."""
    module = sys.modules.get("ipykernel.kernelapp")
    app = module.IPKernelApp if module is not None else None
    if app is None or not app.initialized():
        return None
    return getattr(app.instance().kernel, "io_loop", None)

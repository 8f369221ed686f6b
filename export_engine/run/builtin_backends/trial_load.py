"""Compiled code is first loaded by a process of its own, once in a session.

Where the C++ compiler and torch's libraries do not fit, loading it ends the process that does: seen
with AOTInductor of torch 2.11 on a machine with an H200, inside of the package's own `std::regex`.
That must not be the user's session.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from export_engine.process import another_python

_SECONDS = 60
_OF_WINDOWS = 256
"""From here on, an exit code says what ended a program there."""
_CODE = """
import importlib, sys
from contextlib import suppress
from pathlib import Path
for each in sys.argv[1:]:
    with suppress(Exception):
        importlib.import_module(each)
from export_engine.torch_internals import load_package
load_package(Path(sys.stdin.readline().rstrip("\\n")))
"""
_BESIDE = ("numpy", "scipy", "pandas", "onnxruntime", "torch", "openvino", "executorch")
"""Packages with libraries of their own, which a session may have loaded before torch's."""

_loads: set[str] = set()
"""`aoti`, once its code was seen to load."""


@contextmanager
def try_load_first(backend: str) -> Iterator[Callable[[Path], None]]:
    """Try to load a file in another process, which starts while the file is compiled inside.

    Args:
        backend: whose files are alike in this: one that was seen to load speaks for all.

    Raises:
        RuntimeError: from what is yielded, if loading ended that process.
    """
    if backend in _loads:
        yield lambda _: None
        return
    names = [module for module in sys.modules if module in _BESIDE]
    child: subprocess.Popen[str] | None = None
    with suppress(OSError, ValueError, TypeError):  # no Python to start, as where it is embedded
        child = another_python(["-c", _CODE, *names])

    def tries(file: Path) -> None:
        if child is None:
            return
        with suppress(subprocess.TimeoutExpired, OSError):
            child.communicate(f"{file}\n", timeout=_SECONDS)
        if child.returncode is not None and not 0 <= child.returncode < _OF_WINDOWS:
            raise RuntimeError(_describe_exit(child.returncode))
        _loads.add(backend)

    try:
        yield tries
    finally:
        if child is not None:
            child.kill()
            child.communicate()


def _describe_exit(code: int) -> str:
    what = signal.Signals(-code).name if code < 0 else hex(code)
    return (
        f"Loading the compiled code crashes the process ({what}), so it was not loaded. The C++ "
        "compiler may not match torch's libraries: set CXX to use a different one."
    )

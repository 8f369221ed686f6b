"""Requirements of backends, and the sentences for missing ones."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec


def packages(wanted: dict[str, str]) -> str | None:
    """A sentence that says what to install.

    Args:
        wanted: per module that is needed, the name of its package.
    """
    absent = [package for module, package in wanted.items() if not _is_installed(module)]
    if not absent:
        return None
    verb = "is" if len(absent) == 1 else "are"
    named = " and ".join(absent)
    return f"{named} {verb} not installed: pip install {' '.join(absent)}"


def on_cpu(device: str, title: str) -> str | None:
    """That a backend runs only on the CPU."""
    return None if device == "cpu" else f"{title} runs only on the CPU here, not on {device}."


def on_cuda(device: str, title: str) -> str | None:
    """That a backend runs only on an NVIDIA GPU."""
    return None if device.startswith("cuda") else f"{title} needs an NVIDIA GPU; this is {device}."


def compiler(device: str) -> str | None:
    """Inductor's compiler: C++ for a CPU, Triton for a GPU."""
    if device != "cpu":
        return packages({"triton": "triton"}) if device.startswith(("cuda", "xpu")) else None
    named = os.environ.get("CXX", "")
    if any(shutil.which(text) for text in (named, "g++", "clang++", "c++", "cl") if text):
        return None
    return "inductor needs a C++ compiler, but neither g++ nor clang++ is on PATH."


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # its parent package is missing or incomplete
        return False

"""How torch names kernels: what an extern kernel calls, and by which event a profiler shows it."""

from __future__ import annotations

import re

_GRAPH_EVENT = re.compile(r"graph_\d+_(?P<kernel>\w+)")
_AOTI = re.compile(r"aoti_torch_(?:cpu|cuda|xpu|mps)_(?P<op>\w+)")
_OP = re.compile(r"torch\.ops\.(?P<namespace>\w+)\.(?P<op>\w+)")
_FALLBACK = re.compile(r"fallback_kernel")


def base_name(kernel: str) -> str:
    """A kernel's name without the number of its call."""
    return kernel.rpartition(":")[0] or kernel


def is_extern(kernel: str) -> bool:
    """Whether it is a call of a library's kernel: not of code that the compiler generated."""
    base = base_name(kernel)
    return "." in base or base.startswith("aoti_torch_") or _FALLBACK.search(base) is not None


def find_called_op(kernel: str) -> str:
    """The function that an extern kernel calls: `aten.addmm`; empty of generated code."""
    base = base_name(kernel)
    if not is_extern(kernel):
        return ""
    op = _OP.match(base)
    if op is not None:
        return f"{op['namespace']}.{op['op']}"
    if base.startswith("extern_kernels."):
        return f"aten.{base.partition('.')[2]}"
    ahead = _AOTI.match(base)
    return f"aten.{ahead['op'].removesuffix('_out')}" if ahead is not None else base


def shows_kernel(event: str, kernel: str, calls: str = "") -> bool:
    """Whether a profiler's event is of a call of a kernel.

    Args:
        event: `graph_0_cpp_fused_gelu_0`, `aten::addmm`, `aoti_torch_cpu_addmm_out`.
        kernel: with or without the number of its call.
        calls: the op that an extern kernel calls, where that is known better than by its name.
    """
    base = base_name(kernel)
    if event == base:
        return True
    own = _GRAPH_EVENT.fullmatch(event)
    if own is not None:
        return own["kernel"] == base
    called = calls or find_called_op(kernel)
    return bool(called) and event.removesuffix("_out") in _events_of(called)


def _events_of(called: str) -> tuple[str, ...]:
    namespace, _, op = called.partition(".")
    plain = op.removeprefix("bias_").removesuffix("_out")
    return f"{namespace}::{op}", f"{namespace}::{plain}", f"{namespace}::{plain}_"

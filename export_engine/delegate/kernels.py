"""Whether ExecuTorch's runtime here has a kernel for each op that no delegate runs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version

from export_engine.capture import descriptors_quiet
from export_engine.defects import log_internal_error
from export_engine.delegate.executorch_names import RUNTIME


def find_missing_kernels(kernels: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The runtime that was asked, and per op the kernel that it lacks.

    A runtime that was built with other kernels has others: the one that is asked is that of the
    installed package.

    Args:
        kernels: per op by its node's name, the kernel that it needs: `aten::add.out`.
    """
    if not kernels:
        return "", {}
    runtime = RUNTIME.find()
    if runtime is None:
        return "", {}
    try:
        with descriptors_quiet():
            registered = set(runtime.get().operator_registry.operator_names)
    except Exception as error:  # noqa: BLE001 - a library that does not load
        log_internal_error(error, "asking ExecuTorch's runtime for its kernels")
        return "", {}
    asked = f"the runtime of executorch {version('executorch')} for Python"
    lacks = {name: kernel for name, kernel in kernels.items() if kernel not in registered}
    return asked, lacks

"""XNNPACK, by ExecuTorch's partitioner."""

from __future__ import annotations

from typing import Any

from export_engine.delegate.builtin_backends.executorch_backend import LoweringBackend
from export_engine.delegate.builtin_backends.executorch_passes import PASSES


class Xnnpack(LoweringBackend):
    """XNNPACK for CPUs of phones and servers; the ops that it leaves run in portable kernels."""

    name = "xnnpack"
    title = "XNNPACK"
    passes = PASSES

    def partitioner(self) -> Any:
        """The one that ExecuTorch's documentation uses."""
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        return XnnpackPartitioner()

"""Other partitioners of ExecuTorch's, asked without a device: Core ML, Vulkan, Arm, Qualcomm."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import torch

from export_engine.delegate.backend import Verdict
from export_engine.delegate.builtin_backends.executorch_backend import AskedBackend
from export_engine.delegate.executorch_names import PrivateName
from export_engine.delegate.reasons import REFUSED
from export_engine.process import undone

_COREML = "executorch.backends.apple.coreml.partition"
_VULKAN = "executorch.backends.vulkan.partitioner.vulkan_partitioner"
VULKAN_RULES = PrivateName(
    _VULKAN,
    "VulkanSupportedOperators",
    "This version of ExecuTorch does not report why Vulkan leaves an op out.",
)


class CoreMl(AskedBackend):
    """Core ML. It says whether it takes an op, and not why."""

    name = "coreml"
    title = "Core ML"
    modules = ("executorch.exir", "coremltools")

    def partitioner(self) -> Any:
        """With its defaults."""
        return import_module(_COREML).CoreMLPartitioner()


class Vulkan(AskedBackend):
    """Vulkan for GPUs of phones. It says why it leaves an op."""

    name = "vulkan"
    title = "Vulkan"

    def partitioner(self) -> Any:
        """With its defaults. Importing it changes the level of Python's root logger."""
        with _keep_root_level():
            return import_module(_VULKAN).VulkanPartitioner()

    @undone
    def listening(self, partitioner: Any) -> Iterator[None]:
        """Hears what it says of ops that it skips."""
        rules = VULKAN_RULES.find()
        if rules is None or not hasattr(rules, "log_skip"):
            yield
            return
        original: Callable[..., None] = rules.log_skip

        def keep_words(told: Any, node: torch.fx.Node, reason: str) -> None:
            if node.op == "call_function":
                node.meta[REFUSED] = Verdict(False, reason, "backend")

        rules.log_skip = keep_words
        try:
            yield
        finally:
            rules.log_skip = original


class Tosa(AskedBackend):
    """Arm's NPUs, by TOSA."""

    name = "arm"
    title = "Arm (TOSA)"
    modules = ("executorch.exir", "tosa_serializer")

    def partitioner(self) -> Any:
        """For TOSA 1.0 with floats."""
        compiled_for = import_module("executorch.backends.arm.tosa.compile_spec").TosaCompileSpec
        partitioner = import_module("executorch.backends.arm.tosa.partitioner").TOSAPartitioner
        return partitioner(compiled_for("TOSA-1.0+FP"))


class Qualcomm(AskedBackend):
    """Qualcomm's NPUs. Its partitioner asks Qualcomm's own libraries."""

    name = "qualcomm"
    title = "Qualcomm (QNN)"

    def partitioner(self) -> Any:
        """For an SM8650 in half precision."""
        utils = import_module("executorch.backends.qualcomm.utils.utils")
        schema = import_module("executorch.backends.qualcomm.serialization.qc_schema")
        options = utils.generate_htp_compiler_spec(use_fp16=True)
        specs = utils.generate_qnn_executorch_compiler_spec(
            soc_model=schema.QcomChipset.SM8650, backend_options=options
        )
        partitioner = import_module("executorch.backends.qualcomm.partition.qnn_partitioner")
        return partitioner.QnnPartitioner(specs)


@undone
def _keep_root_level() -> Iterator[None]:
    """Keeps the level of Python's root logger."""
    level = logging.root.level
    try:
        yield
    finally:
        logging.root.setLevel(level)

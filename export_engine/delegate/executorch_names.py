"""ExecuTorch's names that it does not document, each with what goes without it.

ExecuTorch changes faster than torch. If a name is missing, features that need it are left out,
and the delegation's notes list them.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from export_engine.defects import log_internal_error


@dataclass(frozen=True)
class PrivateName:
    """A name of ExecuTorch's."""

    module: str
    name: str
    without: str
    """What is lost without it, as a sentence."""

    def find(self) -> Any | None:
        """The object; None where it is missing."""
        try:
            return getattr(import_module(self.module), self.name)
        except Exception as error:  # noqa: BLE001 - an import may fail for any reason
            log_internal_error(error, f"looking for {self.module}.{self.name}")
            return None


WHY = PrivateName(
    "executorch.exir.backend.utils",
    "WhyNoPartition",
    "This version of ExecuTorch reports no reasons for ops outside; the line of its rule is "
    "shown instead.",
)
REPORTER = PrivateName(
    "executorch.exir.backend.utils",
    "WhyNoPartitionReporter",
    "This version of ExecuTorch does not report why ops are left out.",
)
COUNTS = PrivateName(
    "executorch.devtools.backend_debug",
    "get_delegation_info",
    "This version of ExecuTorch does not count delegated nodes.",
)
RUNTIME = PrivateName(
    "executorch.runtime",
    "Runtime",
    "ExecuTorch's runtime is not installed here, so kernels were not looked up.",
)
TARGET_NAME = PrivateName(
    "executorch.exir.backend.canonical_partitioners.config_partitioner",
    "format_target_name",
    "This version of ExecuTorch does not expose which rule applies to an op.",
)


def rules_of(partitioner: Any) -> dict[str, Any]:
    """The rules of a partitioner that is made of them, by op: `add.Tensor`. Else none."""
    return dict(getattr(partitioner, "target_partitioner_configs", None) or {})


def inner_program(module: Any) -> Any | None:
    """The program that a lowered module was made of; None where it is not a lowered module."""
    return getattr(module, "original_module", None)

"""Containers that a program's call is made of and this process has not registered as pytrees."""

from __future__ import annotations

import re

_REFUSED = re.compile(r"(?:Deserializing|Serializing) (\S+) in pytree is not registered")
"""What torch says of one (`torch/utils/_pytree.py`)."""


def unregistered_container(said: str) -> str:
    """The name of such a class in what torch says: `transformers.cache_utils:DynamicCache`."""
    found = _REFUSED.search(said)
    return found[1] if found else ""


def missing_container(said: str) -> str:
    """What is missing, and how it is had; empty if torch says something else."""
    name = unregistered_container(said)
    if not name:
        return ""
    return (
        f"Its call takes or returns a `{name}`, which nothing has registered as a pytree. Import "
        "the code that does, or call `torch.export.register_dataclass` or "
        "`torch.utils._pytree.register_pytree_node` as before the export, and load the file again."
    )

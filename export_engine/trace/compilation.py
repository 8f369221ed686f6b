"""Artifacts of a compilation in torch's structured trace, by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

STAGE_ARTIFACTS = (
    "dynamo_output_graph",
    "before_pre_grad_graph",
    "before_post_grad_graph",
    "inductor_post_grad_graph",
    "inductor_provenance_tracking_node_mappings",
    "inductor_provenance_tracking_kernel_stack_traces",
    "inductor_output_code",
    "inductor_aot_wrapper_code",
    "inductor_aot_kernel_code",
    "dynamo_cpp_guards_str",
)
"""The artifacts that stages are made of."""
_HITS = ("fx_graph_cache_hit", "aotautograd_cache_hit")


@dataclass
class CompilationTrace:
    """The artifacts of one compilation."""

    texts: dict[str, str] = field(default_factory=dict)
    """By name; of several graphs, the first one's."""
    cached: bool = False
    """Whether torch's cache gave the code."""
    graphs: int = 0
    """How many graphs Dynamo made."""
    path: str = ""
    """The file of the generated Python code; empty where there is none."""

    def add(self, metadata: Mapping[str, Any], payload: str | None) -> str:
        """Takes one entry of the trace; returns the name of an artifact that is wanted."""
        name = artifact_name(metadata)
        self.cached |= name in _HITS
        self.graphs += name == "dynamo_output_graph"
        if name not in STAGE_ARTIFACTS or not payload or name in self.texts:
            return ""
        self.texts[name] = payload
        if name == "inductor_output_code":
            self.path = _path_of(metadata[name])
        return name


def _path_of(metadata: Any) -> str:
    return str(metadata.get("filename", "")) if isinstance(metadata, dict) else ""


def artifact_name(metadata: Mapping[str, Any]) -> str:
    """The name of an entry's artifact; of an entry with a key of its own, that key."""
    for key in ("artifact", "graph_dump"):
        named = metadata.get(key)
        if isinstance(named, dict):
            return str(named.get("name", ""))
    return next((name for name in STAGE_ARTIFACTS if name in metadata), "")

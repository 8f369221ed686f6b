"""Which ops of a program are not torch's own. Their kernels are trusted in nothing."""

from __future__ import annotations

import torch

from export_engine.torch_internals import OpOverload

_TORCHS_OWN = frozenset(
    {"aten", "prim", "prims", "higher_order", "quantized", "_c10d_functional", "c10d_functional"}
    | {"c10d", "inductor", "profiler", "rngprims", "export", "_quantized", "mkldnn", "onednn"}
    | {"quantized_decomposed", "fsdp", "streams", "debugprims", "mkldnn_prepacked", "static"}
)


def is_custom(target: object) -> bool:
    """Whether what a node calls is an op that torch does not have itself."""
    return isinstance(target, OpOverload) and target.namespace not in _TORCHS_OWN


def find_custom(graph_module: torch.fx.GraphModule) -> list[torch.fx.Node]:
    """The nodes of a program that call such an op, including nested graphs."""
    return [
        node
        for module in graph_module.modules()
        if isinstance(module, torch.fx.GraphModule)
        for node in module.graph.nodes
        if is_custom(node.target)
    ]

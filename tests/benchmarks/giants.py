"""Models without weights, in their public shapes: what a view and its cost add to torch.export.

Each side in a process of its own, which tells its CPU time and the most memory that it had.
`ONLY=moe` takes one of them.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import torch

import explorer
from explorer.opening import configs

from .table import Row

SHAPES: dict[str, tuple[str, dict[str, int]]] = {
    "llama-405b": (
        "Llama",
        {
            "hidden_size": 16384,
            "intermediate_size": 53248,
            "num_hidden_layers": 126,
            "num_attention_heads": 128,
            "num_key_value_heads": 8,
            "vocab_size": 128256,
            "max_position_embeddings": 131072,
        },
    ),
    "moe": (
        "Qwen3Moe",
        {
            "hidden_size": 4096,
            "intermediate_size": 12288,
            "moe_intermediate_size": 1536,
            "num_hidden_layers": 94,
            "num_attention_heads": 64,
            "num_key_value_heads": 4,
            "head_dim": 128,
            "num_experts": 128,
            "num_experts_per_tok": 8,
            "vocab_size": 151936,
            "max_position_embeddings": 40960,
        },
    ),
}
_KILOBYTES = 1e6
"""In a gigabyte."""


def run() -> list[Row]:
    """The ratio to a bare export, and memory, of each model."""
    only = os.environ.get("ONLY", "")
    return [row for name in SHAPES if only in name for row in _beside_bare(name)]


def _beside_bare(name: str) -> list[Row]:
    bare, ours = (_tell(name, side) for side in ("bare", "ours"))
    means = (
        f"{ours['seconds']:.0f} s and {bare['seconds']:.0f} s of CPU time, {ours['nodes']:,} nodes"
    )
    ratio = ours["seconds"] / bare["seconds"]
    return [
        Row(
            name, "export, view and cost, beside a bare export", ratio, "times", most=2, means=means
        ),
        Row(
            name, "memory of the process", ours["gigabytes"], "GB", most=6, means="without weights"
        ),
    ]


def _tell(name: str, side: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.giants", name, side]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return told


def _config(name: str) -> Any:
    import transformers

    kind, sizes = SHAPES[name]
    return getattr(transformers, f"{kind}Config")(**sizes, dtype=torch.bfloat16)


def _export_bare(config: Any) -> int:
    config.use_cache = False
    with torch.device("meta"):
        model = configs._class_of(config)(config).eval()
        kwargs, _ = configs._example_inputs(model, config, "meta")
    sizes = {"input_ids": {0: torch.export.Dim("batch"), 1: torch.export.Dim("seq")}}
    program = torch.export.export(model, (), kwargs, dynamic_shapes=sizes)
    return len(program.graph.nodes)


def _explore(config: Any) -> int:
    ex = explorer.explore_config(config)
    ex._repr_mimebundle_()
    ex.cost().at(batch=1, seq=4096)
    return len(ex.record.graphs[0].name)


def main(name: str, side: str) -> None:
    """Prints what one side takes, as JSON."""
    config = _config(name)
    began = time.process_time()
    nodes = _export_bare(config) if side == "bare" else _explore(config)
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KILOBYTES
    print(json.dumps({"seconds": seconds, "nodes": nodes, "gigabytes": memory}))


if __name__ == "__main__":
    main(*sys.argv[1:])

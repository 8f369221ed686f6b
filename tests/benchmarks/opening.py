"""What opening a `.pt2` takes from a cold start: a new interpreter, until its Record is there."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from ..models import exported, llama
from .table import Row

_LAYERS = 60
"""Of a Llama: about 4,000 nodes."""
_ROUNDS = 5
_CODE = "import explorer, sys; print(len(explorer.load(sys.argv[1]).record.graphs[0].name))"


def run() -> list[Row]:
    """The median of some cold starts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "llama.pt2"
        torch.export.save(exported(llama(_LAYERS)).program, path)
        seconds, nodes = zip(*(_opened(path) for _ in range(_ROUNDS)), strict=True)
    return [
        Row(
            f"a .pt2 of {int(nodes[0]):,} nodes",
            "opened, from a cold start",
            statistics.median(seconds),
            "s",
            most=0.5,
            means="explorer.load in a new interpreter: read as data, without torch",
        )
    ]


def _opened(path: Path) -> tuple[float, str]:
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _CODE, str(path)], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - started, done.stdout

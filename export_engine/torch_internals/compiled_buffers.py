"""Intermediate values of compiled code: AOTInductor's debug printer saves each buffer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from export_engine.process import undone
from export_engine.torch_internals import private_names as torch_has
from export_engine.torch_internals.running import compile_package

_AFTER = re.compile(r"after_launch_(?!.*graph_\d+_buf).*_(buf\d+)_[a-z]+\.pt$")
"""Files that the printer writes after a kernel ran: the kernel, the buffer, the device.

Names of buffers in a branch or a loop's body include its graph.
"""
_MAIN = re.compile(r"buf\d+")


def missing_buffers() -> str | None:
    """Why this torch does not tell what compiled code computes on the way; None where it does."""
    needed = (torch_has.PRINTER_OF_BUFFERS, torch_has.AFTER_FUSION)
    return next((capability.sentence for capability in needed if not capability), None)


def printing_package(program: ExportedProgram, file: Path) -> tuple[Path, dict[str, Node]]:
    """Compiles a program as `compile_package` does, to code that saves its buffers when it runs.

    Returns the file, and per buffer the node of inductor's graph that it has the value of.

    Args:
        program: what to compile.
        file: where to.
    """
    nodes: dict[str, Node] = {}

    def note(scheduled: Sequence[Any]) -> Sequence[Any]:
        for value in scheduled:
            for output in value.get_outputs():
                node = getattr(output.node, "origin_node", None)
                if isinstance(node, Node) and _MAIN.fullmatch(output.get_name()):
                    nodes[output.get_name()] = node
        return scheduled

    options = {
        f"aot_inductor.{torch_has.PRINTER_OF_BUFFERS.name}": "1",
        torch_has.AFTER_FUSION.name: note,
    }
    return compile_package(program, file, options=options), nodes


@undone
def capture_saved(folder: Path) -> Iterator[dict[str, torch.Tensor]]:
    """Buffers that the code of `printing_package` saves while it runs; filled at the end.

    It saves to the process's working directory, which is `folder` meanwhile.
    """
    before = Path.cwd()
    tensors: dict[str, torch.Tensor] = {}
    os.chdir(folder)
    try:
        yield tensors
    finally:
        os.chdir(before)
    for file in folder.rglob("*.pt"):
        told = _AFTER.search(file.name)
        if told:
            tensors[told[1]] = torch.load(file, map_location="cpu", weights_only=True)

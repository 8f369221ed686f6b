"""Makes the small archives beside it, by the torch that runs it: `python make.py`, anywhere.

It needs torch alone and writes a folder `torch-2.13` for torch 2.13. Files of a torch that is there
already are replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.export import Dim, ExportedProgram, export

HERE = Path(__file__).resolve().parent
VERSION = ".".join(torch.__version__.split(".")[:2])


class Derived(nn.Module):
    """Two dims, one derived from the other, and a range."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.lin(x) + y[1:].unsqueeze(1)


class Branching(nn.Module):
    """Two graphs inside of the program's."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, self.up, self.down, (x,))

    def up(self, x: torch.Tensor) -> torch.Tensor:
        return x.sin() + 1

    def down(self, x: torch.Tensor) -> torch.Tensor:
        return x.cos() - 1


class Counting(nn.Module):
    """A buffer that is written to, and one that is not saved."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("scale", torch.ones(3), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return x * self.scale + self.calls


class Trees(nn.Module):
    """Containers in and out, a keyword argument, numbers and None."""

    def forward(
        self, pair: tuple[torch.Tensor, torch.Tensor], *, more: dict[str, Any], scale: float = 2.0
    ) -> dict[str, Any]:
        first, second = pair
        return {"sum": [first + second], "more": (more["a"] * scale, None), "n": 3}


class Unbacked(nn.Module):
    """A size that is data."""

    def forward(self, lengths: torch.Tensor) -> torch.Tensor:
        count = lengths.max().item()
        torch._check(count >= 2)
        torch._check(count < 64)
        return torch.arange(count, dtype=torch.float32) + 1


def derived() -> ExportedProgram:
    """See `Derived`."""
    rows = Dim("rows", min=2, max=32)
    shapes = {"x": {0: rows}, "y": {0: rows + 1}}
    return export(Derived(), (torch.ones(5, 4), torch.ones(6)), dynamic_shapes=shapes)


def branching() -> ExportedProgram:
    """See `Branching`."""
    return export(Branching(), (torch.ones(3),), dynamic_shapes={"x": {0: Dim("n", min=2)}})


def counting() -> ExportedProgram:
    """See `Counting`."""
    return export(Counting(), (torch.ones(2, 3),))


def trees() -> ExportedProgram:
    """See `Trees`."""
    pair = torch.ones(2), torch.ones(2)
    return export(Trees(), (pair,), {"more": {"a": torch.ones(3)}, "scale": 0.5})


def unbacked() -> ExportedProgram:
    """See `Unbacked`."""
    return export(Unbacked(), (torch.tensor([3, 7]),))


MODELS: tuple[Callable[[], ExportedProgram], ...] = (
    derived,
    branching,
    counting,
    trees,
    unbacked,
)


def without_paths(program: ExportedProgram) -> ExportedProgram:
    """The program, whose stacks do not say where this file and torch are on this machine."""
    packages = str(Path(torch.__file__).parents[1])
    for module in program.graph_module.modules():
        for node in module.graph.nodes:
            trace = node.meta.get("stack_trace")
            if trace:
                trace = trace.replace(packages, "/site-packages")
                node.meta["stack_trace"] = trace.replace(str(HERE), "/models")
    return program


def main() -> None:
    """Writes them all."""
    folder = HERE / f"torch-{VERSION}"
    folder.mkdir(exist_ok=True)
    for make in MODELS:
        torch.manual_seed(0)
        torch.export.save(without_paths(make()), folder / f"{make.__name__}.pt2")


if __name__ == "__main__":
    main()

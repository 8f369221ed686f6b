"""A mixture of experts as many models write it: a loop over all of them, unrolled in the graph."""

from __future__ import annotations

import torch
from torch import nn

from ..models import Case

EXPERTS = 16
WIDTH = 16


class Expert(nn.Module):
    """A gated feed-forward network."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, WIDTH, bias=False)
        self.down = nn.Linear(WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class Mixture(nn.Module):
    """The experts' answers, weighted by a router."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(WIDTH, EXPERTS)
        self.experts = nn.ModuleList(Expert() for _ in range(EXPERTS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weights = self.router(x).softmax(-1)
        for number, expert in enumerate(self.experts):
            x = x + weights[..., number : number + 1] * expert(x)
        return x


class Model(nn.Module):
    """Layers below the name that `grown` looks for."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.model = nn.ModuleDict({"layers": nn.ModuleList(Mixture() for _ in range(layers))})

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.model["layers"]:
            x = layer(x)
        return x


def experts(layers: int = 2) -> Case:
    """A model of such layers."""
    return Case(Model(layers).eval(), (torch.ones(2, 4, WIDTH),), shapes="x: batch, seq, _")

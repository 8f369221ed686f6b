"""A model in two versions, for the lesson on diffing."""

from __future__ import annotations

import torch

import explorer


class _Layer(torch.nn.Module):
    def __init__(self, slope: float) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)
        self.slope = slope

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.leaky_relu(self.lin(x), self.slope)


class Tower(torch.nn.Module):
    """Eight layers."""

    def __init__(self, slopes: tuple[float, ...]) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(*map(_Layer, slopes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One layer after the other."""
        doubled: torch.Tensor = self.layers(x) * 2
        return doubled


def tower(version: int) -> explorer.Exploration:
    """A version of the model, exported.

    Args:
        version: 1 or 2.
    """
    model = Tower(SLOPES[version])
    return explorer.explore(model, (torch.ones(2, 8),), title=f"tower version {version}")


SLOPES = {
    1: (0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    2: (0.1, 0.1, 0.1, 0.1, 0.1, 0.2, 0.1, 0.1),
}
"""Per version, the slope of each layer below 0."""

"""Cases of needless branches."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(
    "tokens: batch, seq",
    lambda: (torch.tensor([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0]]),),
    lambda: (
        torch.tensor(
            [[3, 19, 18, 8, 7, 6, 7], [18, 12, 12, 17, 5, 17, 7], [5, 9, 15, 15, 18, 5, 5]]
        ),
    ),
    lambda: (torch.tensor([[0, 0, 0, 1], [1, 1, 1, 1]]),),
    lambda: (
        torch.tensor(
            [[2, 10, 1, 1, 15, 13, 4], [10, 9, 15, 6, 19, 10, 4], [17, 18, 18, 16, 1, 1, 7]]
        ),
    ),
    lambda: (torch.tensor([[1, 0, 0, 1], [1, 0, 1, 1]]),),
    eval_mode=True,
)
class CutsToTheLongest(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        lengths = (tokens != 0).sum(1)
        h = self.embedding(tokens)
        if int(lengths.max()) < tokens.shape[1]:
            h = h[:, : int(lengths.max())]
        return h.cumsum(1)


@case(lambda: (torch.tensor([0.5, 3.0]),), modes=NON_STRICT)
class Clamps(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.max() > 1:
            x = x.clamp(max=1)
        return x * 2


@case(lambda: (torch.tensor([0.5, 3.0]),), modes=NON_STRICT)
class Scales(torch.nn.Module):
    """No way of its branch is right for all data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.max() > 1:
            x = x / 2
        return x * 2


@case(lambda: (torch.tensor([0.5, 3.0]),), modes=NON_STRICT)
class Adds(torch.nn.Module):
    """Where all are 0 it adds 0, which shows nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = (x != 0).sum()
        if length < x.shape[0]:
            x = x + length
        return x


@case("x: n", lambda: (torch.tensor([0.5, 3.0]),), modes=NON_STRICT)
class Shortens(torch.nn.Module):
    """Short vectors stay: of the sizes tried, only no rows are short, which shows nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.norm() > 0.1:
            x = x / x.norm()
        return x

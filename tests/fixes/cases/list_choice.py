"""Cases of list choice."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, add, case


@case(
    lambda: (torch.randn(2, 6), torch.tensor(1)),
    lambda: (torch.randn(2, 6), torch.tensor(0)),
    lambda: (torch.randn(2, 6), torch.tensor(2)),
    lambda: (torch.randn(2, 6), torch.tensor(3)),
    eval_mode=True,
    modes=NON_STRICT,
)
class Chunk(torch.nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        chunks = x.chunk(3, dim=1)
        return chunks[i] + 1  # type: ignore[call-overload, no-any-return]


@case(
    lambda: (torch.randn(2, 6), torch.tensor(1)),
    lambda: (torch.randn(2, 6), torch.tensor(0)),
    lambda: (torch.randn(2, 6), torch.tensor(2)),
    lambda: (torch.randn(2, 6), torch.tensor(3)),
    eval_mode=True,
    modes=NON_STRICT,
)
class OfLists(torch.nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        parts = [x[:, :2], x[:, 2:4], x[:, 4:] * 2]
        return parts[int(i)].sum(0)


@case(
    lambda: (torch.randn(2, 6), torch.tensor(1)),
    lambda: (torch.randn(2, 6), torch.tensor(0)),
    lambda: (torch.randn(2, 6), torch.tensor(2)),
    lambda: (torch.randn(2, 6), torch.tensor(3)),
    lambda: (torch.randn(2, 6), torch.tensor(-1)),
    eval_mode=True,
    modes=NON_STRICT,
)
class Heads(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleDict({str(i): torch.nn.Linear(6, 2) for i in range(3)})

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return self.heads[str(int(i))](x)  # type: ignore[no-any-return]


@case(
    lambda: (torch.randn(2, 6), torch.tensor(1)),
    lambda: (torch.randn(2, 6), torch.tensor(0)),
    lambda: (torch.randn(2, 6), torch.tensor(2)),
    lambda: (torch.randn(2, 6), torch.tensor(3)),
    lambda: (torch.randn(2, 6), torch.tensor(-1)),
    eval_mode=True,
    modes=NON_STRICT,
)
class HeadsByItem(Heads):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        n = i.item()
        return self.heads[f"{n}"](x) * 2  # type: ignore[no-any-return]


class OtherDtypes(torch.nn.Module):
    """Its choice has another dtype for other data, so that no one tensor holds it."""

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        parts = [x, x.half()]
        return parts[i.item()]  # type: ignore[call-overload, no-any-return]


add(
    "other-dtypes",
    lambda: OtherDtypes(),
    lambda: (torch.randn(3), torch.tensor(0)),
    modes=NON_STRICT,
)

add(
    "other-dtypes-2",
    lambda: OtherDtypes(),
    lambda: (torch.randn(3), torch.tensor(1)),
    modes=NON_STRICT,
)

"""Cases of choices."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, STRICT, case


@case(
    lambda: (torch.ones(2), torch.tensor(3)),
    lambda: (torch.ones(2), torch.tensor(0)),
    modes=NON_STRICT,
)
class Limits(nn.Module):
    def forward(self, x: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        n = k.item()
        if n == 0:
            n = 1
        return x / n


@case(
    "x: n, _",
    lambda: (torch.ones(3, 2),),
    lambda: (torch.ones(5, 2),),
    lambda: (torch.ones(2, 2),),
    modes=NON_STRICT,
)
class Masks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.masks: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        if n not in self.masks:
            self.masks[n] = torch.ones(n, n).tril()
        return self.masks[n] @ x


@case(lambda: (torch.ones(3),), lambda: (torch.full((3,), 0.111111),), modes=NON_STRICT)
class Norm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.norm().item()
        if size > 1.0:
            x = x / size
        return x


@case(lambda: (torch.randn(6, 4),), modes=STRICT)
class BestPath(nn.Module):
    """Viterbi's way back."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        back = [x[i].argsort() for i in range(3)]
        best = x[0].argmax()
        path = [best]
        for each in reversed(back):
            best = each[best]
            path.append(best)
        return torch.stack(path)


@case(lambda: (torch.randn(6, 4),), modes=STRICT)
class ScaledByState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("level", torch.tensor(0.5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = 2.0 if float(self.level) > 0.3 else 1.0
        return x * scale


@case(lambda: (torch.ones(3),), modes=NON_STRICT)
class CountsFromData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.stack([x * n for n in range(int(x.sum()))])


@case("x: n", lambda: (torch.ones(3),), modes=NON_STRICT)
class TableBySize(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * {3: 2.0}.get(x.shape[0], 1.0)


@case(lambda: (torch.ones(3),), modes=NON_STRICT)
class StepsFromData(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.arange(torch.tensor(0.0), torch.tensor(1.0), 1 / x.sum())

"""Cases of state tests."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, add, case


@case(lambda: (torch.randn(6, 4),))
class ActNorm(nn.Module):
    def __init__(self, ready: bool = True) -> None:
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, 4))
        self.register_buffer("initialized", torch.tensor(int(ready), dtype=torch.uint8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.initialized.item() == 0:
            with torch.no_grad():
                self.loc.data.copy_(x.mean(0, keepdim=True))
            self.initialized.fill_(1)
        return x - self.loc


add("act-norm-2", lambda: ActNorm(ready=False), lambda: (torch.rand(6, 4),), modes=NON_STRICT)


class Codebook(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("ready", torch.tensor([True]))
        self.register_buffer("codes", torch.randn(5, 4))

    def prepare(self, x: torch.Tensor) -> None:
        if self.ready:
            return
        self.codes.copy_(x[:5])
        self.ready.fill_(True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.prepare(x)
        return self.codes[torch.cdist(x, self.codes).argmin(-1)]


add("sequential", lambda: nn.Sequential(Codebook(), Codebook()), lambda: (torch.randn(6, 4),))


@case(lambda: (torch.randn(6, 4),))
class Temperature(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        t = self.scale.item() if self.scale > 0 and self.scale < 9 else 1.0
        return (x / t).softmax(-1)


@case(lambda: (torch.rand(6, 4),), modes=NON_STRICT)
class Warmup(nn.Module):
    """Goes another way after so many calls."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.tensor(0))

    def tick(self) -> None:
        self.calls += 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.tick()
        if self.calls < 100:
            return x * 2
        return x[:, :2]


@case(lambda: (torch.rand(6, 4),), modes=NON_STRICT)
class Filled(Warmup):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        nn.init.constant_(self.calls, 7)
        if self.calls < 100:
            return x * 2
        return x[:, :2]


@case(lambda: (torch.rand(6, 4),), modes=NON_STRICT)
class Remembered(nn.Module):
    """Asks an attribute that an input was put into."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last = x
        if self.last.sum() > 0:
            return x * 2
        return x[:, :2]

"""Cases of own making."""

from __future__ import annotations

import logging
import time

import torch
from torch import nn

from ..case import NON_STRICT, case

Tensor = torch.Tensor


@case(lambda: (torch.rand(4),))
class RoundsToPoint(nn.Module):
    """A tensor has no `__round__`, so that its number cannot stay one."""

    def forward(self, x: Tensor) -> Tensor:
        low = float(x.min())
        point = round(-low / 0.1)
        return torch.fake_quantize_per_tensor_affine(x, 0.1, point, 0, 255)


@case(lambda: (torch.rand(4),))
class ByNumber(nn.Module):
    """A dict is no list of modules, and a tensor no key of it."""

    def __init__(self) -> None:
        super().__init__()
        self.acts = {0: torch.sin, 1: torch.cos}

    def forward(self, x: Tensor) -> Tensor:
        which = int(x.sum().abs()) % 2
        return self.acts[which](x)


@case("x: _, _, height, width", lambda: (torch.rand(1, 3, 12, 15),), modes=NON_STRICT)
class ShortSide(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        h, w = x.shape[-2:]
        size = (8, 8 * w // h) if h < w else (8 * h // w, 8)
        return nn.functional.interpolate(x, size=size)


@case(
    "x: batch, seq",
    lambda: (torch.rand(2, 12),),
    lambda: (torch.rand(3, 9),),
    lambda: (torch.rand(3, 40),),
    modes=NON_STRICT,
)
class Share(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        count = max(1, int(0.3 * x.shape[1]))
        return x.topk(count, dim=1).values


log = logging.getLogger(__name__)


@case(
    "x: batch, _",
    lambda: (torch.rand(4, 3),),
    lambda: (
        torch.tensor(
            [[float("nan"), float("nan"), float("nan")], [float("nan"), float("nan"), float("nan")]]
        ),
    ),
)
class Timed(nn.Module):
    """A message that formats a size, and a clock that strict mode does not trace."""

    def forward(self, x: Tensor) -> Tensor:
        started = time.perf_counter()
        if x.isnan().any():
            raise ValueError("NaN")
        log.warning("batch %d from %.1f", x.shape[0], started)
        return x.relu()


@case(lambda: (torch.rand(4, 3),), modes=NON_STRICT)
class Rescales(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        if x.norm() > 1e6:
            self.scale.data.mul_(0.5)
        return x * self.scale

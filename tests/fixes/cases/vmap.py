"""Cases of vmap."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(
    "x: n, _",
    lambda: (torch.randn(4, 3),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.randn(7, 3),),
    modes=NON_STRICT,
)
class VmapOfChoices(torch.nn.Module):
    def forward(self, x):
        outs = []
        for i in range(x.shape[0]):
            if x[i].sum() > 0:
                outs.append(x[i] * 2)
            else:
                outs.append(x[i] + 1)
        return torch.stack(outs)


@case(
    "x: batch, _, _; n: batch",
    lambda: (torch.randn(3, 6, 2), torch.tensor([2, 6, 1])),
    lambda: (torch.randn(2, 6, 2), torch.tensor([4, 2])),
    lambda: (torch.randn(5, 6, 2), torch.tensor([3, 1, 3, 1, 5])),
    modes=NON_STRICT,
)
class LastOf(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(x.shape[0]):
            out.append(x[i, n[i] - 1, :])
        return torch.stack(out)


@case("x: n, _, _", lambda: (torch.rand(3, 2, 2),), modes=NON_STRICT)
class VmapOfSamples(torch.nn.Module):
    def forward(self, x):
        outs = []
        for row in x:
            image = torch.nn.functional.grid_sample(
                torch.ones(1, 1, 4, 4), row.view(1, 1, -1, 2), align_corners=False
            )
            outs.append(image.flatten())
        return torch.stack(outs)


@case(
    "x: time, _, _",
    lambda: (torch.randn(5, 3, 4),),
    lambda: (torch.randn(2, 3, 4),),
    lambda: (torch.randn(9, 3, 4),),
)
class TwoOfAny(torch.nn.Module):
    def forward(self, x):
        outs = []
        for row in x:
            y = row + 1
            outs.append(row)
            outs.append(y.exp())
        return torch.stack(outs)

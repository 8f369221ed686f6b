"""Cases of row writes."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case

Tensor = torch.Tensor


@case(
    "x: batch, _, _; lengths: batch",
    lambda: (torch.randn(3, 6, 2), torch.tensor([2, 6, 0])),
    lambda: (torch.randn(2, 6, 2), torch.tensor([5, 7])),
    lambda: (torch.randn(5, 6, 2), torch.tensor([0, 4, 5, 7, 0])),
    modes=NON_STRICT,
)
class MasksRows(torch.nn.Module):
    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.ones(x.size(0), x.size(1), dtype=torch.bool)
        for i, n in enumerate(lengths):
            mask[i, n:] = False
        return x.masked_fill(~mask[..., None], 0.0).sum(1)

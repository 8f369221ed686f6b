"""Cases of own lines."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(lambda: (torch.randn(5, 3),), modes=NON_STRICT)
class OwnLinesOfTitles(torch.nn.Module):
    def forward(self, x):
        x = torch.stack([row * 2 for row in x if row[0] > -100])
        if x.sum() > 0:  # which
            x = x * 2
        else:
            x = x * 3
        return x

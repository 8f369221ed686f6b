"""Cases of traced paths."""

from __future__ import annotations

import torch

from ..case import NON_STRICT, case


@case(lambda: (2.0 * torch.rand(4, 3),))
class AsksLeftOut(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        mask = None
        if not torch.compiler.is_compiling():
            mask = torch.ones(x.shape[0], 1)
        return self.up(x) * mask[:1]


@case(lambda: (2.0 * torch.rand(4, 3),))
class AsksAnotherValue(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        scale = () if torch.jit.is_tracing() or torch.compiler.is_exporting() else (2.0,)
        return self.up(x) * scale[0]


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class CastsAlone(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        self.up.float()
        return self.up(x)


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class CastsKept(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        self.up = self.up.to(x.device)
        return self.up(x)


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class CastsCalled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.up.to(x.dtype).cpu()(x.float())


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
class CastsUp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.up.double()(x.double())

"""Cases of number states."""

from __future__ import annotations

import torch

from ..case import case


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesLongestRun(torch.nn.Module):
    def forward(self, x):
        best, run = 0, 0
        for v in x[:, 0]:
            if v > 0:  # which
                run += 1
                best = max(best, run)
            else:
                run = 0
        return torch.tensor(best)


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesTriggered(torch.nn.Module):
    def forward(self, x):
        on = False
        out = torch.zeros(x.shape[0])
        for i in range(x.shape[0]):
            if x[i, 0] > 0.6 and not on:  # which
                on = True
            if x[i, 0] < 0.3 and on:
                on = False
            if on:
                out[i] = 1
        return out


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesHold(torch.nn.Module):
    def forward(self, x):
        active, hold = False, 0
        out = []
        for v in x:
            if v.sum() > 1:  # which
                active = True
                hold = 2
            elif active:
                hold -= 1
                if hold <= 0:
                    active = False
            out.append(v * 2 if active else -v)
        return torch.stack(out)


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesReturned(torch.nn.Module):
    def forward(self, x):
        n, at = 0, -1
        for i in range(x.shape[0]):
            if x[i].sum() <= 0:  # which
                continue
            n = n + 1
            at = i
            if n > 2:
                at = 100
        return x * 2, n, at


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesWritten(torch.nn.Module):
    def forward(self, x):
        n, last = 0, 0
        out = torch.zeros(x.shape[0], dtype=torch.long)
        for i in range(x.shape[0]):
            s = x[i].sum().long().item()
            if s != last and s != 0:  # which
                out[n] = s
                n += 1
            last = s
        return out


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesIndexed(torch.nn.Module):
    def forward(self, x):
        k = 0
        if x.sum() > 0:  # which
            k = 2
        if x[0, 0] > 0:
            k = min(k + 1, 2)
        return x[k]


@case(lambda: (torch.randn(5, 3),), lambda: (2.0 * torch.randn(5, 3),))
class StatesSeveral(torch.nn.Module):
    def forward(self, x):
        depth, most = 0, -1
        for t in x[:, 1]:
            if t > 0.5:  # which
                depth += 1
            elif t < -0.5:
                depth = max(depth - 1, 0)
            most = max(most, depth)
        return torch.tensor([depth, most], dtype=torch.float32)

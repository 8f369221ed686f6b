"""Cases of grown tensors."""

from __future__ import annotations

import torch
from torch import nn

from ..case import NON_STRICT, case

IDS = (
    "ids: batch, _",
    lambda: (torch.tensor([[1, 2, 3], [2, 1, 1]]),),
    lambda: (torch.tensor([[4, 4, 3]]),),
    lambda: (torch.tensor([[0, 4, 4]]),),
    lambda: (torch.tensor([[3, 2, 1]]),),
    lambda: (torch.tensor([[1, 3, 2]]),),
)


@case(*IDS)
class Decodes(nn.Module):
    """The next token is a sum, so that the end token 0 comes early, late or never."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        for _ in range(5):
            token = (ids.sum(1, keepdim=True) + 1) % 4
            ids = torch.cat([ids, token], dim=1)
            if (token == 0).all():
                break
        return ids * 2


@case(*IDS)
class EndsFirst(nn.Module):
    """The end token is not added; each row has its own end."""

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ended = torch.zeros(ids.shape[0], dtype=torch.bool)
        while ids.shape[1] < 9:
            token = (ids[:, -2:].sum(1) + 1) % 4
            ended |= token == 0
            if ended.all():
                return ids, ended
            ids = torch.cat((ids, token[:, None]), -1)
        return ids, ended


@case(*IDS)
class Collects(nn.Module):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        token, tokens = ids[:, 0], []
        for step in range(4):
            token = (token * 3 + step) % 5
            tokens.append(token)
            if (token == 0).any():
                break
        return torch.stack(tokens, dim=1)


@case(lambda: (torch.tensor([[1], [2]]),), modes=NON_STRICT)
class Counts(nn.Module):
    """How many tokens there are is asked of a list."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        token, tokens = ids[:, 0], []
        for step in range(4):
            token = (token * 3 + step) % 5
            tokens.append(token)
            if (token == 0).any():
                break
        return torch.stack(tokens, dim=1) / len(tokens)


@case(
    "ids: batch, _",
    lambda: (torch.tensor([[30, 2, 3], [20, 1, 1]]),),
    lambda: (torch.tensor([[0, 0, 0]]),),
    lambda: (torch.tensor([[900, 7, 5], [1, 1, 1], [64, 0, 0]]),),
    lambda: (torch.full((4, 3), 3),),
)
class Settles(nn.Module):
    """Each iteration has a list of its own, and ends where two tensors are close."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = ids.float()
        for _ in range(6):
            rows = []
            for n in range(3):
                rows.append(x[:, n] // (n + 2))
            now = torch.stack(rows, 1)
            if torch.allclose(now, x, atol=0.5):
                break
            x = now
        return x


@case(
    "x: _, n",
    lambda: (torch.randn(1, 6).softmax(-1),),
    lambda: (torch.randn(1, 9).softmax(-1),),
    lambda: (torch.full((1, 20), 0.05),),
)
class Beams(nn.Module):
    """Each iteration takes other beams, so the tokens before it change."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scores, beams = x.log().topk(2, dim=1)
        beams = beams.reshape(2, 1)
        scores = scores.reshape(2)
        for _ in range(3):
            flat, idx = (scores[:, None] + x.log()).reshape(-1).topk(2)
            beams = torch.cat([beams[idx // x.shape[1]], (idx % x.shape[1])[:, None]], 1)
            scores = flat
            if scores.max() < -5:
                break
        return beams, scores


@case(
    "x: n, _",
    lambda: (torch.randn(6, 3),),
    lambda: (torch.randn(4, 3),),
    lambda: (-torch.rand(5, 3),),
)
class JoinsSome(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.empty(0, 3)
        for row in x:
            if row.sum() > 0:
                out = torch.cat([out, row[None]])
        return out


@case(
    "x: n, _",
    lambda: (torch.randn(6, 3),),
    lambda: (torch.randn(4, 3),),
    lambda: (torch.randn(9, 3),),
)
class JoinsToTheLast(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = x[:1]
        for t in range(1, x.shape[0]):
            out = torch.cat([out, out[-1:] * 0.5 + x[t : t + 1]])
        return out

"""Loops: over a dynamic length, over data, recurrent layers, experts."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor
F = nn.functional


def _frames(n: int, size: int = 4) -> tuple[Tensor]:
    return (torch.randn(2, 6 + n, size),)


@reported("https://github.com/pytorch/pytorch/issues/126339", _frames, "x: batch, time, _")
class TwoLayerGru(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(4, 8, 2, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.gru(x)[0]  # <- here


@reported("https://github.com/pytorch/pytorch/issues/118740", _frames, "x: batch, time, _")
class PlainRnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.RNN(4, 8, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.rnn(x)[1][-1]  # <- here


@reported("https://github.com/google-ai-edge/litert-torch/issues/1062", _frames, "x: _, time, _")
class BothWays(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]  # <- here


@reported("https://github.com/pytorch/executorch/issues/5176", _frames, "x: _, time[3..1000], _")
class OneLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 8, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        out, _ = self.lstm(x)  # <- here
        return out


@reported(
    "https://github.com/pytorch/pytorch/issues/115092",
    lambda n: (torch.randn(2 + n, 6, 4),),
    "x: batch, _, _",
)
class LstmOfBatch(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.lstm(x)[0]  # <- here


@reported("https://github.com/pytorch/pytorch/issues/191855", _frames, "x: batch, time, _")
class ManualBothWays(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.there, self.back = nn.GRUCell(4, 4), nn.GRUCell(4, 4)

    def one(self, cell: nn.Module, x: Tensor) -> Tensor:
        state, found = x.new_zeros(x.shape[0], 4), []
        for t in range(x.shape[1]):  # <- here
            state = cell(x[:, t], state)
            found.append(state)
        return torch.stack(found, 1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.one(self.there, x), self.one(self.back, x.flip(1)).flip(1)], -1)


@reported(
    "https://github.com/pytorch/pytorch/issues/148980",
    lambda n: (torch.randn(3 + n, 4), torch.randn(5 + n, 4)),
    "x: x_rows, _; y: y_rows, _",
)
class PairwiseLoop(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        found = torch.empty((x.shape[0], y.shape[0]))
        for i in range(x.shape[0]):  # <- here
            found[i, :] = ((y - x[i : i + 1]) ** 2).sum(1).sqrt()
        return found


@reported(
    "https://github.com/pytorch/pytorch/issues/158366",
    lambda n: (torch.randn(6 + n, 4), torch.randn(4)),
    "x: steps, _; start: _",
)
class RunningState(nn.Module):
    def forward(self, x: Tensor, start: Tensor) -> Tensor:
        state, found = start, []
        for row in x:  # <- here
            state = 0.9 * state + torch.tanh(row)
            found.append(state)
        return torch.stack(found)


@reported(
    "https://github.com/pytorch/pytorch/issues/130150",
    lambda n: (torch.randn(2, 5 + n, 3), torch.rand(2, 5 + n, 3), torch.randn(2, 5 + n, 4)),
    "u: batch, seq, _; delta: batch, seq, _; b: batch, seq, _",
)
class SelectiveScan(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(-torch.rand(3, 4))

    def forward(self, u: Tensor, delta: Tensor, b: Tensor) -> Tensor:
        state = u.new_zeros(u.shape[0], 3, 4)
        found = []
        for t in range(u.shape[1]):  # <- here
            kept = torch.exp(delta[:, t, :, None] * self.a)
            state = kept * state + (delta[:, t] * u[:, t])[..., None] * b[:, t, None]
            found.append(state.sum(-1))
        return torch.stack(found, dim=1)


@reported(
    "https://github.com/huggingface/transformers/issues/38518",
    lambda n: (torch.randn(6, 4) * (1 + n),),
)
class HitExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.gate(x).argmax(-1)
        mask = F.one_hot(chosen, 3).T
        out = torch.zeros_like(x)
        hit = (mask.sum(-1) > 0).nonzero()
        for number in hit:  # <- here
            rows = torch.where(mask[number.squeeze(0)])[0]
            out.index_add_(0, rows, self.experts[number](x[rows]))
        return out


@reported(
    "https://github.com/huggingface/transformers/pull/40114",
    lambda n: (torch.randn(6, 4),),
)
class AllExperts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            rows = torch.where(chosen == number)[0]
            if rows.numel() == 0:  # <- here
                continue
            out.index_add_(0, rows, expert(x[rows]))
        return out


@reported(
    "https://github.com/pytorch/vision/pull/9395",
    lambda n: (torch.randn(2, 3, 8, 8), torch.rand(5 + n, 4) * 8),
    "features: _, _, _, _; boxes: boxes, _",
)
class PoolsByLevel(nn.Module):
    def forward(self, features: Tensor, boxes: Tensor) -> Tensor:
        out = torch.zeros(len(boxes), 3)  # <- here
        level = (boxes[:, 2] > 4).long()
        for number in range(2):
            rows = torch.where(level == number)[0]
            out[rows] = features[number].mean((1, 2)) * boxes[rows, :1]
        return out


@reported(
    "https://github.com/pytorch/pytorch/issues/171978",
    lambda n: (torch.randn(2, 5, 4), torch.tensor([5 - n, 3])),
)
class PackedLstm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 4, batch_first=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        packed = nn.utils.rnn.pack_padded_sequence(  # <- here
            x, lengths, batch_first=True, enforce_sorted=False
        )
        out, _ = self.lstm(packed)  # <- here
        padded = nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=5)
        return padded[0]


def padding_of(mask: Tensor) -> Callable[..., Tensor]:
    def inner(batch: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return mask[batch, key] & (query >= key)

    return inner


@reported(
    "https://github.com/huggingface/transformers/pull/42721",
    lambda n: (torch.arange(5)[None] < 5 - n,),
)
class VmappedMask(nn.Module):
    def forward(self, mask: Tensor) -> Tensor:
        function = padding_of(mask)
        for dims in ((None, None, 0), (None, 0, None), (0, None, None)):
            function = torch.vmap(function, in_dims=dims)
        size = torch.arange(5)
        return function(torch.arange(1), size, size)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/pull/96367",
    lambda n: (torch.rand(4) * (2 + 3 * n),),
)
class HalvesUntilSmall(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        while x.norm() > 1:  # <- here
            x = x / 2
        return x


@reported(
    "https://github.com/pytorch/pytorch/issues/174013",
    lambda n: (torch.tensor(3 + n), torch.randn(2, 2)),
)
class AppliedOften(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, times: Tensor, x: Tensor) -> Tensor:
        for _ in range(int(times)):  # <- here
            x = torch.tanh(self.linear(x))
        return x


@reported(
    "https://github.com/pytorch/pytorch/pull/96366",
    lambda n: (torch.rand(6, 4) - 0.2 * n,),
)
class StopsWhenFound(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        best = torch.zeros(4)
        for row in range(6):
            best = torch.maximum(best, x[row])
            if best.sum() > 2.5:  # <- here
                break
        return best

"""Cases of rnn."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ..case import NON_STRICT, add, case


def in_one_storage(module: torch.nn.Module) -> None:
    """The weights as cuDNN has them on a GPU."""
    weights = list(module.parameters())
    whole = torch.cat([each.detach().flatten() for each in weights])
    for each, part in zip(weights, whole.split([each.numel() for each in weights]), strict=True):
        each.data = part.view_as(each)


@case("x: batch, time, _", lambda: (torch.randn(2, 5, 3),), eval_mode=True, modes=NON_STRICT)
class Recurs(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = torch.nn.LSTM(3, 4, batch_first=True)
        in_one_storage(self.rnn)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.rnn(x)[0]
        return found


class Doubled(torch.nn.LSTM):
    def forward(self, input: Any, hx: Any = None) -> Any:  # noqa: A002 - torch's name
        out, state = super().forward(input, hx)
        return out * 2, state


add(
    "doubled",
    lambda: Doubled(8, 4),
    "input: seq, batch, _",
    lambda: (torch.randn(7, 5, 8),),
    modes=NON_STRICT,
)

add(
    "gru",
    lambda: nn.GRU(8, 4, num_layers=2, bidirectional=True),
    "input: seq, batch, _",
    lambda: (torch.randn(7, 5, 8),),
    lambda: (torch.randn(3, 2, 8),),
    eval_mode=True,
    modes=NON_STRICT,
)

add(
    "lstm",
    lambda: nn.LSTM(8, 4, num_layers=2, bidirectional=True),
    "input: seq, batch, _",
    lambda: (torch.randn(7, 5, 8),),
    lambda: (torch.randn(3, 2, 8),),
    eval_mode=True,
    modes=NON_STRICT,
)

add(
    "rnn",
    lambda: nn.RNN(8, 4, num_layers=2, bidirectional=True),
    "input: seq, batch, _",
    lambda: (torch.randn(7, 5, 8),),
    lambda: (torch.randn(3, 2, 8),),
    eval_mode=True,
    modes=NON_STRICT,
)

add(
    "lstm-2",
    lambda: nn.LSTM(8, 4, proj_size=2),
    "input: seq, batch, _",
    lambda: (torch.randn(7, 5, 8),),
    modes=NON_STRICT,
)


class Packed(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.inner = getattr(nn, kind)(3, 4, batch_first=True, **options)

    def forward(self, x, lengths, h=None):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, h = self.inner(packed, h)
        out, known = pad_packed_sequence(out, batch_first=True)
        return out, known, h


for _kind, _options in (("GRU", {}), ("LSTM", {"bidirectional": True}), ("RNN", {"num_layers": 2})):
    add(
        f"packed-{_kind.lower()}",
        partial(Packed, _kind, **_options),
        "x: _, time, _",
        lambda: (torch.rand(3, 5, 3), torch.tensor([5, 2, 3])),
        lambda: (torch.rand(3, 5, 3), torch.tensor([1, 2, 5])),
        lambda: (torch.rand(3, 7, 3), torch.tensor([3, 7, 1])),
        lambda: (torch.rand(3, 4, 3), torch.tensor([2, 2, 2])),
        modes=NON_STRICT,
        eval_mode=True,
    )

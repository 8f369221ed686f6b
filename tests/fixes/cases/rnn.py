"""Cases of rnn."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

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

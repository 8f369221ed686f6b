"""The top of a graph as pictures and texts show it: modules, helpers, and ops of their own."""

import pytest
import torch
from torch import Tensor, nn

from explorer.text.outline import top_blocks
from explorer.text.pane_text import pane_text
from export_engine.attempt import Request
from export_engine.capture import capture
from export_engine.describe import describe


def mask(size: int) -> Tensor:
    places = torch.arange(size)
    return places[:, None] >= places[None, :]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.out = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        scores = (x @ x.mT).masked_fill(mask(x.shape[0]), 0.0)
        bias = torch.arange(4) * 2
        return self.head(self.inner(scores @ x + bias))

    def head(self, x: Tensor) -> Tensor:
        return self.out(x).softmax(-1)


@pytest.mark.after_check
def test_helpers_and_positions_are_one_block_each() -> None:
    record = describe(capture(Request(target=Model(), args=(torch.randn(3, 4),))))
    blocks = top_blocks(record)
    scopes = [(each.title, each.ops) for each in blocks if each.kind == "scope"]
    assert [title for title, _ in scopes] == ["mask", "arange … mul", "inner", "head"]
    assert dict(scopes)["head"] == 2
    titles = {each.title: at for at, each in enumerate(blocks)}
    assert titles["inner"] in blocks[titles["head"]].inputs
    assert titles["mask"] in blocks[titles["masked_fill"]].inputs
    [line] = [line for line in pane_text(record, "graph") if line.strip().startswith("head ")]
    assert "2 ops" in line
    assert ", 2 ops" not in line

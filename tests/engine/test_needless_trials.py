"""A rewrite that cannot help is not exported to find out: bad news comes sooner."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from export_engine.attempt import Failed, Request
from export_engine.capture import capture
from export_engine.fixes import explain
from export_engine.fixes.code import try_edit
from export_engine.shapes import Shapes

Tensor = torch.Tensor


class Applies(nn.Module):
    def __init__(self, function: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


def counts_to_data(x: Tensor) -> Tensor:
    return sum((x * n for n in range(int(x.abs().sum()) + 1)), x)


def sorts_by_data(x: Tensor) -> Tensor:
    order = sorted(range(4), key=lambda row: float(x[row].max()))
    return torch.stack([x[row] for row in order])


def goes_through_a_slice(x: Tensor) -> Tensor:
    state = x[0]
    for row in x[1:]:
        if len(row) == 8:
            print(row)
        state = state * 0.5 + row
    return state


def looks_up_a_size(x: Tensor) -> Tensor:
    return x * {4: 0.5, 5: 0.25}.get(int(x.shape[0]), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "dynamic", "needless"),
    [
        (counts_to_data, False, ("sym_int", "range((", ".long().item()")),
        (sorts_by_data, False, ("lambda row: (", ".long().item()")),
        (goes_through_a_slice, True, ("index_select",)),
        (looks_up_a_size, True, ("sym_int",)),
    ],
)
def test_what_cannot_help_is_not_tried(
    function: Callable[[Tensor], Tensor],
    dynamic: bool,
    needless: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    real = try_edit.try_request
    monkeypatch.setattr(
        try_edit,
        "try_request",
        lambda request, *rest: (
            texts.extend(each.after for each in request.edits) or real(request, *rest)
        ),
    )
    shapes = Shapes.parse("x: batch, _") if dynamic else None
    attempt = capture(
        Request(target=Applies(function), args=(torch.randn(4, 8),), dynamic_shapes=shapes)
    )
    assert isinstance(attempt, Failed)

    explain(attempt)

    own = [
        line
        for text in texts
        for line in text.splitlines()
        if "needless" not in line and '"' not in line
    ]
    assert not [line for line in own if any(each in line for each in needless)]

"""torch's own recurrent modules as a scan over their cell: the same outputs and states."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

from export_engine.fixes.code.conditions import Unclear
from export_engine.fixes.code.rnn_to_scan import as_scan_of_cells

TEXT = """
import torch

class Model(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.inner = getattr(torch.nn, kind)(3, 4, **options)

    def forward(self, x, h=None):
        'Doc.'
        if h is None:
            y, h = self.inner(x)
        else:
            y, h = self.inner(
                x, hx=h
            )
        return y, h
"""
LINE = 12
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "layers": {"num_layers": 2, "batch_first": True},
    "both_ways": {"num_layers": 2, "bidirectional": True, "bias": False},
}


@pytest.fixture
def plain_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch's scan means, without its compiler."""

    def scan(step: Callable[..., Any], carry: Any, xs: torch.Tensor, reverse: bool = False) -> Any:
        outs = []
        for each in reversed(xs) if reverse else xs:
            carry, out = step(carry, each)
            outs.append(out)
        return carry, torch.stack(outs[::-1] if reverse else outs)

    importlib.import_module("torch._higher_order_ops.scan")
    monkeypatch.setattr(sys.modules["torch._higher_order_ops.scan"], "scan", scan)


def model_of(text: str, kind: str, options: dict[str, Any]) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "rnn.py", "exec"), names)
    return names["Model"](kind, **options).eval()


@pytest.mark.usefixtures("plain_scan")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "RNN_RELU"])
def test_a_scan_over_the_cell_is_the_module(kind: str, options: str) -> None:
    given = dict(OPTIONS[options])
    if kind == "RNN_RELU":
        kind, given["nonlinearity"] = "RNN", "relu"
    model = model_of(TEXT, kind, given)
    made, said = as_scan_of_cells(TEXT, LINE, {"inner": model.inner})
    assert said == kind
    assert "self.inner, x, hx=h" in made.text
    other = model_of(made.text, kind, given)
    other.load_state_dict(model.state_dict())
    for length in (1, 2, 5):
        x = torch.rand(2, length, 3) if given.get("batch_first") else torch.rand(length, 2, 3)
        torch.testing.assert_close(other(x), model(x))
        _, h = model(x)
        torch.testing.assert_close(other(x, h), model(x, h))


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"proj_size": 2}, "projects"), ({"num_layers": 2, "dropout": 0.5}, "training mode")],
)
def test_a_module_that_does_more_is_kept(options: dict[str, Any], reason: str) -> None:
    model = model_of(TEXT, "LSTM", options).train()
    with pytest.raises(Unclear, match=reason):
        as_scan_of_cells(TEXT, LINE, {"inner": model.inner})

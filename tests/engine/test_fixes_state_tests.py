"""Branches on a module's own parameters and buffers, which no input changes."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.fixes import autofix, explain


class ActNorm(nn.Module):
    def __init__(self, ready: bool = True) -> None:
        super().__init__()
        self.loc = nn.Parameter(torch.zeros(1, 4))
        self.register_buffer("initialized", torch.tensor(int(ready), dtype=torch.uint8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.initialized.item() == 0:
            with torch.no_grad():
                self.loc.data.copy_(x.mean(0, keepdim=True))
            self.initialized.fill_(1)
        return x - self.loc


class Codebook(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("ready", torch.tensor([True]))
        self.register_buffer("codes", torch.randn(5, 4))

    def prepare(self, x: torch.Tensor) -> None:
        if self.ready:
            return
        self.codes.copy_(x[:5])
        self.ready.fill_(True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.prepare(x)
        return self.codes[torch.cdist(x, self.codes).argmin(-1)]


class Temperature(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        t = self.scale.item() if self.scale > 0 and self.scale < 9 else 1.0
        return (x / t).softmax(-1)


class Warmup(nn.Module):
    """Goes another way after so many calls."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.tensor(0))

    def tick(self) -> None:
        self.calls += 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.tick()
        if self.calls < 100:
            return x * 2
        return x[:, :2]


class Filled(Warmup):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        nn.init.constant_(self.calls, 7)
        if self.calls < 100:
            return x * 2
        return x[:, :2]


class Remembered(nn.Module):
    """Asks an attribute that an input was put into."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.last = x
        if self.last.sum() > 0:
            return x * 2
        return x[:, :2]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("model", [ActNorm(), nn.Sequential(Codebook(), Codebook()), Temperature()])
def test_the_way_that_a_buffer_chooses_is_taken(model: nn.Module, strict: bool) -> None:
    torch.manual_seed(0)
    report = autofix(Request(target=model, args=(torch.randn(6, 4),), strict=strict))

    assert isinstance(report.attempt, Exported)
    assert all("which no input changes" in step.fix.why for step in report.kept)
    assert not any(step.fix.narrows or step.fix.lossy for step in report.kept)
    x = torch.randn(6, 4)
    assert torch.equal(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("model", [ActNorm(ready=False), Warmup(), Filled(), Remembered()])
def test_what_a_call_changes_is_not_the_models_to_decide(model: nn.Module) -> None:
    attempt = explain(capture(Request(target=model, args=(torch.rand(6, 4),))))

    assert all(fix.lossy for fix in attempt.fixes if fix.title.startswith("Assume"))
    report = autofix(attempt)
    assert not any(step.fix.title.startswith("Assume") for step in report.kept)

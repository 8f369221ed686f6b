"""What is as it was: random numbers, and what another thread does meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.fixes import explain
from export_engine.run import Plan, profile, run
from export_engine.verify import run as call
from export_engine.verify import verify


class Drawing(nn.Module):
    """Draws from every generator there is."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(3) + random.random() + float(np.random.rand())


class Failing(Drawing):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = super().forward(x)
        return y if y.sum() > 0 else -y


def generators() -> tuple[Any, ...]:
    numpy = np.random.get_state()
    waiting = torch.cuda._lazy_seed_tracker.manual_seed_all_cb  # for the device's first use
    own = torch.get_rng_state().tolist()
    return random.getstate(), numpy[1].tolist(), numpy[2:], own, waiting


def explained() -> None:
    attempt = capture(Request(target=Failing(), args=(torch.ones(3),)))
    assert isinstance(attempt, Failed)
    explain(attempt)


def exported() -> Exported:
    attempt = capture(Request(target=Drawing(), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    return attempt


ACTIONS: dict[str, Callable[[Exported], Any]] = {
    "capture": lambda _: exported(),
    "fixes": lambda _: explained(),
    "verify": lambda found: verify(found, describe(found), 2),
    "run": lambda found: run(found, describe(found), Plan(), lambda _: None),
    "profile": lambda found: profile(found, describe(found)),
}


@pytest.mark.parametrize("name", ACTIONS)
@pytest.mark.slow
def test_random_numbers_go_on_as_if_nothing_had_been_done(name: str) -> None:
    found = exported()
    before = generators()
    ACTIONS[name](found)
    assert generators() == before


class DisablingFunctions(nn.Module):
    """Leaves torch's calls of `__torch_function__` disabled, as a guard that raises does."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch.DisableTorchFunction().__enter__()
        return x + 1


class Derives(nn.Module):
    """Fails in strict mode, and Dynamo leaves hooks on saved tensors refused."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows: torch.Tensor = torch.func.grad(lambda row: self.layer(row).sum())(x)
        return rows


def test_checkpointing_works_after_a_failed_export_of_a_transform() -> None:
    assert isinstance(
        capture(Request(target=Derives(), args=(torch.ones(4, 3),), strict=True)), Failed
    )
    x = torch.ones(4, 3)
    checkpointed = torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)
    assert torch.equal(checkpointed, x.sin())


def test_torch_function_is_called_as_before() -> None:
    call(DisablingFunctions(), Request(target=DisablingFunctions(), args=(torch.ones(3),)), 0)

    assert not torch._C._is_torch_function_all_disabled()

"""Private names of torch's are found, probed, and said where they are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.exploration import Exploration
from export_engine.torch_internals import (
    MissingCapabilityError,
    all_capabilities,
    capability,
    guard_hooks,
    left_out,
)
from export_engine.torch_internals.capability import PROBED, Capability
from export_engine.torch_internals.private_names import LOG_GUARD


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu() + sum(more.values())


def exported() -> Exploration:
    torch.manual_seed(0)
    call = ((torch.randn(6, 3),), {"a": torch.ones(6, 2)})
    found = explorer.explore(Small(), *call, dynamic_shapes="x: batch[2..64], _; a: batch, _")
    assert found.ok, found
    return found


def test_this_torch_lacks_nothing_that_costs_anything_but_what_is_known() -> None:
    assert left_out() == [each.sentence for each in all_capabilities() if each.expected]


# What a probe finds


@pytest.fixture
def made() -> Iterator[Callable[..., Capability]]:
    """Makes capabilities that are not on the list afterwards."""
    before = dict(capability.REGISTRY)

    def make(path: str, **given: Any) -> Capability:
        return Capability(path, given.pop("without", "No lines."), **given)

    yield make
    for path in capability.REGISTRY.keys() - before.keys():
        del capability.REGISTRY[path]
        PROBED.pop(path, None)


@pytest.mark.parametrize(
    "path", ["torch.no_such", "torch.no.such.module", "torch.nn.Linear.no_such", "torch/none.json"]
)
def test_a_name_that_is_not_there_is_missing(made: Callable[..., Capability], path: str) -> None:
    found = made(path)

    assert not found
    version = torch.__version__.partition("+")[0]
    assert found.sentence == f"No lines. That needs {path}, which torch {version} does not have."
    with pytest.raises(MissingCapabilityError, match="does not have"):
        _ = found.value
    assert found.of(torch, "other") == "other"


def test_a_name_that_takes_other_arguments_is_missing(made: Callable[..., Capability]) -> None:
    wrapped = made("torch.fx.Interpreter.run", begins="self inputs")
    assert "takes different arguments (self, args" in wrapped.sentence
    called = made("torch.export.export", takes="module nothing=")
    assert "takes different arguments (mod, args" in called.sentence


def test_a_probe_that_fails_says_why(made: Callable[..., Capability]) -> None:
    found = made("torch.nn.Linear", probe=lambda cls: cls.nothing)
    assert "which has changed in" in found.sentence
    assert "AttributeError" in found.sentence


def test_an_attribute_of_instances_is_found(made: Callable[..., Capability]) -> None:
    assert made("torch.nn.Linear.in_features")
    assert made("torch.nn.Module().training").value is True
    assert not made("torch.nn.Linear.made_up")


def test_an_older_name_is_taken(made: Callable[..., Capability]) -> None:
    found = made("torch.newer_sin", older="sin")
    assert found
    assert found.name == "sin"
    assert found.of(torch) is torch.sin


def test_a_name_that_moved_to_another_module_is_taken_from_its_older_place(
    made: Callable[..., Capability],
) -> None:
    found = made("torch.module_of_tomorrow.Interpreter.run_it", older="torch.fx.Interpreter.run")
    assert found
    assert (found.name, found.owner) == ("run", torch.fx.Interpreter)


def test_a_torch_from_before_a_name_does_without_it(made: Callable[..., Capability]) -> None:
    assert made("torch.of_tomorrow", since=(99, 0))
    assert not made("torch.of_yesterday", since=(1, 0))


def test_a_name_that_an_old_torch_is_known_to_lack_is_left_out_all_the_same(
    made: Callable[..., Capability],
) -> None:
    known, news = made("torch.not_yet", until=(99, 0)), made("torch.not_any_more", until=(1, 0))
    assert (known.expected, news.expected) == (True, False)
    assert "does not have" in known.sentence


@pytest.mark.after_check
def test_what_changed_in_a_trace_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that runs into another torch's objects costs its own record, and not the export."""
    monkeypatch.setattr(guard_hooks, "_asking_op", lambda: torch.renamed_in_2_99)
    found = exported()

    (said,) = [each for each in found.record.left_out if LOG_GUARD.path in each]
    assert "renamed_in_2_99" in said
    assert found.record.guards == []

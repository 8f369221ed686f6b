"""Watching the calls of a model: what varies in them, an example, and a program checked on all."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import explorer
from export_engine.observe import example_of

Tensor = torch.Tensor


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, ids: Tensor, mask: Tensor | None = None, steps: int = 1) -> Tensor:
        self.calls += 1
        x = self.embed(ids)
        if mask is not None:
            x = x * mask[..., None]
        return x * steps


def ids(batch: int, seq: int) -> Tensor:
    return torch.randint(0, 20, (batch, seq))


def state_of(model: nn.Module) -> dict[str, Any]:
    return {
        name: dict(value) if isinstance(value, dict) else value
        for name, value in vars(model).items()
    }


@pytest.mark.after_check
def test_what_varies_together_has_one_name_and_a_program_agrees_on_every_call() -> None:
    model = Encoder().eval()
    with explorer.observe(model) as calls:
        for batch, seq in ((1, 3), (2, 5), (4, 4), (1, 3)):
            model(ids(batch, seq), mask=torch.ones(batch, seq))

    assert len(calls) == 4
    assert str(calls.shapes) == "ids: batch, seq; mask: batch, seq"
    said = str(calls)
    assert "ids.shape[0], mask.shape[0]: vary together from 1 to 4, batch" in said
    assert "ids.shape[1], mask.shape[1]: vary together from 3 to 5, seq" in said

    args, kwargs = calls.example()
    assert args[0].shape == kwargs["mask"].shape == (2, 5), "no 1, and no two that are equal"
    ex = calls.explore()
    assert ex.ok
    checked = calls.check(ex)
    assert checked.ok, str(checked)
    assert sum(each.times for each in checked.calls) == 4
    narrow = explorer.explore(model, args, kwargs)
    found = calls.check(narrow)
    assert not found.ok
    assert [each.outcome for each in found.calls] == ["rejected", "agrees", "rejected"]


@pytest.mark.after_check
def test_none_an_int_and_a_relation_are_told() -> None:
    model = Encoder().eval()
    with explorer.observe(model) as calls:
        for seq in (3, 4, 6):
            model(ids(2, seq), steps=seq)
        model(ids(2, 3), torch.ones(2, 3))

    first, second = calls.groups
    assert (first.times, second.times) == (3, 1)
    assert str(first.shapes) == "ids: _, seq; steps: !"
    assert "steps: an int from 3 to 6, always equal to seq" in str(calls)
    assert "group 1, 1 call: mask is a float32 tensor of 2 dims; steps is not passed" in str(calls)
    assert calls.check(calls.explore(group=1), group=1).ok

    def pair(x: Tensor, y: Tensor) -> Tensor:
        return x.sum() + y.sum()

    with explorer.observe(pair) as of_function:
        for size in (2, 3, 5):
            of_function(torch.ones(size), torch.ones(2 * size + 1))
    assert str(of_function.shapes) == "x: batch; y: 2*batch + 1"
    assert of_function.check(of_function.explore()).ok


def test_the_model_is_as_before_also_where_the_block_or_a_call_raises() -> None:
    model = Encoder().eval()
    before = state_of(model)
    watching = explorer.observe(model)
    calls = watching.__enter__()
    with pytest.raises(IndexError):
        model(torch.full((2, 3), 99))
    model(ids(2, 3))
    assert not watching.__exit__(KeyError, KeyError(), None), "what the block raises goes on"
    assert state_of(model).keys() == before.keys()
    for name in ("_forward_hooks", "_forward_pre_hooks"):
        assert not getattr(model, name)
        assert not getattr(model, f"{name}_with_kwargs")
    assert len(calls) == 1, "the one that raised is not counted"
    model(ids(2, 3))
    assert len(calls) == 1

    counted = model.calls.clone()
    calls.check(calls.explore())
    assert torch.equal(model.calls, counted), "a check leaves the buffers be"


@pytest.mark.after_check
def test_copies_stay_within_their_budget_and_other_calls_are_checked_all_the_same() -> None:
    model = nn.Linear(4, 2).eval()
    with explorer.observe(model, most_bytes=4 * 4 * 10) as calls:
        for batch in range(2, 12):
            x = torch.randn(batch, 4)
            model(x)
            x.zero_()  # what is kept is what was passed
    seen = calls._seen
    assert seen.bytes <= 4 * 4 * 10
    kept = [each.example for each in seen.seen.values() if each.example is not None]
    assert 0 < len(kept) < 10
    assert all(args[0].abs().sum() > 0 for args, _ in kept)
    checked = calls.check(calls.explore())
    assert checked.ok
    assert "checked with new values of the same sizes, to save memory" in str(checked)


def test_an_example_is_resized_only_where_the_model_takes_it() -> None:
    class Square(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x @ x

    class Free(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x * 2

    for model, expected in ((Square(), (3, 3)), (Free(), (3, 2))):
        with explorer.observe(model) as calls:
            model(torch.ones(1, 1))
            model(torch.ones(3, 3))
            if isinstance(model, Free):
                model(torch.ones(3, 1))
        (group,) = calls.groups
        args, _ = example_of(model, group)
        assert tuple(args[0].shape) == expected


def test_nothing_seen_and_a_group_that_is_not_there_are_said() -> None:
    with explorer.observe(nn.Linear(2, 2)) as calls:
        pass
    assert str(calls) == "0 calls seen"
    with pytest.raises(LookupError, match="No call was seen"):
        calls.explore()
    with pytest.raises(TypeError, match="int is not callable"), explorer.observe(3):  # type: ignore[arg-type]
        pass

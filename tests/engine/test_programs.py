"""What is said between programs of a set: faults that are planted, and none in clean twins."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor

import explorer
from tests.planted_caches import CACHES
from tests.planted_in_place import IN_PLACE
from tests.planted_orders import ORDERS
from tests.planted_sets import PLANTED, Calls, other_weight, pair
from tests.planted_shifts import SHIFTS

ALL = {**PLANTED, **CACHES, **IN_PLACE, **ORDERS, **SHIFTS}


@cache
def clean_set(calls: Callable[[], Calls]) -> explorer.Programs:
    """A set without a fault; several faults have one twin."""
    return explorer.explore_many(calls())


@pytest.mark.slow
@pytest.mark.parametrize("case", ALL)
def test_a_fault_between_programs_is_found_with_its_line(case: str) -> None:
    planted, kind = ALL[case], case.partition(":")[0]
    found = explorer.explore_many(planted.faulty()).findings

    assert kind in [each.kind for each in found if each.severity != "note"]
    row = next(each for each in found if each.kind == kind)
    assert planted.place in row.place
    assert row.sentence.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("case", ALL)
def test_a_clean_set_raises_no_alarm(case: str) -> None:
    kit = clean_set(ALL[case].clean)

    assert kit.ok, repr(kit)
    assert [each for each in kit.findings if each.severity != "note"] == []


@pytest.fixture(scope="module")
def kit() -> explorer.Programs:
    return explorer.explore_many(pair())


def test_what_flows_is_told_by_its_names(kit: explorer.Programs) -> None:
    names = list(kit)
    seams = {(names[each.source], names[each.target]): each for each in kit.seams}

    assert {*seams} == {("prefill", "decode"), ("decode", "decode")}
    (flow,) = seams["prefill", "decode"].flows
    assert (flow.kind, flow.given, flow.taken) == (
        "cache",
        "f32[batch, prompt, 8]",
        "f32[batch, past, 8]",
    )


def test_sizes_that_meet_are_one_size(kit: explorer.Programs) -> None:
    assert {each.name for each in kit.record.symbols} == {"batch", "prompt / past"}


def test_weights_of_one_model_are_shared(kit: explorer.Programs) -> None:
    assert {each.state for each in kit.weights} == {"shared"}
    held = sum(each.bytes for each in kit["decode"].record.signature.inputs)
    assert kit.record.shared_bytes == held


def scaled_in_parts() -> torch.nn.Module:
    """A model whose weight is made of two tensors, as a quantized one of integers and scales."""
    net = torch.nn.Linear(4, 4, bias=False).eval()
    parts = torch.randn(4, 4), torch.randn(4, 4)
    net.weight = torch.nn.Parameter(TwoTensor(*parts), requires_grad=False)
    return net


@pytest.mark.after_check
def test_a_weight_made_of_tensors_is_shared_if_they_are() -> None:
    net, x = scaled_in_parts(), torch.randn(2, 4)
    shared = explorer.explore_many({"one": (net, (x,)), "other": (net, (x + 1,))})
    apart = explorer.explore_many({"one": (net, (x,)), "other": (copy.deepcopy(net), (x + 1,))})

    assert [(each.state, each.bytes) for each in shared.weights] == [("shared", 2 * 4 * 4 * 4)]
    assert shared.findings == []
    assert [each.state for each in apart.weights] == ["duplicated"]


def test_two_towers_of_one_architecture_are_not_copies() -> None:
    """Their biases are zeros and their norms ones, so these are equal, and it means nothing."""

    def tower(seed: int) -> torch.nn.Module:
        torch.manual_seed(seed)
        linear = torch.nn.Linear(4, 4)
        torch.nn.init.zeros_(linear.bias)
        return torch.nn.Sequential(linear, torch.nn.LayerNorm(4)).eval()

    x = torch.randn(2, 4)
    kit = explorer.explore_many({"text": (tower(0), (x,)), "image": (tower(1), (x + 1,))})

    assert (kit.weights, kit.findings) == ([], [])


@pytest.mark.slow
def test_a_copy_of_a_model_holds_its_weights_again() -> None:
    kit = explorer.explore_many(other_weight())

    states = [each.state for each in kit.weights]
    assert (states.count("different"), states.count("duplicated")) == (1, 5)
    assert kit.record.duplicated_bytes > 0
    assert any(each.kind == "copies" for each in kit.findings)


class Named(torch.nn.Module):
    """Doubles what it is given, as `image`."""

    def forward(self, image: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"image": image * 2.0}


@pytest.mark.slow
def test_what_was_seen_to_come_from_one_program_is_not_taken_from_another_by_its_name() -> None:
    x = torch.randn(3, 8)
    kit = explorer.explore_many(
        {"tower": (Named(), (x,)), "projector": (Named(), (x * 2,)), "head": (Named(), (x * 4,))}
    )

    seams = {(each.source, each.target): each.flows[0].known_by for each in kit.seams}
    assert seams == {(0, 1): "values", (1, 2): "values"}


class Bare(torch.nn.Module):
    """Attention whose keys and values are tensors in a tuple; a decode puts more into them."""

    def __init__(self) -> None:
        super().__init__()
        self.all = torch.nn.Linear(8, 24)

    def forward(
        self, x: torch.Tensor, k: torch.Tensor | None = None, v: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        query, key, value = self.all(x).chunk(3, dim=-1)
        key = key if k is None else torch.cat([k, key], dim=1)
        value = value if v is None else torch.cat([v, value], dim=1)
        weights = (query @ key.transpose(1, 2)).softmax(-1)
        return weights @ value, key, value


@pytest.mark.slow
def test_keys_and_values_without_a_name_flow_from_call_to_call() -> None:
    model = Bare().eval()
    held = torch.randn(2, 5, 8), torch.randn(2, 5, 8)
    kit = explorer.explore_many(
        {
            "prefill": (model, (torch.randn(2, 5, 8),), {}, "x: _, prompt, _"),
            "decode": (model, (torch.randn(2, 1, 8), *held), {}, "k: _, past, _; v: _, past, _"),
        }
    )

    flows = {
        (each.source, each.target): [
            (flow.source_path, flow.target_path, flow.kind, flow.known_by) for flow in each.flows
        ]
        for each in kit.seams
    }
    expected = [("1", "k", "cache", "ops"), ("2", "v", "cache", "ops")]
    assert flows == {(0, 1): expected, (1, 1): expected}
    assert [each.sentence for each in kit.findings if each.severity != "note"] == []


class Twice(torch.nn.Module):
    """Takes what an encoder sees, or a list of it."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return features * 2.0


@pytest.mark.after_check
def test_what_is_cut_on_its_way_flows_all_the_same() -> None:
    images = torch.randn(2, 5, 8)
    seen = images * 2.0
    patches, shapes = seen[:, 1:], {}
    calls = {
        "encoder": (Twice(), (images,), shapes, "features: batch, 5, _"),
        "projector": (Twice(), (patches,), shapes, "features: batch, 4, _"),
        "decoder": (Twice(), ((patches * 2.0).flatten(0, 1),), shapes, "features: patches, _"),
    }
    kit = explorer.explore_many(calls)

    seams = {(each.source, each.target): each.flows[0].known_by for each in kit.seams}
    assert seams == {(0, 1): "part", (1, 2): "part"}
    assert kit.findings == []
    assert "batch / patches" not in {each.name for each in kit.record.symbols}


class Pooled(torch.nn.Module):
    """Takes the pooled output of what follows a tower."""

    def forward(self, image: dict[str, torch.Tensor]) -> torch.Tensor:
        return image["pooler_output"].sum(dim=1)


class Tower(torch.nn.Module):
    """Gives a pooled output of its own."""

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"pooler_output": x[:, 0] * 2.0}


def test_a_name_in_another_container_is_no_flow_where_the_ranks_differ() -> None:
    x = torch.randn(3, 4, 8)
    kit = explorer.explore_many(
        {"tower": (Tower(), (x,)), "head": (Pooled(), ({"pooler_output": x},))}
    )

    assert (kit.seams, kit.findings) == ([], [])


@pytest.mark.slow
def test_a_first_call_may_fill_a_cache_that_a_later_one_then_cannot_add_to() -> None:
    kit = explorer.explore_many(
        pair("x: batch, prompt[2..64], _", "x: batch, _, _; cache: batch, past[2..63], _")
    )

    assert kit.findings == []

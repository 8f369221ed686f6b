"""The graph of an attempt that failed: what was traced so far, under names a user knows."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import OPS, Record
from export_engine.trace import PartialGraph, Recording


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shift", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) + self.shift


class Fails(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer(), Layer()])

    def forward(self, x: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        x = torch.cat([x, options["rows"]])
        x = torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))
        count = x.argmax().item()
        head = x[:count]
        if head.sum() > 0:
            return head
        return x


def record_of(strict: bool, module: nn.Module | None = None) -> Record:
    attempt = capture(
        Request(
            target=module or Fails(),
            args=(torch.randn(3, 4), {"rows": torch.randn(5, 4)}),
            dynamic_shapes={
                "x": {0: torch.export.Dim("batch")},
                "options": {"rows": {0: torch.export.Dim("rows")}},
            },
            strict=strict,
        )
    )
    assert isinstance(attempt, Failed)
    return describe(attempt)


def names(record: Record, op: str) -> list[str]:
    graph = record.graphs[0]
    return [
        record.strings[name]
        for name, kind in zip(graph.name, graph.op, strict=True)
        if OPS[kind] == op
    ]


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.slow
def test_inputs_have_the_names_of_the_call(strict: bool) -> None:
    inputs = names(record_of(strict), "placeholder")
    assert inputs[-2:] == ["x", "options.rows"]


@pytest.mark.slow
def test_parameters_have_their_own_names() -> None:
    record = record_of(strict=False)
    assert names(record, "placeholder")[:2] == [
        "p_layers_0_linear_weight",
        "p_layers_0_linear_bias",
    ]
    strict = names(record_of(strict=True), "get_attr")
    assert strict[:2] == ["layers_0_linear_weight", "layers_0_linear_bias"]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_what_the_module_holds_is_told_from_what_is_passed(strict: bool) -> None:
    record = record_of(strict)
    named = names(record, "placeholder") + names(record, "get_attr")
    known = {each.name: each for each in record.signature.inputs}
    held = {each.target: each.kind for each in known.values() if each.kind != "user_input"}
    places = ("linear.weight", "linear.bias", "shift")
    assert held == {
        f"layers.{layer}.{place}": "buffer" if place == "shift" else "parameter"
        for layer in range(2)
        for place in places
    }
    assert {each.path for each in known.values() if each.kind == "user_input"} == {
        "x",
        "options.rows",
    }
    assert set(known) <= set(named)
    weight = next(each for each in known.values() if each.target == "layers.1.linear.weight")
    assert (record.types[weight.type].text, weight.bytes) == ("f32[4, 4]", 64)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_sizes_are_in_the_users_terms(strict: bool) -> None:
    texts = {entry.text for entry in record_of(strict).types}
    assert "f32[batch, 4]" in texts
    assert "f32[head.shape[0], 4]" in texts
    assert "int count" in texts


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_ops_have_their_module_and_line(strict: bool) -> None:
    record = record_of(strict)
    graph = record.graphs[0]
    linear = [record.strings[name] for name in graph.name].index("linear_1")
    assert record.scopes[graph.scope[linear]].path == "layers.1.linear"
    assert graph.stack[linear] >= 0
    assert not [path for path in (each.path for each in record.scopes) if "export_root" in path]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_branches_are_nested(strict: bool) -> None:
    record = record_of(strict)
    assert [each.argument for each in record.graphs[0].nested] == ["true_fn", "false_fn"]
    assert len(record.graphs) == 3


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_a_program_that_exports_keeps_no_second_graph(strict: bool) -> None:
    attempt = capture(Request(target=Layer(), args=(torch.ones(2, 4),), strict=strict))
    assert isinstance(attempt, Exported)
    assert attempt.recording.graph is None


class FailsAtOnce(nn.Module):
    def forward(self, x: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        raise ValueError("no")


@pytest.mark.after_check
@pytest.mark.parametrize("strict", [False, True])
def test_nothing_traced_is_no_graph(strict: bool) -> None:
    assert record_of(strict, FailsAtOnce()).graphs == []


def test_an_odd_graph_stands_in_nobodys_way() -> None:
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(torch.sin, (x,)).meta["example_value"] = object()
    graph.call_method("frob", (x, {"a": [x]}))
    graph.call_module("nowhere", (x,))
    for root in (None, nn.Module()):
        recording = Recording(graph=PartialGraph(graph, root))
        record = describe(Failed(request=None, recording=recording, error=RuntimeError("no")))
        assert len(record.graphs) == 1
        assert record.failure is not None


@pytest.mark.slow
def test_a_failure_lets_go_of_its_graph_with_the_attempt() -> None:
    attempt = capture(Request(target=FailsLate(), args=(torch.ones(2),)))
    assert isinstance(attempt, Failed)
    assert attempt.recording.graph is not None
    graph = weakref.ref(attempt.recording.graph)
    del attempt
    gc.collect()
    assert graph() is None


class FailsLate(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.sin()
        raise ValueError("late")

"""Ops by the function that made them: what one call made is a group, and plumbing says so."""

from typing import Any

import msgspec
import pytest
import torch
from torch import Tensor, nn

from export_engine.attempt import Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import OPS, Graph, Group, Record, check_record, with_groups
from export_engine.record.validation import BrokenRecord


def causal_mask(size: int) -> Tensor:
    places = positions(size)
    return (places[:, None] >= places[None, :]).logical_not()


def positions(size: int) -> Tensor:
    return torch.arange(size) + 1


def halves_swapped(x: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def rotated(x: Tensor, angle: Tensor) -> Tensor:
    return x * angle.cos() + halves_swapped(x) * angle.sin()


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 8)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        angle = torch.arange(8) * 0.5
        x = rotated(self.project(x), angle)
        return (x @ x.transpose(1, 2)).masked_fill(mask, -1.0).softmax(-1) @ x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Attention() for _ in range(3))
        self.out = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        mask = causal_mask(x.shape[1])
        x = self.through_layers(x, mask)
        return self.head(x)

    def through_layers(self, x: Tensor, mask: Tensor) -> Tensor:
        x = x * 2
        for layer in self.layers:
            x = layer(x, mask)
        return x

    def head(self, x: Tensor) -> Tensor:
        return self.out(x.mean(1)).softmax(-1)


def described(target: Any, *args: Any) -> Record:
    return describe(capture(Request(target=target, args=args)))


@pytest.fixture(scope="module")
def record() -> Record:
    return described(Model().eval(), torch.randn(2, 6, 8))


def path(graph: Graph, group: int) -> str:
    """Names from the outermost on; `~` for one without."""
    if group < 0:
        return ""
    entry = graph.groups[group]
    return f"{path(graph, entry.parent)}/{entry.function or '~'}"


def labels(record: Record, group: int) -> list[str]:
    graph = record.graphs[0]
    return [
        record.targets[target].label
        for target, each in zip(graph.target, graph.group, strict=True)
        if each == group and target >= 0
    ]


def named(record: Record, function: str) -> list[Group]:
    return [each for each in record.graphs[0].groups if each.function == function]


def test_what_one_call_of_a_function_made_is_a_group(record: Record) -> None:
    graph = record.graphs[0]
    assert len(graph.group) == len(graph.name)
    made = [path(graph, at) for at in range(len(graph.groups))]
    assert made.count("/rotated") == 3  # one in each layer
    assert made.count("/rotated/halves_swapped") == 3
    scopes = [record.scopes[each.scope].path for each in named(record, "rotated")]
    assert scopes == ["layers.0", "layers.1", "layers.2"]
    inner = labels(record, made.index("/rotated/halves_swapped"))
    assert inner[-2:] == ["neg", "cat"]


def test_a_mask_is_plumbing_and_what_data_flows_through_is_not(record: Record) -> None:
    [mask] = named(record, "causal_mask")
    assert mask.plumbing
    assert all(each.plumbing for each in named(record, "positions"))
    assert not any(each.plumbing for each in named(record, "rotated"))


def test_neighbours_that_work_out_positions_are_one_group_without_a_name(record: Record) -> None:
    angles = named(record, "")
    assert [record.scopes[each.scope].path for each in angles] == [
        "layers.0",
        "layers.1",
        "layers.2",
    ]
    first = record.graphs[0].groups.index(angles[0])
    assert all(each.plumbing for each in angles)
    assert labels(record, first) == ["arange", "mul"]


def test_a_function_that_runs_layers_is_no_group_and_one_with_a_linear_holds_it(
    record: Record,
) -> None:
    assert named(record, "through_layers") == []
    [head] = named(record, "head")
    assert [record.scopes[each].path for each in head.scopes] == ["out"]


def test_functions_of_one_op_and_wrappers_are_no_groups() -> None:
    def doubled(x: Tensor) -> Tensor:
        return x * 2

    def wrapper(x: Tensor) -> Tensor:
        return inner(x)

    def inner(x: Tensor) -> Tensor:
        return (x + 1).relu()

    class Plain(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return wrapper(doubled(x)) - 1

    made = described(Plain(), torch.randn(3)).graphs[0]
    # The name that the module's author wrote stays, and what it calls is not said again.
    assert [each.function for each in made.groups] == ["wrapper"]


def test_a_helper_that_all_of_a_module_goes_through_is_none() -> None:
    class Wrapped(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return self.run(x)

        def run(self, x: Tensor) -> Tensor:
            x = x.sin()
            return x.cos()

    assert described(Wrapped(), torch.randn(3)).graphs[0].groups == []


def test_two_calls_with_something_between_them_are_two_groups() -> None:
    def squashed(x: Tensor) -> Tensor:
        return x.sin().cos()

    class Twice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            for _ in range(2):
                x = squashed(x)
                x = x + 1
            return x

    made = described(Twice(), torch.randn(3)).graphs[0]
    assert [each.function for each in made.groups] == ["squashed", "squashed"]


def test_a_program_of_integers_has_no_plumbing() -> None:
    class Counter(nn.Module):
        def forward(self, n: Tensor) -> Tensor:
            return (n + 1) * 2 - n

    assert described(Counter(), torch.arange(4)).graphs[0].groups == []


@pytest.mark.after_check
def test_branches_have_groups_of_their_own() -> None:
    def squashed(x: Tensor) -> Tensor:
        return x.sin().cos()

    def one(x: Tensor) -> Tensor:
        return squashed(x) + 1

    def other(x: Tensor) -> Tensor:
        return x.abs()

    class Choice(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.cond(x.sum() > 0, one, other, (x,))

    made = described(Choice(), torch.randn(3))
    groups = {each.title: [group.function for group in each.groups] for each in made.graphs}
    assert groups["true_fn"] == ["squashed"]
    assert groups["false_fn"] == []


def test_edges_between_groups_lead_one_way(record: Record) -> None:
    """A group is laid out as one box: it may not read what is worked out of it."""
    graph = record.graphs[0]
    starts, items = graph.inputs.starts, graph.inputs.items
    after: dict[int, set[int]] = {}
    for node, group in enumerate(graph.group):
        for each in items[starts[node] : starts[node + 1]]:
            if group != graph.group[each] and group >= 0 and graph.group[each] >= 0:
                after.setdefault(graph.group[each], set()).add(group)
    assert not any(one in after.get(other, ()) for one, others in after.items() for other in others)


def test_groups_are_the_same_when_made_again(record: Record) -> None:
    assert with_groups(record) == record
    check_record(record)


@pytest.mark.parametrize("broken", ["parent", "column", "scope", "short"])
def test_a_record_from_a_file_whose_groups_point_at_nothing_is_broken(
    record: Record, broken: str
) -> None:
    graph = record.graphs[0]
    first, *rest = graph.groups
    changes: dict[str, Any] = {
        "parent": {"groups": [msgspec.structs.replace(first, parent=0), *rest]},
        "scope": {"groups": [msgspec.structs.replace(first, scopes=[99]), *rest]},
        "column": {"groups": []},
        "short": {"group": graph.group[1:]},
    }[broken]
    changed = msgspec.structs.replace(graph, **changes)
    with pytest.raises(BrokenRecord):
        check_record(msgspec.structs.replace(record, graphs=[changed]))


def test_only_calls_are_in_groups(record: Record) -> None:
    graph = record.graphs[0]
    outside = {OPS.index(op) for op in ("placeholder", "output")}
    assert not any(
        group >= 0 and op in outside for op, group in zip(graph.op, graph.group, strict=True)
    )

"""Two runs held against each other inside of nested graphs, transforms, and at what is returned."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch._higher_order_ops.scan import scan
from torch.fx import GraphModule

import explorer
from export_engine.attempt import DecompositionTable, Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import check_record, from_json, to_json
from export_engine.torch_internals import copy_program
from export_engine.transform import decompose
from export_engine.values import Compared, RunOf, compare_values, run_in_dtype, watch

aten = torch.ops.aten
pytestmark = pytest.mark.slow


class Nested(nn.Module):
    """A branch with weights, a loop, and a function under no_grad."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(4, 4)
        self.down = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(
            x.sum() > -100,
            lambda x: self.up(x).relu() * 2,
            lambda x: self.down(x).sin(),
            (x,),
        )
        with torch.no_grad():
            scale = torch.arange(4.0).cos()
        last, each = scan(lambda c, y: (c * 0.5 + y.tanh(), (c + y).exp()), torch.zeros(4), y)
        return last * scale + each.sum(0)


class Made:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.request = Request(target=Nested(), args=(torch.randn(5, 4),))
        attempt = capture(self.request)
        assert isinstance(attempt, Exported)
        self.program = self.run(attempt)
        self.core = self.run(decompose(attempt, DecompositionTable.of("core")))

    def run(self, attempt: Exported) -> RunOf:
        return RunOf("run", attempt, describe(attempt), self.request)

    def planted(
        self, run: RunOf, target: object, other: object, against: RunOf | None = None
    ) -> Compared:
        """A run with another op in place of one, against the program."""
        program = copy_program(run.exported.program)
        for module in program.graph_module.modules():
            for node in module.graph.nodes if isinstance(module, GraphModule) else ():
                if node.target is target:
                    node.target = other
        for module in program.graph_module.modules():
            if isinstance(module, GraphModule):
                module.recompile()
        broken = self.run(replace(run.exported, program=program))
        return compare_values(broken, against or self.program)


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


def test_clean_pairs_agree_inside_of_nested_graphs(made: Made) -> None:
    low = run_in_dtype(
        made.program.exported, made.program.record, made.request, "cpu", torch.bfloat16
    )
    for one in (made.core, low):
        found = compare_values(one, made.program)
        assert found.pairs.agrees, found.pairs.sentence
        titles = {one.record.graphs[each.graph].title for each in found.pairs.graphs[1:]}
        assert {"true_fn", "combine_fn"} <= titles


@pytest.mark.parametrize(
    ("target", "other", "name"),
    [
        (aten.relu.default, aten.sigmoid.default, "true_fn.relu"),
        (aten.tanh.default, aten.sin.default, "combine_fn.tanh"),
        (aten.exp.default, aten.sinh.default, "combine_fn.exp"),
        (aten.cos.default, aten.sin.default, "wrapped_func.cos"),
    ],
)
def test_the_op_of_a_nested_graph_is_named(
    made: Made, target: object, other: object, name: str
) -> None:
    found = made.planted(made.program, target, other)
    assert [found.name(each) for each in found.pairs.faults] == [name]

    found = made.planted(made.core, target, other)  # there, no_grad's ops are in the main graph
    assert [found.name(each).rpartition(".")[2] for each in found.pairs.faults] == [
        name.rpartition(".")[2]
    ]


def test_the_op_of_a_no_grad_graph_is_named_against_a_decomposition(made: Made) -> None:
    found = made.planted(made.program, aten.cos.default, aten.sin.default, made.core)

    assert [found.name(each) for each in found.pairs.faults] == ["wrapped_func.cos"]


def test_a_weight_that_only_a_branch_reads_is_told_there(made: Made) -> None:
    broken = Nested()
    broken.load_state_dict(made.request.target.state_dict())
    with torch.no_grad():
        broken.up.weight.mul_(1.3)
    result = explorer.explore(broken, made.request.args)

    found = result.compare(made.program.exported.program)

    assert found.first == found.worst == "true_fn.linear"
    one, other, _ = found.tensors("true_fn.linear")
    assert not torch.equal(one, other)
    check_record(from_json(to_json(result.record)))


class Loop(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return scan(lambda c, y: (c * 0.9 + y, c.sin()), x[0], x)[0]


def test_how_many_turns_of_a_long_loop_were_compared_is_said() -> None:
    found = explorer.explore(Loop(), (torch.randn(70, 2),)).compare("bfloat16")

    assert found.ok, found.sentence
    assert [each for each in found.left_out if "first 64 of 70 calls" in each]


class Vmapped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(lambda row: (row * row).sin().sum())(x) + 1


def test_what_vmap_runs_is_said_to_be_left_out_and_no_level_of_it_stays() -> None:
    request = Request(target=Vmapped(), args=(torch.randn(3, 4),))
    attempt = capture(request)
    assert isinstance(attempt, Exported)
    record = describe(attempt)
    found = watch(attempt, record)
    assert [each for each in found.values.left_out if "vmap" in each]
    names = [record.strings[each] for each in record.graphs[0].name]
    assert found.tensor(attempt, names.index("_remove_batch_dim")).shape == (3,)

    program = copy_program(attempt.program)
    node = next(each for each in program.graph.nodes if each.target is aten.sin.default)
    node.target = aten.linalg_cholesky.default  # raises an error, in the middle of the level
    program.graph_module.recompile()
    broken = replace(attempt, program=program)
    with pytest.raises(RuntimeError, match="`sin`"):
        watch(broken, record)
    assert torch._C._functorch.maybe_current_level() is None


def test_an_op_after_the_last_that_has_a_partner_is_named(made: Made) -> None:
    program = copy_program(made.program.exported.program)
    graph = program.graph
    (last,) = next(iter(reversed(graph.nodes))).args[0]
    with graph.inserting_after(last):
        put = graph.call_function(aten.mul.Tensor, (last, 1.1))
    put.meta = dict(last.meta)
    last.replace_all_uses_with(put, delete_user_cb=lambda user: user is not put)
    program.graph_module.recompile()

    found = compare_values(made.run(replace(made.program.exported, program=program)), made.program)

    assert [found.name(each) for each in found.pairs.faults] == [put.name]


class Cancels(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, -x + 1e-4]).sum()


def test_a_sum_that_cancels_is_noise() -> None:
    found = explorer.explore(Cancels(), (torch.randn(64),)).compare("bfloat16")

    assert found.ok, found.sentence

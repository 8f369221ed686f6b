"""Two programs are compared by what they do."""

from __future__ import annotations

import copy
import operator

import pytest
import sympy
import torch
from torch import nn

from export_engine.verify.same_graph import difference, fingerprint


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.shape[0]


@pytest.fixture(scope="module")
def program() -> torch.export.ExportedProgram:
    batch = torch.export.Dim("batch")
    return torch.export.export(Scaled(), (torch.randn(4, 2),), dynamic_shapes={"x": {0: batch}})


def test_a_size_that_nobody_reads_is_no_difference(program: torch.export.ExportedProgram) -> None:
    changed = copy.deepcopy(program)
    size = next(each for each in changed.graph.nodes if isinstance(each.meta["val"], torch.SymInt))
    with changed.graph.inserting_before(size.next):
        half = changed.graph.call_function(operator.floordiv, (size, 2))
        half.meta["val"] = size.meta["val"] // 2
        changed.graph.call_function(operator.eq, (half, 3)).meta["val"] = half.meta["val"] == 3
    assert difference(program, changed) is None
    assert difference(changed, program) is None
    assert fingerprint(program) == fingerprint(changed)


def test_a_size_that_is_written_otherwise_is_no_difference() -> None:
    class Filled(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            n = x.shape[0]
            return x * (n * (n + 1))

    dims = {"x": {0: torch.export.Dim("batch")}}
    program = torch.export.export(Filled(), (torch.randn(4, 2),), dynamic_shapes=dims)
    for form, same in ((sympy.expand, True), (lambda size: size + 1, False)):
        changed = copy.deepcopy(program)
        (node,) = (n for n in changed.graph.nodes if "+ 1)" in str(n.meta.get("val")))
        size = node.meta["val"].node
        other = form(size.expr)
        assert str(other) != str(size.expr)
        node.meta["val"] = size.shape_env.create_symintnode(other, hint=size.hint)
        assert (difference(program, changed) is None) is same


@pytest.mark.after_check
def test_the_least_of_sizes_is_decided_where_they_cannot_be_negative() -> None:
    """As torch does once it loads a program."""

    class Filled(nn.Module):
        def forward(self, x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
            n, k = x.shape[0], count.item()
            return x * torch.sym_min(n + 4, 2 * n + 4) * torch.sym_min(k + 4, 2 * k + 4)

    dims = {"x": {0: torch.export.Dim.DYNAMIC}, "count": None}
    args = (torch.randn(5, 2), torch.tensor(3))
    program = torch.export.export(Filled(), args, dynamic_shapes=dims)
    for number, same in enumerate((True, False)):
        changed = copy.deepcopy(program)
        node = [each for each in changed.graph.nodes if each.target is torch.sym_min][number]
        node.meta["val"] = node.args[0].meta["val"]
        assert (difference(program, changed) is None) is same
        assert (difference(changed, program) is None) is same


def test_another_size_that_is_read_and_an_op_that_nobody_reads_are_one(
    program: torch.export.ExportedProgram,
) -> None:
    read = copy.deepcopy(program)
    (scaled,) = (each for each in read.graph.nodes if each.target is torch.ops.aten.mul.Tensor)
    with read.graph.inserting_before(scaled):
        more = read.graph.call_function(operator.add, (scaled.args[1], 1))
        more.meta["val"] = scaled.args[1].meta["val"] + 1
    scaled.args = (scaled.args[0], more)
    found = difference(read, program)
    assert found is not None
    assert "_operator.add" in found.text

    unread = copy.deepcopy(program)
    (placed,) = unread.graph.find_nodes(op="placeholder")
    with unread.graph.inserting_after(placed):
        unread.graph.call_function(torch.ops.aten.relu.default, (placed,)).meta = placed.meta
    assert difference(program, unread) is not None

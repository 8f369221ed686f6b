"""Verify compares forms of a program by the proof that a diff has."""

from __future__ import annotations

import copy
import operator

import pytest
import sympy
import torch
from torch import nn
from torch.export import ExportedProgram

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes
from export_engine.verify import Subject
from export_engine.verify.same_program import find_difference


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.shape[0]


def subject_of(model: nn.Module, *args: torch.Tensor, shapes: str = "x: batch, _") -> Subject:
    attempt = capture(Request(target=model, args=args, shapes=Shapes.parse(shapes)))
    assert isinstance(attempt, Exported)
    return Subject(attempt, describe(attempt), 0)


@pytest.fixture(scope="module")
def scaled() -> Subject:
    return subject_of(Scaled(), torch.randn(4, 2))


def test_a_size_that_nobody_reads_is_no_difference(scaled: Subject) -> None:
    changed = copy.deepcopy(scaled.program)
    size = next(each for each in changed.graph.nodes if isinstance(each.meta["val"], torch.SymInt))
    with changed.graph.inserting_before(size.next):
        half = changed.graph.call_function(operator.floordiv, (size, 2))
        half.meta["val"] = size.meta["val"] // 2
        changed.graph.call_function(operator.eq, (half, 3)).meta["val"] = half.meta["val"] == 3
    assert find_difference(scaled.exported, changed) is None


def test_a_size_that_nobody_reads_and_may_divide_by_zero_is_one(scaled: Subject) -> None:
    changed = copy.deepcopy(scaled.program)
    size = next(each for each in changed.graph.nodes if isinstance(each.meta["val"], torch.SymInt))
    with changed.graph.inserting_before(size.next):
        half = changed.graph.call_function(operator.floordiv, (2, size))
        half.meta["val"] = 2 // size.meta["val"]
    assert find_difference(scaled.exported, changed) is not None


@pytest.mark.parametrize(("dim", "same"), [(1, True), (5, False)])
def test_a_size_that_nobody_reads_is_of_a_dim_that_is_there(
    scaled: Subject, dim: int, same: bool
) -> None:
    changed = copy.deepcopy(scaled.program)
    size = next(each for each in changed.graph.nodes if isinstance(each.meta["val"], torch.SymInt))
    with changed.graph.inserting_after(size):
        other = changed.graph.call_function(torch.ops.aten.sym_size.int, (size.args[0], dim))
        other.meta["val"] = size.meta["val"]
    assert (find_difference(scaled.exported, changed) is None) is same


def test_a_size_that_is_written_otherwise_is_no_difference() -> None:
    class Filled(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            n = x.shape[0]
            return x * (n * (n + 1))

    subject = subject_of(Filled(), torch.randn(4, 2))
    for form, same in ((sympy.expand, True), (lambda size: size + 1, False)):
        changed = copy.deepcopy(subject.program)
        (node,) = (n for n in changed.graph.nodes if "+ 1)" in str(n.meta.get("val")))
        size = node.meta["val"].node
        other = form(size.expr)
        assert str(other) != str(size.expr)
        node.meta["val"] = size.shape_env.create_symintnode(other, hint=size.hint)
        assert (find_difference(subject.exported, changed) is None) is same


@pytest.mark.after_check
def test_the_least_of_sizes_is_decided_where_they_cannot_be_negative() -> None:
    """As torch does once it loads a program."""

    class Filled(nn.Module):
        def forward(self, x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
            n, k = x.shape[0], count.item()
            return x * torch.sym_min(n + 4, 2 * n + 4) * torch.sym_min(k + 4, 2 * k + 4)

    subject = subject_of(Filled(), torch.randn(5, 2), torch.tensor(3))
    for number, same in enumerate((True, False)):
        changed = copy.deepcopy(subject.program)
        node = [each for each in changed.graph.nodes if each.target is torch.sym_min][number]
        node.meta["val"] = node.args[0].meta["val"]
        assert (find_difference(subject.exported, changed) is None) is same


def test_another_size_that_is_read_and_an_op_that_nobody_reads_are_one(scaled: Subject) -> None:
    read = copy.deepcopy(scaled.program)
    (op,) = (each for each in read.graph.nodes if each.target is torch.ops.aten.mul.Tensor)
    with read.graph.inserting_before(op):
        more = read.graph.call_function(operator.add, (op.args[1], 1))
        more.meta["val"] = op.args[1].meta["val"] + 1
    op.args = (op.args[0], more)
    found = find_difference(scaled.exported, read)
    assert found is not None
    assert found.node == op.name

    unread = copy.deepcopy(scaled.program)
    placed = _placeholder(unread)
    with unread.graph.inserting_after(placed):
        unread.graph.call_function(torch.ops.aten.relu.default, (placed,)).meta = placed.meta
    assert find_difference(scaled.exported, unread) is not None


def _placeholder(program: ExportedProgram) -> torch.fx.Node:
    (found,) = program.graph.find_nodes(op="placeholder")
    return found

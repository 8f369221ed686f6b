"""`ex.cost()`: what a program costs, as text and as numbers."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import explorer


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(4, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.up(x)
        return h.relu() @ h.mT


@pytest.fixture(scope="module")
def exported() -> explorer.Exploration:
    return explorer.explore(Net(), (torch.randn(2, 3, 4),), dynamic_shapes="x: batch, seq, _")


def test_costs_are_printed_as_formulas_and_numbers(exported: explorer.Exploration) -> None:
    text = repr(exported.cost())
    assert "16*batch*seq**2 + 72*batch*seq" in text
    assert "At batch=2, seq=3:" in text
    assert "parameters               40, weights 160 B" in text
    assert "test_costing.py" in text
    assert "return h.relu() @ h.mT" in text


def test_a_file_costs_the_same(exported: explorer.Exploration, tmp_path: Path) -> None:
    exported.save(tmp_path / "net.pt2")
    loaded = explorer.load(tmp_path / "net.pt2", model="model")
    assert loaded.cost().flops == exported.cost().flops
    assert loaded.cost().at(batch=5, seq=7) == exported.cost().at(batch=5, seq=7)


def test_the_next_size_at_which_another_op_leads_is_printed() -> None:
    ex = explorer.explore(Net(), (torch.randn(2, 3, 4),), dynamic_shapes="x: batch, seq, _")
    assert "matmul does more FLOPs than linear from seq=5" in repr(ex.cost())


def test_sizes_that_the_program_rejects_cost_nothing() -> None:
    ex = explorer.explore(Net(), (torch.randn(2, 3, 4),), dynamic_shapes="x: batch[..8], seq, _")
    with pytest.raises(ValueError, match=r"accepts batch from \d to 8, not 9"):
        ex.cost().at(batch=9)


def test_lines_and_modules_add_up(exported: explorer.Exploration) -> None:
    cost = exported.cost()
    assert sum(cost.by_module().values()) == cost.flops
    assert sum(cost.by_line().values()) == cost.flops
    assert set(cost.by_module(1)) == {"", "up"}


def test_a_failure_costs_nothing_that_is_known() -> None:
    failed = explorer.explore(lambda x: x.item() > 0 and x, (torch.ones(2),))
    with pytest.raises(explorer.errors.ExportFailed):
        _ = failed.cost()

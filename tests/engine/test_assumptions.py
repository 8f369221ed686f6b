"""Assumptions of a ShapesSpec are told from conditions of the code, which have their line."""

from __future__ import annotations

import pytest
import torch

from explorer import explore
from export_engine.record import Record
from export_engine.torch_internals import missing_shapes_spec

pytestmark = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)


class Grouped(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._check(x.shape[0] != 77)
        return x.view(x.shape[0], 16, -1).sum(1)


def grouped(assumptions: str, strict: bool = False) -> Record:
    ex = explore(
        Grouped(),
        (torch.randn(4, 32),),
        dynamic_shapes=f"x: batch, seq{assumptions}",
        strict=strict,
    )
    assert ex.ok
    return ex.record


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "assumptions",
    [
        ["seq % 16 == 0"],
        ["seq % 16 == 0", "batch + seq <= 512", "min(batch, 9) > 3"],
        ["batch < seq", "seq % 16 == 0", "3*batch != seq // 2 + 7"],
    ],
    ids=len,
)
def test_an_assumption_is_not_a_condition_of_the_code(assumptions: list[str], strict: bool) -> None:
    record = grouped("".join(f"; {each}" for each in assumptions), strict)

    assumed = [each for each in record.guards if each.asked_by == "dynamic_shapes"]
    assert len(assumed) == len(assumptions)
    assert "seq % 16 == 0" in [each.text for each in assumed]
    asked = [each for each in record.guards if each.asked_by != "dynamic_shapes"]
    assert "batch != 77" in [each.text for each in asked]


def test_a_size_that_an_op_rejects_is_a_rule_with_its_line() -> None:
    record = grouped("; seq % 16 == 0")

    (rule,) = [each for each in record.probe.rules if each.text == "batch != 0"]
    guard = record.guards[rule.guard]
    assert guard.asked_by == "aten.view.default"
    frame = record.stacks.items[record.stacks.starts[rule.stack + 1] - 1]
    assert record.frames.line[frame] == Grouped.forward.__code__.co_firstlineno + 2

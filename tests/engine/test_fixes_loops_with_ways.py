"""Loops whose branch is a torch.cond by now: over the nodes of a graph, the labels of a mask."""

from __future__ import annotations

import ast

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.liveness import follow
from export_engine.fixes.code.editing.text_edits import Source
from export_engine.fixes.code.loops.loop_parts import loop_at
from export_engine.fixes.code.loops.loop_to_scan import as_scan
from export_engine.shapes import Shapes
from tests.torch_limits import needs_numbers


class Neighbours(nn.Module):
    def forward(self, x: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        out = []
        for node in range(x.size(0)):
            others = edges[0][edges[1] == node]
            if others.numel() == 0:
                out.append(x[node] * 0)
            else:
                out.append(x[others].mean(0))
        return torch.stack(out)


class MeansOfRows(nn.Module):
    """A number of rows holds where it is not 0."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        out = []
        for i in range(x.size(0)):
            rows = x[i][mask[i]]
            out.append(rows.mean(0) if rows.size(0) else x.new_ones(x.size(-1)))
        return torch.stack(out)


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_rows_that_a_mask_selects_are_a_scan(strict: bool) -> None:
    model, shapes = MeansOfRows(), Shapes.parse("x: n, m, _; mask: n, m")
    args = (torch.randn(3, 5, 4), torch.tensor([[1, 0, 1, 1, 0]] * 2 + [[0] * 5]).bool())
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "as a scan" in report.sentence
    program = report.attempt.program.module()
    for rows, columns in ((2, 7), (4, 2), (3, 3)):
        given = torch.randn(rows, columns, 4), torch.rand(rows, columns) > 0.6
        torch.testing.assert_close(program(*given), model(*given))
    given = torch.randn(2, 3, 4), torch.zeros(2, 3, dtype=torch.bool)
    torch.testing.assert_close(program(*given), model(*given))


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_loop_over_nodes_with_a_branch_is_a_scan(strict: bool) -> None:
    model, shapes = Neighbours(), Shapes.parse("x: n, _; edges: _, e")
    args = (torch.randn(5, 4), torch.tensor([[0, 1, 2, 3, 4, 0], [1, 1, 0, 0, 2, 3]]))
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "as a scan" in report.sentence
    program = report.attempt.program.module()
    for rows, edges in (
        (3, [[0, 1], [1, 1]]),
        (2, [[0, 1, 1], [1, 0, 0]]),
        (7, [[6, 5, 4, 3, 2, 1, 0, 0], [0, 0, 0, 0, 0, 0, 6, 1]]),
    ):
        given = torch.randn(rows, 4), torch.tensor(edges)
        torch.testing.assert_close(program(*given), model(*given))


LOOP = """import torch
def f(x, m, n, out):
    for i in range(n):
        def {name}():
            return x[m == 1].sum()
        y = torch.cond({asked}, {name}, {name}, ())
        out.append(y)
    return torch.stack(out)
"""


def test_only_functions_that_are_ways_of_a_cond_may_stand_in_a_loop() -> None:
    text = LOOP.format(name="_then", asked="x[m == i].sum() > 0").replace(
        "    for i", "    out = []\n    for i"
    )
    made = as_scan(text, 4).text
    assert "x[m == i]" in made
    assert "torch.arange(n)" in made
    source = Source(LOOP.format(name="helper", asked="m.any()"), 3)
    with pytest.raises(Unclear):
        loop_at(source, 3)
    with pytest.raises(Unclear, match="in another way"):
        as_scan(text.replace("m == i", "m * i"), 4)


def test_what_a_function_binds_is_its_own() -> None:
    body = ast.parse("def g(a):\n    b = a + c\n    return b\nb = g(d)").body
    live: set[str] = set()
    assert follow(body, set(), live, []) == {"g", "b"}
    assert live == {"c", "d"}


def test_a_list_may_share_its_name_with_one_of_another_function() -> None:
    text = """import torch
def f(x, n):
    def g(y):
        outs = y
        return outs
    outs = []
    for row in x:
        outs.append(row * 2)
    return g(torch.stack(outs))
"""
    assert "_scan(_step" in as_scan(text, 7).text
    with pytest.raises(Unclear):
        as_scan(text.replace("        outs = y\n", "        y = outs\n"), 7)

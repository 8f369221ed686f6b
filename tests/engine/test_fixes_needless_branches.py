"""Branches on data that only save work: rows are cut to the longest, values are clamped."""

from __future__ import annotations

import ast
import inspect
import sys

import pytest
import torch

from export_engine.attempt import Edit, Exported, Failed, Request
from export_engine.describe import describe
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.needless_branches import left_out
from export_engine.fixes.code.branches.needless_forms import does_nothing_else
from export_engine.fixes.code.branches.one_way import one_way
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.editing.eager_trials import agrees
from export_engine.shapes import Shapes
from export_engine.verify import verify
from tests.torch_limits import LOSES_NUMBERS

TOKENS = torch.tensor([[1, 2, 3, 0, 0], [4, 5, 0, 0, 0]])


class CutsToTheLongest(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(20, 4)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        lengths = (tokens != 0).sum(1)
        h = self.embedding(tokens)
        if int(lengths.max()) < tokens.shape[1]:
            h = h[:, : int(lengths.max())]
        return h.cumsum(1)


class Clamps(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.max() > 1:
            x = x.clamp(max=1)
        return x * 2


class Scales(torch.nn.Module):
    """No way of its branch is right for all data."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.max() > 1:
            x = x / 2
        return x * 2


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_rows_are_cut_to_the_longest_without_a_branch(strict: bool) -> None:
    model, shapes = CutsToTheLongest().eval(), Shapes.parse("tokens: batch, seq")
    report = autofix(Request(target=model, args=(TOKENS,), shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    # torch 2.15 leads to a torch.cond by the number of the longest, in non-strict mode
    assert LOSES_NUMBERS or "Always take the branch in line" in report.sentence
    assert not any(step.fix.lossy or step.fix.narrows for step in report.kept)
    for tokens in (TOKENS, torch.randint(1, 20, (3, 7)), torch.randint(0, 2, (2, 4))):
        torch.testing.assert_close(report.attempt.program.module()(tokens), model(tokens))
    found = verify(report.attempt, describe(report.attempt), 4)
    assert not found.broken, str(found)


class Shortens(torch.nn.Module):
    """Short vectors stay: of the sizes tried, only no rows are short, which shows nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.norm() > 0.1:
            x = x / x.norm()
        return x


class Adds(torch.nn.Module):
    """Where all are 0 it adds 0, which shows nothing."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        length = (x != 0).sum()
        if length < x.shape[0]:
            x = x + length
        return x


def titles(model: torch.nn.Module, shapes: Shapes | None = None) -> list[str]:
    request = Request(target=model, args=(torch.tensor([0.5, 3.0]),), shapes=shapes)
    first = autofix(request).first
    assert isinstance(first, Failed)
    return [each.title for each in first.fixes]


@pytest.mark.slow
def test_a_way_is_always_taken_only_where_both_give_the_same() -> None:
    assert any(each.startswith("Always take the branch") for each in titles(Clamps()))
    assert not any("take the branch" in each for each in titles(Scales()))
    assert not any("take the branch" in each for each in titles(Adds()))
    assert not any("take the branch" in each for each in titles(Shortens(), Shapes.parse("x: n")))


class CutsToTheBest(torch.nn.Module):
    """Both ways agree where at most one row is kept, which is often so."""

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        rows = (scores > 0.6).nonzero().squeeze(1)
        if rows.numel() > 4:
            rows = rows[scores[rows].argsort(descending=True)[:4]]
        return boxes[rows]


@pytest.mark.slow
def test_ways_that_agree_by_chance_are_not_taken_for_the_same() -> None:
    text = inspect.getsource(sys.modules[__name__])
    line = text.splitlines().index("        if rows.numel() > 4:") + 1
    made, probe = one_way(text, line, True), left_out(text, line)
    for seed in range(20):
        torch.manual_seed(seed)
        request = Request(
            target=CutsToTheBest(),
            args=(torch.rand(6, 4), torch.rand(6)),
            shapes=Shapes.parse("boxes: n, _; scores: n"),
        )
        edit = Edit(__file__, text, made.text, (made.function,))
        probes = (Edit(__file__, text, probe, (made.function,)),)
        assert not agrees(request, edit, probes, fewest=4), seed


def test_the_way_that_is_left_out_must_have_been_tried() -> None:
    text = "def f(x):\n    if x.any():\n        x = x[:1]\n    return x\n"
    names: dict[str, object] = {}
    exec(compile(left_out(text, 2), "probe.py", "exec"), names)
    assert names["f"](torch.ones(3)).shape == (1,)  # type: ignore[operator]
    with pytest.raises(LookupError):
        names["f"](torch.zeros(3))  # type: ignore[operator]
    with pytest.raises(Unclear):
        left_out("def f(x):\n    return x\n", 2)


@pytest.mark.parametrize(
    "loop",
    [
        "while True:\n        if x.any():\n            break\n        x = x + 1",
        "while n > 0:\n        if x.any():\n            n = n - 1",
        "for i in count():\n        if x.any():\n            return x\n        x = x + i",
    ],
)
def test_a_branch_that_may_end_a_loop_stays(loop: str) -> None:
    text = f"def f(x, n):\n    {loop}\n    return x\n"
    for taken in (True, False):
        with pytest.raises(Unclear):
            one_way(text, 3, taken)


NEEDLESS = """
if int(n.max()) < x.shape[1]: x = x[:, : int(n.max())]
if x.size(1) >= n: x = x[:, :n.item()]
if len(x) > k: x = x[:k]
if k < y.numel(): x = x[..., :k]
if x.max() > 1: x = x.clamp(max=1)
if x.max().item() >= c: x.clamp_(max=c)
if torch.amax(x) > c: x = torch.minimum(x, c)
if x.min() < 0: x = torch.clamp(x, min=0)
if mask.any(): x = x.masked_fill(mask, 0.0)
if torch.any(mask): x[mask] = 0
if not mask.all(): x = x.masked_fill(~mask.unsqueeze(-1), 0.0)
if not keep.all().item(): x = torch.where(~keep[:, None], 0.0, x)
"""
NEEDED = """
if len(i) > 0: x = x[i[0] : i[-1] + 1]
if len(i) > 4: i = i[s[i].argsort()[:4]]
if n < x.shape[1]: x = x[:, n:]
if n < x.shape[1]: x = x[:, : n - 1]
if n < x.shape[1]: x = y[:, :n]
if n < limit: x = x[:, :n]
if n > x.shape[1]: x = x[:, :n]
if x.max() > 1: x = x.clamp(min=1)
if x.max() > 1: x = x.clamp(0, 1)
if x.max() > 1: x = x / 2
if x.max(0) > 1: x = x.clamp(max=1)
if y.max() > 1: x = x.clamp(max=1)
if mask.any(): x = x.masked_fill(other, 0.0)
if mask.any(): x = x.masked_fill(~mask, 0.0)
if mask.all(): x = x.masked_fill(mask, 0.0)
if mask.any(): x = torch.where(mask, x, 0.0)
if mask.any(): x[mask] = x.mean(), y
if coef < 1: x = x * coef
if x.isnan().any(): x = torch.nan_to_num(x)
"""


@pytest.mark.parametrize("code", NEEDLESS.strip().splitlines())
def test_what_only_saves_work_is_known_by_its_form(code: str) -> None:
    (branch,) = ast.parse(code).body
    assert isinstance(branch, ast.If)
    assert does_nothing_else(branch)
    (twice,) = ast.parse(f"{code}\nelse: x = x + 1").body
    assert isinstance(twice, ast.If)
    assert not does_nothing_else(twice)


@pytest.mark.parametrize("code", NEEDED.strip().splitlines())
def test_what_may_differ_on_data_that_was_not_tried_stays(code: str) -> None:
    (branch,) = ast.parse(code).body
    assert isinstance(branch, ast.If)
    assert not does_nothing_else(branch)

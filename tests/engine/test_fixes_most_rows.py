"""Cuts to the best rows where there are too many: the detections that are kept."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.most_rows import cut_to_the_best
from export_engine.shapes import Shapes


class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.most = 3

    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        kept = scores > 0.5
        boxes, scores = boxes[kept], scores[kept]
        if scores.shape[0] > self.most:
            scores, index = scores.topk(self.most)
            boxes = boxes[index]
        return torch.cat([boxes, scores[:, None]], 1)


class Sorts(nn.Module):
    def forward(self, boxes: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        rows = torch.nonzero(scores > 0.5).squeeze(1)
        scores = scores[rows]
        if len(scores) > 4:
            order = scores.argsort(descending=True)[:4]
            rows = rows[order]
        return boxes[rows]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Keeps, Sorts])
def test_the_best_rows_are_selected_only_where_there_are_too_many(
    kind: type[nn.Module], strict: bool
) -> None:
    model, shapes = kind(), Shapes.parse("boxes: n, _; scores: n")
    args = (torch.rand(12, 4), torch.rand(12))
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Select the indices of the rows" in report.sentence
    program = report.attempt.program.module()
    for many in range(7):  # in no order, so that few rows are seen to keep theirs
        scores = torch.cat([torch.full((2,), 0.1), 0.6 + torch.rand(many) / 4])
        given = torch.rand(many + 2, 4), scores
        assert torch.equal(program(*given), model(*given))


CUT = """import torch
def f(x, s, k):
    if {test}:
        {best}
        {more}
    {other}
    return x, s
"""
GIVEN = {
    "test": "len(s) > k",
    "best": "s, i = s.topk(k)",
    "more": "x = x[i]",
    "other": "x = x * 1",
}


@pytest.mark.parametrize(
    "changes",
    [
        {"test": "len(s) >= k"},
        {"test": "len(s) > 2 * k"},
        {"test": "len(x) > k"},
        {"best": "s, i = s.topk(k, largest=False)"},
        {"best": "s, i = s.topk(5)"},
        {"best": "i = s.argsort()[:k]"},
        {"best": "t, i = s.topk(k)"},
        {"more": "x = x[i] + 1"},
        {"more": "x = s[i]"},
        {"more": "x = x[i]\n        s = s[i]"},
        {"other": "x = x + i"},
        {"other": "else:\n        x = x * 2"},
    ],
)
def test_a_branch_that_does_more_than_to_cut_stays(changes: dict[str, str]) -> None:
    names: dict[str, object] = {}
    theirs: dict[str, object] = {}
    exec(cut_to_the_best(CUT.format_map(GIVEN), 3).text, names)
    exec(CUT.format_map(GIVEN), theirs)
    for rows in range(1, 6):
        s = torch.rand(rows)
        ours, expected = (each["f"](s * 2, s, 3) for each in (names, theirs))  # type: ignore[operator]
        assert all(map(torch.equal, ours, expected))
    with pytest.raises(Unclear):
        cut_to_the_best(CUT.format_map(GIVEN | changes), 3)

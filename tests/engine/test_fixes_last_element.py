"""Loops that compare an element with the last one: greedy CTC decoding, runs without repeats."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.loops.last_element import beside_the_last
from export_engine.shapes import Shapes


class BestPath(nn.Module):
    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        best = scores.argmax(-1).tolist()
        out, last = [], -1
        for label in best:
            if label != last:  # noqa: SIM102 - two tests, as some write them
                if label != 0:
                    out.append(label)
            last = label
        return torch.tensor(out, dtype=torch.long)


class Untyped(nn.Module):
    """Without a label its tensor is one of floats."""

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        out, last = [], None
        for label in scores.argmax(-1).tolist():
            if label != last and label != 0:
                out.append(label)
            last = label
        return torch.tensor(out)


def scores_of(labels: list[int]) -> torch.Tensor:
    return nn.functional.one_hot(torch.tensor(labels, dtype=torch.long), 4).float()


LABELS = [[0, 1, 1, 2, 0, 2, 2], [3], [1, 1, 1], [0, 0, 3, 3, 1, 3], [2, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_repeats_are_left_out_by_a_mask(strict: bool) -> None:
    model, shapes = BestPath(), Shapes.parse("scores: time, _")
    report = autofix(
        Request(target=model, args=(scores_of(LABELS[0]),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Select what the test" in report.sentence
    assert not any(each.fix.narrows for each in report.kept)
    program = report.attempt.program.module()
    for labels in [*LABELS, [0, 0]]:
        assert torch.equal(program(scores_of(labels)), model(scores_of(labels)))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_an_empty_list_that_becomes_floats_is_rejected(strict: bool) -> None:
    model, shapes = Untyped(), Shapes.parse("scores: time, _")
    first = autofix(
        Request(target=model, args=(scores_of(LABELS[0]),), shapes=shapes, strict=strict)
    ).first
    assert isinstance(first, Failed)
    (fix,) = (each for each in first.fixes if each.title.startswith("Select what the test"))
    assert fix.narrows
    assert "of which nothing is kept" in fix.gives_up
    assert isinstance(fix.leads_to, Exported)
    program = fix.leads_to.program.module()
    for labels in LABELS:
        assert torch.equal(program(scores_of(labels)), model(scores_of(labels)))
    nothing = scores_of([0, 0])
    assert model(nothing).is_floating_point()
    with pytest.raises(RuntimeError):
        program(nothing)


LOOP = """import torch
def f(x, out):
    {start}
    for e in x:
        {before}
        if e != last:
            out.append(e)
        {then}
    return out{rest}
"""


@pytest.mark.parametrize(
    ("changes", "pairs"),
    [
        ({}, True),
        ({"start": "last = None"}, True),
        ({"start": "last = 0.5"}, False),
        ({"start": "last = x[0]"}, False),
        ({"then": "last = e + 1"}, False),
        ({"then": "last = e\n        last = last"}, False),
        ({"before": "e = e + 1"}, False),
        ({"before": "if e == 3:\n            continue"}, False),
        ({"start": "last = None", "before": "y = last is None"}, False),
        ({"rest": ", last"}, False),
    ],
)
def test_only_the_element_before_becomes_one_of_a_pair(
    changes: dict[str, str], pairs: bool
) -> None:
    given = {"start": "last = -1", "before": "pass", "then": "last = e", "rest": ""}
    text = LOOP.format_map(given | changes)
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "if e != last" in each)
    made = beside_the_last(text, line)
    assert ("for e, last in zip(" in made.text) == pairs
    if pairs:
        for rows in ([], [0], [1, 1, 2], [0, 0, 0, 5, 0], [-1, -1]):
            names: dict[str, object] = {}
            theirs: dict[str, object] = {}
            exec(made.text, names)
            exec(text, theirs)
            x = torch.tensor(rows, dtype=torch.long)
            assert names["f"](x, []) == theirs["f"](x, [])  # type: ignore[operator]

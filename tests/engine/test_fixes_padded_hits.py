"""Rows that are read where there are any, as the end of a sequence: both ways are computed."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.padded_hits import hits_padded
from export_engine.shapes import Shapes

from .test_fixes_code import defined

FORMS = {
    "number": """
        hits = (x[:, 0] > 0).nonzero()
        n = x.shape[0]
        if hits.numel() > 0:
            n = hits[0].item()
        return x * (torch.arange(x.shape[0]) < n).unsqueeze(1)
    """,
    "last": """
        hits = (x[:, 0] > 0).nonzero()
        end = hits[-1].item() + 1 if len(hits) else 0
        return x * (torch.arange(x.shape[0]) < end).unsqueeze(1)
    """,
    "tensor": """
        hits = torch.where(x[:, 0] > 0)[0]
        if not hits.numel():
            first = torch.tensor(-1)
        else:
            first = hits[0]
        return first * 2
    """,
    "row": """
        kept = x[x[:, 0] > 0]
        if kept.shape[0] >= 2:
            row = kept[1] * 3
        else:
            row = x.sum(0)
        return row - 1
    """,
    "both_ends": """
        hits = (x[:, 0] > 0).nonzero()[:, 0]
        span = hits[-1] - hits[0] + 1 if hits.numel() else torch.tensor(0)
        return span * 2
    """,
    "trimmed": """
        hits = (x[:, 0] > 0).nonzero()
        if len(hits) == 0:
            return x
        start, end = hits[0, 0], hits[-1, 0] + 1
        return x[start:end]
    """,
}
CHOICE = """
    hits = (x[:, 0] > 0).nonzero()
    step = hits[1] if len(hits) > 1 else hits[0]
    return x[0] * step
"""
KEPT = {
    "more rows than the test asks for": "y = h[2] if len(h) > 1 else x[0]",
    "may not be there": "y = h[1] if len(h) > 0 else x[0]",
    "otherwise than by": "y = h.sum() if len(h) > 0 else x[0]",
    "at least": "y = h[0] if len(h) == 3 else x[0]",
    "a few rows": "y = h[0] if len(h) > 99 else x[0]",
    "divides": "y = 6 // h[0].item() if len(h) > 0 else 0",
    "does not count": "y = h[0] if h.sum() else x[0]",
    "more than one comparison": "y = h[0] if 0 < len(h) < 3 else x[0]",
    "reads no row": "y = x[1] if len(h) > 0 else x[0]",
    "only where it is chosen": "y = x.any() and (h[1] if len(h) > 1 else h[0])",
}


def _same(program: Any, model: Any, x: torch.Tensor) -> None:
    torch.testing.assert_close(program(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_rows_that_need_not_be_there_are_read_of_a_padded_tensor(form: str, strict: bool) -> None:
    if form == "trimmed" and torch.__version__.startswith("2.15."):
        pytest.skip("torch 2.15 loses track of an index from data within torch.cond")
    model, _ = defined(FORMS[form], f"hits_{form}_{strict}")
    x = torch.tensor([[-1.0, 2.0], [1.0, 3.0], [2.0, 4.0], [-2.0, 5.0]])
    shapes = Shapes.parse("x: n, _")
    report = autofix(Request(target=model, args=(x,), shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Pad the rows" in report.sentence
    assert not any(step.fix.lossy for step in report.kept)
    program = report.attempt.program.module()
    for n in (2, 3, 7):
        alike = torch.ones(n, 2)
        for each in (torch.randn(n, 2), alike, -alike, x[:n]):
            _same(program, model, each)


@pytest.mark.slow
def test_a_row_that_the_other_way_reads_has_to_be_there() -> None:
    model, _ = defined(CHOICE, "hits_choice")
    x = torch.tensor([[1.0, 2.0], [1.0, 3.0], [-2.0, 5.0]])
    report = autofix(Request(target=model, args=(x,)))
    assert isinstance(report.attempt, Exported), report.sentence
    assert not any(step.fix.lossy for step in report.kept)
    program = report.attempt.program.module()
    _same(program, model, x)
    _same(program, model, x.flip(0))
    _same(program, model, x - torch.tensor([[0.0], [4.0], [0.0]]))
    with pytest.raises(RuntimeError):  # as in eager
        program(-x.abs())


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_program_that_takes_one_way_only_is_not_offered_as_taking_both(strict: bool) -> None:
    body = """
        hits = (x[:, 0] > 0).nonzero()
        if hits.shape[0] == 0:
            return x.sum(0)
        return x.sum(0) / hits[0, 0]
    """
    model, _ = defined(body, "hits_divided")
    example = torch.tensor([[-1.0, 2.0], [1.0, 3.0]])
    report = autofix(Request(target=model, args=(example,), strict=strict))
    if isinstance(report.attempt, Exported):  # torch may come to keep the ways apart
        _same(report.attempt.program.module(), model, -example.abs())
    else:
        assert "Your decision: Assume" in report.sentence


def test_rows_from_both_ends_are_read_of_two_tensors() -> None:
    text = "import torch\n\ndef f(h):\n    y = h[0] - h[-2] if len(h) > 1 else 1\n    return y\n"
    made = hits_padded(text, 4)[0].text
    assert "_h_padded = torch.cat([h, h.new_zeros((1, *h.shape[1:]))])" in made
    assert "_h_padded_in_front = torch.cat([h.new_zeros((2, *h.shape[1:])), h])" in made
    assert "y = _h_padded[0] - _h_padded_in_front[-2] if h.shape[0] >= 2 else 1" in made


@pytest.mark.parametrize("said", KEPT)
def test_what_the_test_does_not_guard_is_kept(said: str) -> None:
    text = f"import torch\n\ndef f(x, h):\n    {KEPT[said]}\n    return y\n"
    said = "may not be there" if said.startswith("more rows") else said
    with pytest.raises(Unclear, match=said):
        hits_padded(text, 4)


def test_elements_are_still_what_is_counted() -> None:
    text = "import torch\n\ndef f(h):\n    y = h[0] if h.numel() > 0 else 1\n    return y\n"
    made, line = hits_padded(text, 4)
    assert made.text.split("\n")[line - 1] == "    y = _h_padded[0] if h.numel() >= 1 else 1"

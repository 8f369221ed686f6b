"""Loops that add up what a test on data keeps, over a length that stays dynamic."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loops_of_choices import kept_in_scan
from export_engine.shapes import Shapes

from .test_fixes_code import defined

X = torch.tensor([[1.0, 2.0, 3.0], [-1.0, 0.5, 2.0], [2.0, 1.0, 0.0], [-3.0, 1.0, 4.0]])
KEEPS = {
    "adds": """
        total = torch.zeros(3)
        for i in range(x.shape[0]):
            if s[i] > 0:  # keep
                total = total + x[i]
        return total
    """,
    "adds_and_counts": """
        total, count = torch.zeros(3), torch.zeros(())
        for i in range(x.shape[0]):
            if s[i] > 0:  # keep
                total += x[i]
                count += 1
        return total / count.clamp(min=1)
    """,
    "has_an_else": """
        total = torch.zeros(3)
        for row, score in zip(x, s):
            if score > 0:  # keep
                total = total + row
            else:
                total = total - row
        return total
    """,
    "continues": """
        total = torch.zeros(3)
        for i in range(x.shape[0]):
            if s[i] <= 0:  # keep
                continue
            total = total * 0.5 + x[i]
        return total
    """,
}
STAYS = {
    "outside": (
        "total = x.sum()\nif s[0] > 0:  # keep\n    total = total + 1\nreturn total",
        "loop",
    ),
    "another_effect": (
        "total = x.sum()\nfor i in range(x.shape[0]):\n    if s[i] > 0:  # keep\n"
        "        print(total)\nreturn total",
        "more than",
    ),
}


def _model(body: str, name: str) -> tuple[Any, str]:
    return defined(f"s = x[:, 0]\n{textwrap.dedent(body)}", name)


@pytest.mark.slow
@pytest.mark.parametrize("form", KEEPS)
def test_what_a_test_on_data_adds_is_selected_in_a_scan(form: str) -> None:
    model, _ = _model(KEEPS[form], f"keeps_{form}")
    report = autofix(Request(target=model, args=(X,), shapes=Shapes.parse("x: n, _")))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "rewrite its loop as a scan" in report.sentence
    assert not any(step.fix.lossy for step in report.kept)
    program = report.attempt.program.module()
    for n in (2, 4, 7):
        alike = torch.ones(n, 3)
        for x in (torch.randn(n, 3), alike, -alike, alike * torch.nan):
            torch.testing.assert_close(program(x), model(x), equal_nan=True)


@pytest.mark.parametrize("case", STAYS)
def test_a_choice_that_no_scan_holds_is_kept(case: str) -> None:
    body, said = STAYS[case]
    _, text = _model(body, f"stays_{case}")
    line = next(n for n, each in enumerate(text.split("\n"), 1) if "# keep" in each)
    with pytest.raises(Unclear, match=said):
        kept_in_scan(text, line)


@pytest.mark.slow
def test_a_loop_of_a_fixed_length_is_no_scan() -> None:
    model, _ = _model(
        "for i in range(4):\n    if s[i] > 0:\n        x = x + s[i]\nreturn x", "fixed_length"
    )
    report = autofix(Request(target=model, args=(X,), shapes=Shapes.parse("x: _, n")))
    assert "as a scan" not in report.sentence


@pytest.mark.slow
def test_a_sum_that_is_a_number_while_nothing_is_kept_is_no_scan() -> None:
    model, _ = _model(
        "total = 0\nfor i in range(x.shape[0]):\n    if s[i] > 0:\n        total = total + x[i]\n"
        "return total",
        "number_first",
    )
    report = autofix(Request(target=model, args=(X,), shapes=Shapes.parse("x: n, _")))
    assert "rewrite its loop as a scan" not in report.sentence

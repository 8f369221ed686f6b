"""Fixes after a fix of the code name the lines that the user wrote."""

from __future__ import annotations

import pytest
import torch

from export_engine.attempt import Edit, Exported, Request, line_before
from export_engine.fixes import autofix

from .test_fixes_code import defined

BODY = """
        x = torch.stack([row * 2 for row in x if row[0] > -100])
        if x.sum() > 0:  # which
            x = x * 2
        else:
            x = x * 3
        return x
"""


@pytest.mark.slow
def test_a_title_names_the_lines_of_the_users_text() -> None:
    model, text = defined(BODY, "own_lines_of_titles")
    lines = text.splitlines()
    first = next(n for n, each in enumerate(lines, 1) if "for row" in each)
    report = autofix(Request(target=model, args=(torch.randn(5, 3),)))
    assert isinstance(report.attempt, Exported)
    titles = [step.fix.title for step in report.kept]
    assert titles == [f"Rewrite lines {first} and {first + 1} with torch.where"]


def test_lines_of_a_changed_text_are_those_that_they_were_made_from() -> None:
    edit = Edit("m.py", "a\nb\nc\nd\n", "new\na\nb1\nb2\nb3\nd\n", ())
    assert [line_before(edit, line) for line in range(1, 7)] == [1, 1, 2, 3, 3, 4]

"""Lists that a test on data fills: tensors of what a mask selects, which compute the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.kept_rows import kept_by_mask
from export_engine.shapes import Shapes

from .test_fixes_code import defined

FORMS = {
    "rows": """
        keep = []
        for i in range(x.shape[0]):
            if x[i, 0] > 0:  # which
                keep.append(x[i])
        return torch.stack(keep) if keep else x[:0]
    """,
    "both_ways": """
        up, down = [], []
        for n, row in enumerate(x):
            if row[0] > 0 and row[1] < 1:  # which
                up.append(row[:2] * 2)
            else:
                down.append(n)
        if not up:
            return torch.zeros(0, 2), x[down]
        return torch.stack(up, dim=0), x[down]
    """,
    "indices": """
        keep = [i for i in range(x.shape[0]) if x[i, 0] > 0]  # which
        return x[keep], len(keep)
    """,
    "by_number": """
        flags = (x[:, 0] > 0).long()
        keep = [row for row, flag in zip(x, flags) if flag]  # which
        return torch.stack(keep) if keep else x[:0]
    """,
    "continues": """
        keep = []
        for row, other in zip(x, x * 2):
            if (other[0] <= 0).item():  # which
                continue
            keep.append(row)
        if len(keep) == 0:
            return x[:0]
        return torch.stack(keep)
    """,
    "with_a_state": """
        keep = []
        before = x[0] * 0
        for row in x:
            h = self.up(row) + before
            if h.sum() > 0:  # which
                keep.append(h)
            before = row
        keep = torch.stack(keep) if len(keep) > 0 else x[:0]
        return keep * 2
    """,
    "per_row": """
        outs = []
        for row in x:
            keep = []
            for i in range(3):
                if row[i] > 0:  # which
                    keep.append(row[i] + i)
            outs.append(torch.stack(keep).sum() if keep else row[:0].sum())
        return torch.stack(outs)
    """,
}
ALONE = ["rows", "both_ways", "indices", "by_number", "continues"]
"""Whose loop does nothing but to select."""


def line_of(text: str) -> int:
    return next(n for n, each in enumerate(text.splitlines(), 1) if each.endswith("# which"))


@pytest.mark.parametrize(
    ("form", "at_once"), [*((form, False) for form in FORMS), *((form, True) for form in ALONE)]
)
def test_a_mask_selects_what_the_list_holds(form: str, at_once: bool) -> None:
    model, text = defined(FORMS[form], f"kept_{form}")
    if form == "continues":  # as the fix does it first
        text = text.replace("if (other[0] <= 0).item():", "if not (other[0] <= 0).item():")
        text = text.replace("                continue\n            keep", "                keep")
    made = kept_by_mask(text, line_of(text), at_once=at_once).made.text
    names: dict[str, Any] = {}
    exec(compile(made, "kept.py", "exec"), names)
    other = names["Model"]()
    other.load_state_dict(model.state_dict())
    for x in (torch.randn(5, 3), torch.rand(4, 3), -torch.rand(4, 3), torch.randn(1, 3)):
        torch.testing.assert_close(other(x), model(x))


REFUSED = {
    "returned": ("keep = []", "return keep", "in another way"),
    "first": ("keep = []", "return keep[0]", "in another way"),
    "begun": ("keep = [x[0]]", "return torch.stack(keep)", "empty list"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_list_that_no_tensor_can_be_is_left(case: str) -> None:
    begin, end, reason = REFUSED[case]
    body = f"""
        {begin}
        for row in x:
            if row.sum() > 0:  # which
                keep.append(row)
        {end}
    """
    _, text = defined(body, f"kept_{case}")
    with pytest.raises(Unclear, match=reason):
        kept_by_mask(text, line_of(text), at_once=False)


def fixed(body: str, name: str, x: torch.Tensor, shapes: str | None = None) -> Any:
    model, _ = defined(body, name)
    wanted = Shapes.parse(shapes) if shapes else None
    return autofix(Request(target=model, args=(x,), shapes=wanted)), model


@pytest.mark.slow
def test_rows_are_selected_without_the_loop_at_any_number_of_them() -> None:
    body = FORMS["rows"].replace("torch.stack(keep) if keep else x[:0]", "torch.stack(keep)")
    example = torch.randn(5, 3)
    example[0] = 1.0  # eager fails where no row is kept
    report, model = fixed(body, "kept_at_any_number", example, "x: n, _")
    assert [step.fix.title for step in report.kept] == [
        "Select what the test in line 13 keeps with a mask"
    ]
    program = report.attempt.program.module()
    for n in (2, 7):
        x = torch.randn(n, 3)
        x[0] = 1.0
        torch.testing.assert_close(program(x), model(x))
    with pytest.raises(RuntimeError):  # as eager, which stacks no empty list
        program(-torch.rand(4, 3))


@pytest.mark.slow
def test_what_an_empty_list_becomes_is_compared_before_its_test_is_dropped() -> None:
    other = FORMS["rows"].replace("x[:0]", "x * 2")
    report, model = fixed(other, "kept_or_all", torch.randn(5, 3))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "torch.cond" in report.kept[-1].fix.title
    for x in (torch.randn(5, 3), torch.rand(5, 3), -torch.rand(5, 3)):
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


ASKED = {
    "stacked": ("if len(keep) == 0:\n    return torch.ones(3)", "torch.stack(keep).mean(0)"),
    "summed": ("if not keep:\n    return torch.ones(3)", "sum(keep) / len(keep)"),
    "listed": ("if len(keep) < 1:\n    return torch.tensor(0.5)", "torch.tensor(keep).mean()"),
}


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("case", ASKED)
def test_what_is_done_for_an_empty_list_stays_where_it_is_another_value(
    case: str, strict: bool
) -> None:
    asked, value = ASKED[case]
    row = "row.sum()" if case == "listed" else "row / row.sum()"
    body = "keep = []\nfor row in x:\n    if row.sum() <= 0.5:\n        continue\n"
    body += f"    keep.append({row})\n{asked}\nreturn {value}"
    model, _ = defined(body, f"asked_{case}_{strict}")
    report = autofix(Request(target=model, args=(torch.rand(5, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for x in (torch.rand(5, 3), -torch.rand(5, 3), torch.randn(5, 3), torch.eye(5, 3)):
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.slow
def test_a_loop_that_computes_more_is_run_at_once_as_well() -> None:
    body = """
        keep = []
        for row in x:
            h = self.up(row)
            if h.sum() > -100:
                keep.append(h)
        return torch.stack(keep)
    """
    report, model = fixed(body, "kept_and_computed", torch.randn(5, 3), "x: n, _")
    assert isinstance(report.attempt, Exported)
    assert "torch.vmap" in report.kept[-1].fix.title
    program = report.attempt.program.module()
    for n in (2, 7):
        x = torch.randn(n, 3)
        torch.testing.assert_close(program(x), model(x))


LEFT_OVER = {
    "filtered": (
        "return torch.stack([row * 2 for row in x if row[0] > -100])",
        None,
    ),
    "run at once": ("return torch.stack([self.up(row) for row in x])", "x: n, _"),
    "kept in a list": (
        "keep = []\nfor row in x:\n    if row[0] > -100:\n        keep.append(row)\n"
        "return torch.stack(keep)",
        None,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", LEFT_OVER)
def test_no_list_is_begun_that_nothing_fills(case: str) -> None:
    body, shapes = LEFT_OVER[case]
    report, model = fixed(body, f"left_over_{case.replace(' ', '_')}", torch.randn(5, 3), shapes)
    assert isinstance(report.attempt, Exported)
    assert "= []" not in report.kept[-1].fix.edits[0].after
    x = torch.randn(5, 3)
    torch.testing.assert_close(report.attempt.program.module()(x), model(x))

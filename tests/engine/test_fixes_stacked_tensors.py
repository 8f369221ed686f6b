"""Tensors that torch.tensor makes of lists of tensors: the same, stacked."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.calls.stacked_tensors import stacked
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.shapes import Shapes
from tests.torch_limits import needs_numbers

from .test_fixes_code import defined

FORMS = (
    "torch.tensor([x.mean(), x.max()])",
    "torch.as_tensor([x.mean(), 1.0, x.max()])",
    "torch.tensor([[x[0].sum(), 2.0], [x[1].sum(), x.sum()]])",
    "torch.tensor([row.median() for row in x])",
    "torch.tensor([(row > 0).any() for row in x], dtype=torch.float64)",
    "torch.FloatTensor([x.mean(), x.max()])",
    "torch.LongTensor([x.argmax(), x.argmin()])",
)


@pytest.mark.parametrize("form", FORMS)
def test_a_stack_is_the_tensor_that_the_list_makes(form: str) -> None:
    text = f"import torch\ndef f(x):\n    return {form}\n"
    scope: dict[str, Any] = {}
    exec(stacked(text, 3).text, scope)
    x = torch.randn(3, 4, requires_grad=True)
    ours, theirs = scope["f"](x), eval(form, {"torch": torch, "x": x})
    assert ours.dtype is theirs.dtype
    assert ours.requires_grad is theirs.requires_grad
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0)


@pytest.mark.parametrize(
    "form",
    [
        *("torch.tensor(x)", "torch.tensor([x[0, 0]], requires_grad=True)", "list([x])"),
        *("torch.tensor((x[0, 0], x[0, 1]))", "torch.FloatTensor(2, 3)", "x.new_tensor([x[0, 0]])"),
    ],
)
def test_what_is_made_otherwise_is_kept(form: str) -> None:
    with pytest.raises(Unclear):
        stacked(f"import torch\ndef f(x):\n    return {form}\n", 3)


MASKED = """
    sums = []
    for i in range(x.shape[0]):
        sums.append(x[i][x[i] > 0].sum())
    return torch.tensor(sums)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param(MASKED, marks=needs_numbers),
        "return torch.tensor([row.median() for row in x])",
    ],
)
def test_the_number_of_rows_stays_dynamic(body: str) -> None:
    model, _ = defined(body, "makes_a_tensor_of_tensors")
    request = Request(target=model, args=(torch.randn(3, 4),), shapes=Shapes.parse("x: rows, _"))
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    assert report.sentence.startswith("It exports with 2 fixes: Make the tensor in line")
    for rows in (2, 5):
        x = torch.randn(rows, 4)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))

"""Indices that Python sorts by the numbers of a tensor: a stable argsort."""

from __future__ import annotations

import pytest
import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.fixes import autofix, explain
from export_engine.fixes.code.calls.sorted_by_data import sorted_by_torch
from export_engine.fixes.code.editing.conditions import Unclear

from .test_fixes_code import defined

FORMS = {
    "sorted(range(len(n)), key=lambda i: n[i])": "torch.argsort(n[:len(n)], stable=True)",
    "sorted(range(4), key=lambda i: -n[i].item())": "torch.argsort((-n)[:4], stable=True)",
    "sorted(range(4), key=lambda i: -int(n[i]))": "torch.argsort((-n.long())[:4], stable=True)",
    "sorted(range(4), key=lambda i: float(n[i]))": "torch.argsort(n[:4], stable=True)",
    "sorted(range(4), key=n.__getitem__, reverse=True)": (
        "torch.argsort(n[:4], descending=True, stable=True)"
    ),
}


@pytest.mark.after_check
@pytest.mark.parametrize("form", FORMS)
def test_the_order_is_pythons_also_of_equal_numbers(form: str) -> None:
    text = f"import torch\ndef f(n):\n    return {form}\n"
    made = sorted_by_torch(text, 3).text
    assert made == text.replace(form, FORMS[form])
    ours: dict[str, object] = {}
    exec(made, ours)
    for seed in range(20):
        torch.manual_seed(seed)
        n = torch.randint(0, 3, (4,)) * (1 if "int" not in form else 0.7)
        assert ours["f"](n).tolist() == eval(form, {"n": n})  # type: ignore[operator]


@pytest.mark.parametrize(
    "form",
    [
        *("sorted(n)", "sorted(range(1, 4), key=lambda i: n[i])", "sorted(range(4))"),
        *("sorted(range(4), key=lambda i: (n[i], i))", "sorted(range(4), key=lambda i: n[i + 1])"),
        *("sorted(range(4), key=lambda i: abs(n[i]))", "sorted(range(4), key=lambda i: str(n[i]))"),
        *("sorted(range(4), key=len)", "sorted(range(4), key=lambda i: n[i], reverse=down)", "n"),
    ],
)
def test_what_is_sorted_otherwise_is_kept(form: str) -> None:
    with pytest.raises(Unclear):
        sorted_by_torch(f"import torch\ndef f(n):\n    return {form}\n", 3)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_rows_in_the_order_of_their_lengths_export_and_agree(strict: bool) -> None:
    body = """
    lengths = (x > 0).sum(1)
    order = sorted(range(x.shape[0]), key=lambda i: lengths[i], reverse=True)
    return x[order]
    """
    model, _ = defined(body, "sorted_by_lengths")
    report = autofix(Request(target=model, args=(torch.randn(6, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    for seed in range(8):
        torch.manual_seed(seed)
        x = torch.randn(6, 3)
        assert torch.equal(report.attempt.program.module()(x), model(x))


@pytest.mark.after_check
def test_of_what_is_no_branch_it_is_not_said_why_none_is_rewritten() -> None:
    model, _ = defined("return x[sorted(range(4), key=lambda i: x[i].sum())]", "sorted_by_sums")
    attempt = capture(Request(target=model, args=(torch.randn(4, 3),)))
    assert isinstance(attempt, Failed)
    assert not [each for each in explain(attempt).refusals if "branch" in each]

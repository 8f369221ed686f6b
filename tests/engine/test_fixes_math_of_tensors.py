"""Functions of `math` of tensors: computed by torch."""

from __future__ import annotations

import math

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.rewrite.probe import MATH

from .test_fixes_code import defined


@pytest.mark.parametrize("name", sorted(MATH))
def test_torch_computes_each_of_them_as_math_does(name: str) -> None:
    for value in (0.25, 0.75) if name != "acosh" else (1.25, 2.5):
        ours = getattr(torch, name)(torch.tensor(value, dtype=torch.float64)).item()

        assert math.isclose(ours, getattr(math, name)(value), rel_tol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_function_of_math_of_a_tensor_exports_and_agrees(strict: bool) -> None:
    body = "import math\nlow = (1 + math.erf((1.0 - x.mean()) / math.sqrt(2))) / 2\nreturn x * low"
    model, _ = defined(body, "math_of_tensors")
    report = autofix(Request(target=model, args=(torch.rand(4, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    for scale in (0.0, 1.0, 30.0):
        x = scale * torch.randn(4, 3)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))

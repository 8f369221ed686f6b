"""Functions of `math` of tensors: computed by torch of doubles, as Python computes them."""

from __future__ import annotations

import math

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.calls import math_of_tensors
from export_engine.fixes.code.editing.conditions import Unclear

from .test_fixes_code import defined


@pytest.mark.parametrize("name", sorted(math_of_tensors._ALIKE))
def test_torch_computes_each_of_them_as_math_does(name: str) -> None:
    text = f"import math, torch\ndef f(x):\n    return math.{name}(x)\n"
    made = math_of_tensors.computed_by_torch(text, 3).text
    ours: dict[str, object] = {}
    theirs: dict[str, object] = {}
    exec(made, ours)
    exec(text, theirs)
    for value in (0.25, 0.75) if name != "acosh" else (1.25, 2.5):
        x = torch.tensor(value)
        found = ours["f"](x)  # type: ignore[operator]
        assert type(found) is float
        assert math.isclose(found, theirs["f"](x), rel_tol=1e-12)  # type: ignore[operator]


@pytest.mark.parametrize(
    "call",
    ["math.sqrt(2)", "math.sqrt(math.pi)", "math.floor(x)", "math.pow(x, 2)", "torch.exp(x)"],
)
def test_what_takes_no_number_from_data_is_kept(call: str) -> None:
    text = f"import math, torch\ndef f(x):\n    return x * {call}\n"
    with pytest.raises(Unclear):
        math_of_tensors.computed_by_torch(text, 3)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_function_of_math_of_a_tensor_exports_and_agrees(strict: bool) -> None:
    body = "import math\nlow = (1 + math.erf((1.0 - x.mean()) / math.sqrt(2))) / 2\nreturn x * low"
    model, _ = defined(body, "math_of_tensors")
    report = autofix(Request(target=model, args=(torch.rand(4, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Use torch for the math function" in report.kept[-1].fix.title
    for scale in (0.0, 1.0, 30.0):
        x = scale * torch.randn(4, 3)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))

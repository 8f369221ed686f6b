"""Rewrites other than torch.cond: conditions taken for granted, NumPy code written with torch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Failed, Fix, Kind, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import apply_fixes, autofix
from export_engine.fixes.code import assumed_branches, line_rewrites
from export_engine.fixes.code.numpy_to_torch import with_torch
from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.shapes import Shapes

from ..fixes.cases.code_other import Tapered, Windowed, copied, detour, many_or_few

both_modes = pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])


def failed(target: Callable[..., Any], *args: Any, strict: bool = False) -> Failed:
    attempt = capture(Request(target=target, args=args, strict=strict))
    assert isinstance(attempt, Failed)
    return dataclasses.replace(attempt, diagnosis=diagnose(attempt))


def only_fix(attempt: Failed) -> Fix:
    providers = line_rewrites.suggest_rewrites, assumed_branches.suggest_decisions
    fixes = [fix for provider in providers for fix in provider(attempt)]
    assert len(fixes) == 1, attempt.diagnosis
    assert isinstance(fixes[0], Fix), fixes[0]
    return fixes[0]


@both_modes
@pytest.mark.parametrize(("example", "condition"), [(7, "k > 5"), (3, "k <= 5")])
@pytest.mark.slow
def test_a_branch_is_taken_the_way_of_the_example(
    example: int, condition: str, strict: bool
) -> None:
    attempt = failed(many_or_few, torch.randn(3), torch.tensor(example), strict=strict)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.BRANCH_ON_UNBACKED
    fix = only_fix(attempt)

    found = apply_fixes(attempt, [fix])

    assert fix.lossy
    assert condition in fix.gives_up
    assert f"+    torch._check({condition})" in fix.edits[0].diff("file")
    assert "a comment that stays" in fix.edits[0].after
    assert isinstance(found, Exported)
    program, x = found.program.module(), torch.randn(3)
    same = torch.tensor(example + (2 if example > 5 else -2))
    assert torch.equal(program(x, same), many_or_few(x, same))
    with pytest.raises(RuntimeError):
        program(x, torch.tensor(10 - example))


@pytest.mark.slow
@pytest.mark.parametrize("target", [detour, copied])
def test_numpy_code_is_written_with_torch(target: Callable[..., Any]) -> None:
    x = torch.rand(4, 3) + 1
    attempt = failed(target, x)
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.NUMPY

    found = apply_fixes(attempt, [only_fix(attempt)])

    assert isinstance(found, Exported)
    assert found.agreement is not None
    assert found.agreement.verdict == "agrees"
    assert torch.allclose(found.program.module()(x), target(x))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_what_numpy_makes_of_a_size_is_made_by_torch(strict: bool) -> None:
    shapes = Shapes.parse("x: _, length")
    report = autofix(
        Request(target=Tapered(), args=(torch.rand(2, 6),), dynamic_shapes=shapes, strict=strict)
    )
    assert [step.fix.title for step in report.kept] == ["Replace NumPy with torch in `forward`"]
    assert isinstance(report.attempt, Exported)
    for length in (3, 17):
        x = torch.rand(2, length)
        assert torch.allclose(report.attempt.program.module()(x), Tapered()(x))


@pytest.mark.parametrize(
    "made",
    [
        "np.hanning(x.shape[1]).astype(np.float32)",
        'np.arange(x.shape[1]).astype("float32")',
        "(x.numpy() * 9).astype(int)",
        "(x.numpy() > 0.5).astype(float).sum(axis=1)",
        "np.arange(0, x.shape[1], 2, dtype=np.float32)",
        "np.zeros((2, 3), dtype=bool)",
        'np.ones(x.shape[1], dtype="int32")',
        "np.linspace(0, 1, 7, dtype=np.float32)",
        "np.maximum(x.numpy(), 0.3)",
        "np.minimum(0.3, x.numpy())",
        "np.maximum(x.numpy(), x.numpy() ** 2)",
        "np.max(x.numpy(), axis=1, keepdims=True)",
        "x.numpy().min(0)",
        "x.numpy() * np.max(x.numpy()) - x.numpy().max()",
        "np.argmax(x.numpy(), axis=1)",
        "x.numpy().transpose(1, 0)",
        "np.diff(x.numpy().T, axis=0)",
        "np.swapaxes(x.numpy(), 0, 1).ravel()",
        "np.vstack([x.numpy(), x.numpy()]).flatten()",
    ],
)
def test_what_numpy_computes_torch_computes_the_same(made: str) -> None:
    text = f"import torch\nimport numpy as np\n\ndef f(x):\n    return torch.from_numpy({made})\n"
    written = with_torch(text, 5).text
    x = torch.rand(3, 8)
    found: list[torch.Tensor] = []
    for each in (text, written):
        names: dict[str, Any] = {}
        exec(each, names)
        found.append(names["f"](x))
    assert "np." not in written.partition("def")[2]
    assert found[1].dtype is found[0].dtype
    torch.testing.assert_close(found[1], found[0])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return torch.from_numpy(np.array([i * s for i in range(4)]))", "no torch equivalent"),
        ("a = np.ones(3)\n    if x:\n        a[0] = x\n    return x", "cannot be rewritten"),
        ("return torch.from_numpy(np.unique(x.numpy()))", "np.unique"),
        ("a = x.numpy()\n    return helper(a)", "helper"),
        ("a = x.numpy()\n    a[0] = 3\n    return x", "may be an array"),
        ("return torch.from_numpy(x.numpy().transpose())", "transpose"),
        ("return torch.from_numpy(x.numpy().astype(kind))", "astype"),
        ("return torch.from_numpy(x.numpy().astype(float, copy=False))", "astype"),
        ("return torch.from_numpy(np.linspace(-3, 0, 5, dtype=int))", "linspace"),
        ("return torch.from_numpy(np.max(x.numpy(), initial=0))", "initial"),
        (
            "a = x.numpy()\n    for each in a:\n        print(each)\n    return x",
            "cannot be rewritten",
        ),
        ("return torch.from_numpy(np.sum(x.numpy(), dtype=np.float64))", "dtype"),
        ("return x.numpy()", "returns an array"),
    ],
)
def test_numpy_code_without_a_counterpart_is_refused(body: str, reason: str) -> None:
    text = f"import torch\nimport numpy as np\n\ndef f(x):\n    {body}\n"

    with pytest.raises(CannotRewrite, match=reason):
        with_torch(text, 5)


@pytest.mark.slow
@both_modes
def test_a_dtype_that_an_array_is_given_as_a_tensor_stays(strict: bool) -> None:
    request = Request(
        target=Windowed(), args=(torch.rand(2, 6),), shapes=Shapes.parse("x: _, n"), strict=strict
    )
    report = autofix(request)
    assert [step.fix.title for step in report.kept] == ["Replace NumPy with torch in `forward`"]
    assert isinstance(report.attempt, Exported)
    x = torch.rand(2, 17)
    given = report.attempt.program.module()(x)
    assert given.dtype == torch.float32
    assert torch.allclose(given, Windowed()(x))

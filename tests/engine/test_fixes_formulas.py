"""torch's functions that take no symbolic size, computed from ops that do."""

from __future__ import annotations

import ast

import pytest
import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.diagnose import size_reasons
from export_engine.fixes import autofix
from export_engine.shapes import Shapes

from ..fixes.cases.formulas import Positions
from .test_fixes_code import defined


@pytest.mark.parametrize(
    ("body", "shapes", "sizes", "said"),
    [
        ("return torch.kron(x, x[:2])", "x: a, b", ((2, 1), (6, 2)), "requires plain ints"),
        ("return torch.cov(x)", "x: a, b[2..]", ((0, 3), (7, 5)), "calls `.item()` internally"),
        ("return torch.cdist(x, x + 1)", "x: a, b", ((1, 1), (40, 3)), "at run time"),
        ("return (x @ x.T).fill_diagonal_(2)", "x: a, b", ((2, 3), (7, 5)), "requires plain ints"),
        (
            "return torch.unravel_index(x.argmax(), x.shape)[1]",
            "x: a, b",
            ((2, 3), (7, 5)),
            "requires plain ints",
        ),
        ("return torch.combinations(x[0])", "x: a, b", ((1, 1), (2, 8)), "tracked size"),
        (
            "return torch.nn.functional.max_pool1d(x, x.shape[1])",
            "x: a, b",
            ((1, 1), (2, 9)),
            "requires plain ints",
        ),
    ],
)
@pytest.mark.slow
def test_a_formula_keeps_sizes_dynamic(
    body: str, shapes: str, sizes: tuple[tuple[int, int], ...], said: str
) -> None:
    model, _ = defined(body, "formula")
    request = Request(target=model, args=(torch.rand(4, 5),), shapes=Shapes.parse(shapes))
    report = autofix(request)
    assert isinstance(report.first, Failed)
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert said in step.fix.why
    for size in sizes:
        x = torch.rand(size)
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.thorough
def test_a_line_that_scales_is_found_where_another_one_fails() -> None:
    model = Positions().eval()
    image = torch.rand(1, 3, 42, 28)
    shapes = Shapes.parse("image: _, _, h, w")
    report = autofix(Request(target=model, args=(image,), dynamic_shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    assert any("functional.interpolate" in step.fix.title for step in report.kept)
    for size in ((35, 63), (70, 50)):
        image = torch.rand(1, 3, *size)
        torch.testing.assert_close(
            report.attempt.program.module()(image), model(image), rtol=1e-4, atol=1e-4
        )


def test_a_method_of_the_model_is_not_taken_for_a_function_of_torch() -> None:
    def said(line: str) -> ast.Call | None:
        return size_reasons._computes_with_ints(ast.parse(line).body[0])

    assert said("y = torch.gradient(x)") is not None
    assert said("y = self.gradient(x)") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return torch.cov(x)", "`torch.cov(x)` calls `equal`, which returns a Python value"),
        (
            "return torch.linalg.lstsq(x, x).solution",
            "`torch.linalg.lstsq(x, x)` returns a tensor whose size depends",
        ),
        (
            "return torch.combinations(x[0])",
            "computes a data-dependent number that torch then",
        ),
    ],
)
def test_the_operator_that_reads_data_is_named(body: str, said: str) -> None:
    model, _ = defined(body, "reading")
    first = autofix(Request(target=model, args=(torch.rand(4, 5),), shapes=None)).first
    if "combinations" in body and isinstance(first, Exported):
        pytest.skip("this torch keeps track of the rows that torch.combinations gives")
    assert isinstance(first, Failed)
    assert first.diagnosis is not None
    assert said in first.diagnosis.sentence

"""torch's functions that take no symbolic size, computed from ops that do."""

from __future__ import annotations

import ast

import pytest
import torch
from torch import nn
from torch.nn import functional

from export_engine.attempt import Exported, Failed, Request
from export_engine.diagnose import size_reasons
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.sizes.torch_formulas import in_ops
from export_engine.shapes import Shapes

from .test_fixes_code import defined

HEAD = "import torch\nimport torch.nn.functional as F\n\ndef f(x, y):\n    return "
SAME = [
    "torch.kron(x, y)",
    "torch.kron(x[0], y[0])",
    "torch.kron(x.abs(), y)",
    "torch.cov(x)",
    "torch.cov(x[0])",
    "torch.cov(x.T, correction=0)",
    "torch.corrcoef(x)",
    "torch.corrcoef(x[0])",
    "torch.combinations(x[0])",
    "torch.combinations(x[0], 3)",
    "torch.combinations(x[0], r=2, with_replacement=True)",
    "torch.linalg.multi_dot([x, x.T, y])",
    "torch.chain_matmul(x, x.T, y)",
    "torch.take_along_dim(x, y.argsort(-1), -1)",
    "torch.take_along_dim(x, y[:1].argsort(1), dim=1)",
    "torch.take_along_dim(x, y[:, :1].argsort(0), 0)",
    "torch.gradient(x, dim=-1)[0]",
    "torch.gradient(x, spacing=0.5, dim=1)[0]",
    "torch.gradient(x)[1]",
    "torch.cdist(x, y)",
    "(x @ x.T).fill_diagonal_(2.0)",
    "x.clone().fill_diagonal_(-1)",
    "torch.unravel_index(x.argmax(), x.shape)[1]",
    "torch.unravel_index(x.flatten().argsort(), (1, *x.shape))[1]",
    "torch.cdist(x, y, p=1.0)",
    "F.affine_grid(y[None, :2, :3], x[None, None].shape, align_corners=True)",
    "F.affine_grid(y[None, :2, :3], (1, 1, x.shape[0], x.size(1)))",
    "F.affine_grid(y[None, :2, :3], x[None, None, :1].size(), False)",
    "F.affine_grid(y[None, :3, :4], [1, 1, 2, x.shape[0], x.shape[1]], align_corners=False)",
    "F.interpolate(x[None, None], scale_factor=(2.3, y.shape[1] / 3), mode='bicubic')",
    "F.interpolate(x[None, None], scale_factor=9 / x.shape[1], mode='bilinear')",
    "F.avg_pool2d(x[None], x.shape[-2:])",
    "F.max_pool2d(x[None], (x[None].shape[-2], x.shape[1] // 2), stride=(1, 2))",
    "F.max_pool2d(x[None], kernel_size=(x.shape[0], x.shape[1]))",
    "torch.nn.AvgPool2d(x[None].shape[1:])(x[None])",
    "torch.nn.MaxPool2d((x.shape[0], 2), stride=x.shape[0])(x[None])",
    "F.avg_pool1d(x, x.size(1))",
    "F.avg_pool1d(x, x.size(1) // 2)",
    "F.max_pool1d(x, x.shape[1] - 1, 1)",
    "F.avg_pool2d(x[None], 2 * x.shape[1] // 4)",
]


@pytest.mark.parametrize("before", SAME)
@pytest.mark.slow
def test_a_formula_computes_the_same(before: str) -> None:
    made = in_ops(HEAD + before + "\n", 5).made
    assert made.text != HEAD + before + "\n"
    for rows, columns in ((3, 4), (4, 7), (5, 5), (30, 4)):
        torch.manual_seed(rows)
        names = {"torch": torch, "F": functional}
        names |= {"x": torch.rand(rows, columns), "y": torch.rand(rows, columns)}
        mine, theirs = (
            eval(text.partition("return ")[2], names) for text in (made.text, HEAD + before)
        )
        torch.testing.assert_close(mine, theirs, rtol=1e-4, atol=1e-5)
        if "pool" in before:  # Verify compares strides, too
            assert mine.is_contiguous() == theirs.is_contiguous()


LEFT = [
    "torch.cov(x, fweights=y)",
    "torch.gradient(x, dim=(0, 1))",
    "torch.combinations(x, n)",
    "torch.take_along_dim(x, y)",
    "F.avg_pool2d(x, n, padding=1)",
    "F.interpolate(x, scale_factor=2.0, mode='bilinear')",
    "F.interpolate(x, scale_factor=n, mode='nearest')",
    "F.interpolate(x, scale_factor=n, mode='bilinear', align_corners=True)",
    "F.affine_grid(x, y.shape, align_corners=n)",
    "x.kron(y)",
    "self.cov(x)",
    "torch.linalg.multi_dot(x)",
    "torch.linalg.multi_dot([*x])",
]


@pytest.mark.parametrize("before", LEFT)
def test_what_a_formula_does_not_say_is_left(before: str) -> None:
    with pytest.raises(Unclear):
        in_ops(HEAD + before + "\n", 5)


@pytest.mark.parametrize(
    ("body", "shapes", "sizes", "said"),
    [
        ("return torch.kron(x, x[:2])", "x: a, b", ((2, 1), (6, 2)), "sizes as plain ints"),
        ("return torch.cov(x)", "x: a, b[2..]", ((0, 3), (7, 5)), "reads numbers of tensors"),
        ("return torch.cdist(x, x + 1)", "x: a, b", ((1, 1), (40, 3)), "at run time"),
        ("return (x @ x.T).fill_diagonal_(2)", "x: a, b", ((2, 3), (7, 5)), "sizes as plain ints"),
        (
            "return torch.unravel_index(x.argmax(), x.shape)[1]",
            "x: a, b",
            ((2, 3), (7, 5)),
            "sizes as plain ints",
        ),
        ("return torch.combinations(x[0])", "x: a, b", ((1, 1), (2, 8)), "counted"),
        (
            "return torch.nn.functional.max_pool1d(x, x.shape[1])",
            "x: a, b",
            ((1, 1), (2, 9)),
            "sizes as plain ints",
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


class Positions(nn.Module):
    """As DINOv2 resizes its positions, by a scale that is no quotient of sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 4, 7, 7)
        self.positions = nn.Parameter(torch.randn(1, 4, 4, 4))

    def resized(self, rows: int, columns: int) -> torch.Tensor:
        down, across = (rows + 0.1) / 4, (columns + 0.1) / 4
        return functional.interpolate(self.positions, scale_factor=(down, across), mode="bicubic")

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        patches: torch.Tensor = self.patches(image)
        return patches + self.resized(image.shape[2] // 7, image.shape[3] // 7)


@pytest.mark.slow
def test_a_line_that_scales_is_found_where_another_one_fails() -> None:
    model = Positions().eval()
    image = torch.rand(1, 3, 42, 28)
    shapes = Shapes.parse("image: _, _, h, w")
    report = autofix(Request(target=model, args=(image,), shapes=shapes))
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
            "`torch.linalg.lstsq(x, x)` makes a result whose size depends",
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

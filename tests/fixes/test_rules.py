"""Rules: what replaces a call computes the same, at sizes and values that no rule was made for."""

from __future__ import annotations

import ast
import math

import pytest
import torch
from torch.nn import functional

from export_engine.fixes.code.sizes import symbolic
from export_engine.fixes.code.text_edits import CannotRewrite
from export_engine.fixes.rules.formulas import in_ops
from export_engine.fixes.rules.match import Rule, apply_rules

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
    made = in_ops(HEAD + before + "\n", 5)
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
    with pytest.raises(CannotRewrite):
        in_ops(HEAD + before + "\n", 5)


SIZED = "import math\nimport torch\n\ndef f(x, n):\n    return "
FACTORIES = [
    "torch.linspace(-1, 1, steps=n)",
    "torch.linspace(0, n - 1, n, dtype=torch.float64)",
    "torch.linspace(start=n / 2, end=-n, steps=n + 1)",
    "torch.logspace(0, 1, n)",
    "torch.logspace(0, 3, steps=n, base=2.0)",
    "torch.hann_window(n)",
    "torch.hann_window(n, False)",
    "torch.hamming_window(n, periodic=False, dtype=torch.float64)",
    "torch.blackman_window(window_length=n)",
    "torch.bartlett_window(n)",
    "torch.bartlett_window(n, periodic=False, dtype=torch.float64)",
    "torch.kaiser_window(n)",
    "torch.kaiser_window(n, False, beta=5.0)",
    "torch.fft.fftfreq(n)",
    "torch.fft.rfftfreq(n, d=0.5)",
    "torch.nn.functional.one_hot(x.long(), n)",
    "torch.nn.functional.one_hot(x.long(), num_classes=n + 1)",
    "torch.nn.functional.one_hot(x.long() * n)",
    "torch.tril_indices(n, n)",
    "torch.triu_indices(n, n + 2, offset=1, dtype=torch.int32)",
    "torch.triu_indices(row=n, col=3, offset=-1)",
    "torch.vander(x[:, 0].long() * 2, n)",
    "torch.vander(x[0], N=3, increasing=True)",
    "torch.vander(x[0] + 1)",
]


@pytest.mark.parametrize("before", FACTORIES)
def test_a_tensor_of_so_many_elements_is_made_by_arange(before: str) -> None:
    made = symbolic(SIZED + before + "\n", 5)
    assert made.what.count("`") == 2
    for size in (*([1] if "_window" in before else []), 2, 3, 4, 7):
        scope = {"torch": torch, "math": math, "x": torch.ones(3, 5), "n": size}
        mine, theirs = (
            eval(text.partition("return ")[2], dict(scope)) for text in (SIZED + before, made.text)
        )
        torch.testing.assert_close(mine, theirs)
        assert mine.dtype == theirs.dtype


SCALED = Rule("scaled(x, by=2, like=x)", "($x * $by).to($like)", when={"by": r"\d+|k"})


@pytest.mark.parametrize(
    ("call", "made"),
    [
        ("scaled(a)", "(a * 2).to(a)"),
        ("scaled(a, 3)", "(a * 3).to(a)"),
        ("scaled(x=a, by=k, like=b)", "(a * k).to(b)"),
        ("scaled(a + 1, 3, b)", "((a + 1) * 3).to(b)"),
        ("scaled(a.sin())", "(lambda _x: (_x * 2).to(_x))(a.sin())"),
        ("scaled(a, k + 1)", None),
        ("scaled(a, out=b)", None),
        ("scaled(*a)", None),
        ("scaled()", None),
        ("scaled(a, 2, b, b)", None),
    ],
)
def test_a_call_is_bound_as_python_binds_it(call: str, made: str | None) -> None:
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    found = apply_rules([SCALED], node, "torch", ast.unparse)
    assert (found[0] if found else None) == made


def test_a_name_that_is_taken_is_not_bound() -> None:
    node = ast.parse("scaled(a.sin())", mode="eval").body
    assert isinstance(node, ast.Call)
    assert apply_rules([SCALED], node, "torch", ast.unparse, {"_x"}) is None

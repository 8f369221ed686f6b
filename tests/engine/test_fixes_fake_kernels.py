"""Fake kernels inferred from runs: right at other sizes, taken back, refused with the reason."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch.library import Library

from explorer import explore
from export_engine.attempt import Exported, Failed, Fix, Kind, NoFix, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import apply_fixes, registered
from export_engine.shapes import Shapes
from export_engine.torch_internals import register_fake

both_modes = pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
_numbers = itertools.count()


@pytest.fixture
def define() -> Iterator[Callable[..., Any]]:
    """Defines an op without a fake kernel and gives it."""
    library = Library("inferred", "FRAGMENT")

    def made(schema: str, kernel: Callable[..., Any]) -> Any:
        name = f"op{next(_numbers)}"
        library.define(name + schema)
        library.impl(name, kernel, "CPU")
        return getattr(torch.ops.inferred, name)

    yield made
    library._destroy()


def failed(target: Callable[..., Any], *args: Any, **options: Any) -> Failed:
    attempt = capture(Request(target=target, args=args, **options))
    assert isinstance(attempt, Failed)
    attempt = dataclasses.replace(attempt, diagnosis=diagnose(attempt))
    assert attempt.diagnosis is not None
    assert attempt.diagnosis.kind is Kind.NO_FAKE_KERNEL
    return attempt


def offered(attempt: Failed) -> list[Fix]:
    """What is offered; a refusal fails the test with its reason."""
    found = list(registered.suggest_fake_kernel(attempt))
    fixes = [each for each in found if isinstance(each, Fix)]
    assert fixes == found
    return fixes


def kernel_text(attempt: Failed, verdict: str = "agrees") -> str:
    """The kernel's text; it leads to a program that agrees with eager."""
    fixes = offered(attempt)
    assert len(fixes) == 1
    found = apply_fixes(attempt, fixes)
    assert isinstance(found, Exported), str(getattr(found, "error", ""))
    assert found.agreement is not None
    assert found.agreement.verdict == verdict, found.agreement
    return fixes[0].after


def windows(x: torch.Tensor, size: int, step: int = 2) -> torch.Tensor:
    return x.unfold(-1, size, step).sum(-1).clone()


X, Y = torch.randn(4, 6), torch.randn(6, 3)
OPS: dict[str, tuple[str, Callable[..., Any], tuple[Any, ...], str]] = {
    "like an input": ("(Tensor x) -> Tensor", torch.sin, (X,), "x.new_empty(x.shape)"),
    "product": (
        "(Tensor x, Tensor y) -> Tensor",
        torch.mm,
        (X, Y),
        "x.new_empty((x.shape[0], y.shape[1]))",
    ),
    "product of squares": (
        "(Tensor x, Tensor y) -> Tensor",
        torch.mm,
        (torch.randn(4, 4), torch.randn(4, 4)),
        "x.new_empty((x.shape[0], y.shape[1]))",
    ),
    "broadcast": (
        "(Tensor x, Tensor y) -> Tensor",
        torch.add,
        (torch.randn(4, 1), torch.randn(1, 5)),
        "torch.broadcast_shapes(x.shape, y.shape)",
    ),
    "another dtype": (
        "(Tensor x) -> Tensor",
        lambda x: x.argmax(-1),
        (X,),
        "x.new_empty((x.shape[0],), dtype=torch.int64)",
    ),
    "promoted": (
        "(Tensor x, Tensor y) -> Tensor",
        torch.add,
        (X, X.double()),
        "torch.promote_types(x.dtype, y.dtype)",
    ),
    "sum of sizes": (
        "(Tensor x, Tensor y) -> Tensor",
        lambda x, y: torch.cat([x, y]),
        (X, torch.randn(3, 6)),
        "x.shape[0] + y.shape[0]",
    ),
    "all together": (
        "(Tensor x) -> Tensor",
        lambda x: x.reshape(-1).clone(),
        (X,),
        "x.new_empty((x.shape[0] * x.shape[1],))",
    ),
    "multiple": (
        "(Tensor x, int n) -> Tensor",
        lambda x, n: x.repeat(n, 1),
        (X, 2),
        "x.shape[0] * n",
    ),
    "affine": (
        "(Tensor x) -> Tensor",
        lambda x: torch.nn.functional.pad(x.repeat(1, 2), (1, 2)),
        (X,),
        "2 * x.shape[1] + 3",
    ),
    "half": (
        "(Tensor x) -> Tensor",
        lambda x: x[:, ::2].clone(),
        (X,),
        "(x.shape[1] + 1) // 2",
    ),
    "number of a list": (
        "(Tensor x, int[] sizes) -> Tensor",
        lambda x, sizes: x.new_zeros(sizes),
        (X, [3, 5]),
        "x.new_empty((sizes[0], sizes[1]))",
    ),
    "a list of tensors": (
        "(Tensor[] xs) -> Tensor",
        lambda xs: torch.cat(list(xs)),
        ([X, X[:3].clone(), X[:2].clone()],),
        "sum(each.shape[0] for each in xs)",
    ),
    "several results": (
        "(Tensor x) -> (Tensor, Tensor)",
        lambda x: (x.sum(), x.t().contiguous()),
        (X,),
        "(x.new_empty(()), x.new_empty((x.shape[1], x.shape[0])))",
    ),
}


@both_modes
@pytest.mark.parametrize("case", OPS)
@pytest.mark.slow
def test_a_kernel_is_inferred(case: str, strict: bool, define: Callable[..., Any]) -> None:
    schema, kernel, args, text = OPS[case]
    op = define(schema, kernel)

    def target(*given: Any) -> Any:
        return op(*given)

    first = args[0] if isinstance(args[0], torch.Tensor) else args[0][0]
    path = "given.0" if isinstance(args[0], torch.Tensor) else "given.0.0"
    shapes = Shapes.parse(f"{path}: {', '.join('*' for _ in first.shape)}")
    attempt = failed(target, *args, strict=strict, shapes=shapes)

    # torch takes half of a size for no 0 and no 1, so the program rejects 1 and 2
    assert text in kernel_text(attempt, "refused" if case == "half" else "agrees")


@both_modes
@pytest.mark.slow
def test_a_size_that_depends_on_values_is_open(strict: bool, define: Callable[..., Any]) -> None:
    op = define("(Tensor x) -> Tensor", lambda x: x[x > 0].clone())
    attempt = failed(lambda x: op(x) * 2, torch.randn(9), strict=strict)

    assert "new_dynamic_size()" in kernel_text(attempt)


@both_modes
@pytest.mark.slow
def test_an_op_made_by_custom_op(strict: bool) -> None:
    @torch.library.custom_op(f"inferred_too::op{next(_numbers)}", mutates_args=())
    def stacked(x: torch.Tensor, times: int = 3) -> torch.Tensor:
        return torch.stack([x] * times)

    attempt = failed(lambda x: stacked(x) + 1, X, strict=strict)

    assert "def _(x, times=3):" in kernel_text(attempt)


@pytest.mark.after_check
def test_the_text_is_what_runs(define: Callable[..., Any]) -> None:
    op = define("(Tensor x, int size, int step=2) -> Tensor", windows)
    attempt = failed(lambda x: op(x, 3), torch.randn(2, 11))
    text = kernel_text_unapplied(attempt)

    known: dict[str, Any] = {"torch": torch}
    lines = text.splitlines()[1:]
    exec("\n".join(lines), known)
    for length in (11, 14, 19):
        x = torch.randn(2, length)
        assert known["_"](x, 3).shape == windows(x, 3).shape


def kernel_text_unapplied(attempt: Failed) -> str:
    fixes = offered(attempt)
    assert len(fixes) == 1
    return fixes[0].after


@pytest.mark.after_check
def test_a_kernel_is_taken_back_when_the_export_fails(define: Callable[..., Any]) -> None:
    op = define("(Tensor x) -> Tensor", torch.sin)

    def target(x: torch.Tensor) -> torch.Tensor:
        y = op(x)
        return y if y.sum() > 0 else -y

    attempt = failed(target, X)
    assert isinstance(apply_fixes(attempt, offered(attempt)), Failed)

    again = failed(target, X)
    assert again.diagnosis is not None
    assert again.diagnosis.kind is Kind.NO_FAKE_KERNEL


def writes(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


@pytest.mark.after_check
@pytest.mark.parametrize(
    ("schema", "kernel", "reason"),
    [
        ("(Tensor x) -> Tensor", writes, "mutates its argument `x`"),
        ("(Tensor x) -> Tensor", lambda x: x.view(-1), "view"),
        ("(Tensor x) -> Tensor[]", lambda x: [x + 1] * x.shape[0], "number of tensors"),
        (
            "(Tensor x) -> Tensor",
            lambda x: x.new_zeros(int(x.shape[0] ** 2.5), 3),
            "no rule was found",
        ),
    ],
)
def test_what_has_no_rule_is_refused(
    schema: str, kernel: Callable[..., Any], reason: str, define: Callable[..., Any]
) -> None:
    op = define(schema, kernel)
    attempt = failed(op, X)

    (refusal,) = registered.suggest_fake_kernel(attempt)

    assert isinstance(refusal, NoFix)
    assert reason in refusal.reason


def custom_op() -> Any:
    @torch.library.custom_op(f"inferred_too::op{next(_numbers)}", mutates_args=())
    def op(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    return op


def test_an_op_made_by_custom_op_gives_back_what_was_tried() -> None:
    op = custom_op()
    take_back = register_fake(op._qualname, torch.empty_like)
    take_back()

    failed(op, torch.randn(3, 4))


@pytest.mark.after_check
def test_a_kernel_is_taken_back_when_the_export_succeeds() -> None:
    op = custom_op()
    attempt = failed(op, torch.randn(3, 4))
    found = apply_fixes(attempt, offered(attempt))
    assert isinstance(found, Exported)
    for strict in (False, True):
        failed(op, torch.randn(3, 4), strict=strict)

    assert torch.equal(found.program.module()(torch.ones(3, 4)), torch.full((3, 4), 2.0))


@pytest.mark.parametrize("custom", [False, True])
@pytest.mark.slow
def test_what_traces_the_program_again_has_the_kernel_too(
    define: Callable[..., Any], custom: bool
) -> None:
    op = custom_op() if custom else define("(Tensor x) -> Tensor", lambda x: x * 2)
    ex = explore(lambda x: op(x) + 1, (torch.randn(2, 3),), dynamic_shapes="x: batch, _")
    assert not ex.ok
    ex.apply_fixes(0)

    assert [each.name for each in ex.verify(sizes=2).guarantees if each.verdict == "broken"] == []
    ex.decompose()
    assert ex.ok
    assert all(row.outcome != "failed" for row in ex.run(backend="program,inductor").rows)

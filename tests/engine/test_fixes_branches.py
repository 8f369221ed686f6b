"""Questions to tensors as tensors, choices of numbers, and branches of which one way is enough."""

from __future__ import annotations

import math
import textwrap
from typing import NamedTuple

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import autofix, explain
from export_engine.fixes.code.branches.one_way import one_way
from export_engine.fixes.code.branches.select_number import selected_number
from export_engine.fixes.code.branches.tensor_questions import (
    asked_as_tensors,
    asked_not_zero,
    decided,
    kept_as_tensor,
)
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.specs import fitted
from export_engine.fixes.try_fixes import try_request
from export_engine.shapes import Shapes, ShapesError
from tests.torch_limits import needs_numbers


def function(body: str) -> str:
    return f"import torch\ndef f(x, n):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


@pytest.mark.parametrize(
    ("question", "tensor"),
    [
        ("torch.equal(x, y)", "(x == y).all()"),
        ("x[0].equal(y)", "(x[0] == y).all()"),
        ("torch.allclose(x, y, atol=1e-3)", "torch.isclose(x, y, atol=1e-3).all()"),
        ("any(x.tolist())", "(x != 0).any()"),
        ("7 in x", "(x == 7).any()"),
        ("7 not in x.tolist()", "(x != 7).all()"),
    ],
)
def test_a_question_to_a_tensor_is_asked_as_a_tensor(question: str, tensor: str) -> None:
    made = asked_as_tensors(function(f"if {question}:\n    return x\nreturn -x"), 3)
    assert f"if {tensor}:\n" in made.text
    x, y = torch.tensor([7, 0, 1]), torch.tensor([7, 0, 1])
    for other in (y, y + 1, x * 0):
        names = {"torch": torch, "x": x if question[0] != "7" else other, "y": other}
        if question != "x[0].equal(y)":
            assert bool(eval(question, names)) == bool(eval(tensor, names))


def test_a_flag_that_an_op_takes_is_decided() -> None:
    made = decided(function("return attend(x, is_causal=n, mask=None, flip=n > 1)"), 3)
    flags = "is_causal=True if n else False, mask=None, flip=True if n > 1 else False"
    assert f"attend(x, {flags})" in made.text  # a bool() of a size stays symbolic in strict mode


def test_a_number_of_a_tensor_stays_a_tensor() -> None:
    made = kept_as_tensor(function("k = float(x.abs().max()) + int(n.sum().item())"), 3)
    assert "k = (x.abs().max()) + (n.sum())" in made.text
    assert "k = (x > n)\n" in kept_as_tensor(function("k = (x > n).item()"), 3).text


@pytest.mark.parametrize(
    ("test", "made"),
    [("n[0]", "n[0] != 0"), ("not n", "n == 0"), ("not not n.max()", "n.max() != 0")],
)
def test_the_truth_of_a_number_is_that_it_is_not_0(test: str, made: str) -> None:
    found = asked_not_zero(function(f"if {test}:\n    x = x + 1\nreturn x"), 3).text
    assert f"    if {made}:\n" in found
    with pytest.raises(Unclear):
        asked_not_zero(function("if n > 0:\n    x = x + 1\nreturn x"), 3)


def test_a_line_without_a_question_is_kept() -> None:
    with pytest.raises(Unclear):
        asked_as_tensors(function("return x + any(n)"), 3)


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("if n < 0:\n    n = n + 4\nreturn x", "n = torch.sym_ite(n < 0, n + 4, n)"),
        ("k = 2 * n if not n > 3 else n\nreturn x", "k = torch.sym_ite(n > 3, n, 2 * n)"),
        ("if n < 0:\n    n += 4\nelse:\n    n -= 1", "torch.sym_ite(n < 0, n + (4), n - (1))"),
    ],
)
def test_a_choice_of_numbers_is_sym_ite(body: str, made: str) -> None:
    assert made in selected_number(function(body), 3).text


def test_a_test_of_several_comparisons_is_not_sym_ite() -> None:
    with pytest.raises(Unclear):
        selected_number(function("if 0 < n < 4:\n    n = n + 1"), 3)


def test_one_way_of_a_branch_is_what_it_guards_or_nothing() -> None:
    text = function("if n > 0:  # some\n    x = x + n\n    n = 0\nreturn x")
    assert "f(x, n):\n    x = x + n\n    n = 0\n    return x" in one_way(text, 3, True).text
    assert "f(x, n):\n    return x" in one_way(text, 3, False).text
    both = function("if n > 0:\n    x = -x\nelse:\n    x = x + 1\nreturn x")
    assert "f(x, n):\n    x = -x\n    return x" in one_way(both, 3, True).text
    assert "f(x, n):\n    x = x + 1\n    return x" in one_way(both, 3, False).text
    for taken in (True, False):
        with pytest.raises(Unclear):
            one_way(function("if n > 0:\n    raise ValueError\nreturn x"), 3, taken)
    early = function("if n > 0:\n    return x\nreturn -x")
    with pytest.raises(Unclear):
        one_way(early, 3, True)
    assert "return -x" in one_way(early, 3, False).text


class PadsToFour(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        missing = -x.shape[0] % 4
        if missing:
            x = functional.pad(x, (0, 0, 0, missing))
        return x


class PadsAndCounts(PadsToFour):
    """A forward that moves a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return super().forward(x)


class DoublesMostly(nn.Module):
    """The branch makes a difference."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] % 4:
            x = x * 2
        return x


@pytest.mark.slow
@pytest.mark.parametrize("rows", [6, 8])
def test_a_branch_that_changes_nothing_otherwise_is_always_taken(rows: int) -> None:
    request = Request(
        target=PadsToFour(), args=(torch.rand(rows, 3),), shapes=Shapes.parse("x: rows, _")
    )
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert step.fix.title.startswith("Always take the branch")
    program = report.attempt.program.module()
    for size in (4, 5, 8, 11):
        x = torch.rand(size, 3)
        assert torch.equal(program(x), PadsToFour()(x))


@pytest.mark.slow
def test_trying_both_ways_of_a_branch_leaves_the_model_as_it_was() -> None:
    model = PadsAndCounts()
    request = Request(target=model, args=(torch.rand(6, 3),), shapes=Shapes.parse("x: rows, _"))
    assert autofix(request).kept
    assert model.calls == 0


@pytest.mark.slow
def test_a_branch_that_makes_a_difference_is_kept_and_what_it_takes_is_said_as_it_is() -> None:
    request = Request(
        target=DoublesMostly(), args=(torch.rand(6, 3),), shapes=Shapes.parse("x: rows, _")
    )
    attempt = try_request(request)
    assert isinstance(attempt, Failed)
    assert "rows must not be a multiple of 4" in diagnose(attempt).sentence
    report = autofix(attempt)
    assert not any("take the branch" in step.fix.title for step in report.kept)


class SameValues(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if torch.equal(x, y):
            return x * x
        return x


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_branch_on_equality_becomes_torch_cond(strict: bool) -> None:
    args = (torch.arange(4.0), torch.arange(4.0))
    report = autofix(Request(target=SameValues(), args=args, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for y in (args[0], args[0] + 1):
        assert torch.equal(program(args[0], y), SameValues()(args[0], y))


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


class TakesPair(nn.Module):
    def forward(self, x: Pair) -> torch.Tensor:
        return x.a + x.b


def test_a_spec_by_position_fits_a_named_tuple_and_a_misfit_names_classes() -> None:
    rows = Dim("rows")
    pair = Pair(torch.rand(3), torch.rand(3))
    given = {"x": [{0: rows}, {0: rows}]}
    request = Request(target=TakesPair(), args=(pair,), shapes=given)
    shapes, dropped = fitted(request)
    assert str(shapes) == "x.a: rows; x.b: rows"
    assert not dropped
    with pytest.raises(ShapesError) as error:
        Shapes.from_torch(given, request.target, request.args, {})
    assert "`inputs['x']` is a NamedTuple, but `dynamic_shapes['x']` is a list" in str(error.value)


@pytest.mark.slow
def test_one_tensor_for_two_inputs_is_given_one_each() -> None:
    class Adds(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x * 2 + y

    x = torch.rand(3)
    report = autofix(Request(target=Adds(), args=(x, x)))
    assert [step.fix.title for step in report.kept] == ["Give x a tensor of its own"]
    assert isinstance(report.attempt, Exported)
    one, other = torch.rand(3), torch.rand(3)
    assert torch.equal(report.attempt.program.module()(one, other), one * 2 + other)


def test_a_model_that_takes_no_other_values_is_compared_on_the_users_own() -> None:
    class Counts(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if not isinstance(x, torch._subclasses.FakeTensor) and x.tolist() != [5, 3, 1]:
                raise ValueError
            return x + 1

    attempt = try_request(Request(target=Counts(), args=(torch.tensor([5, 3, 1]),)))
    assert isinstance(attempt, Exported)
    assert attempt.agreement is not None
    assert attempt.agreement.verdict == "agrees"


class Cached(nn.Module):
    def forward(self, cache: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        end = start.item() + 1
        key = cache[:, :, :end]
        return functional.scaled_dot_product_attention(cache[:, :, :1], key, key)


@pytest.mark.slow
def test_what_an_op_asks_of_a_number_is_checked_before_it() -> None:
    report = autofix(Request(target=Cached(), args=(torch.rand(1, 2, 6, 4), torch.tensor([3]))))
    assert isinstance(report.attempt, Exported), report.sentence
    assert all(step.fix.narrows for step in report.kept)
    cache = torch.rand(1, 2, 6, 4)
    for start in (2, 5):
        given = (cache, torch.tensor([start]))
        assert torch.allclose(report.attempt.program.module()(*given), Cached()(*given))


class Roots(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x / math.sqrt(x.shape[0])


class Chunks(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.chunk(x, 3)


class AsLongAsRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = [None] * x.shape[0]
        return x * len(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "said"),
    [
        (AsLongAsRows(), "`[None] * x.shape[0]` makes a list of that length"),
        (Chunks(), "how many tensors `torch.chunk(x, 3)` gives depends on it"),
        (Roots(), "`math.sqrt(x.shape[0])` makes a plain number of it"),
    ],
)
def test_why_a_size_is_fixed_is_said_in_words_of_the_line(model: nn.Module, said: str) -> None:
    request = Request(target=model, args=(torch.rand(3, 2),), shapes=Shapes.parse("x: rows, _"))
    attempt = capture(request)
    if isinstance(attempt, Failed):
        assert said in diagnose(attempt).sentence
    else:
        assert model.__class__ is Roots, "a torch that keeps the root symbolic"


class Limited(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y


@pytest.mark.slow
def test_a_rewrite_that_bounds_sizes_says_which_the_model_takes_too() -> None:
    found = capture(
        Request(
            target=Limited(),
            args=(torch.randn(8, 32), torch.randn(32, 64)),
            shapes=Shapes.parse("x: a, b; y: c, d"),
        )
    )
    assert isinstance(found, Failed)
    rewritten = next(fix for fix in explain(found).fixes if "torch.cond" in fix.title)
    assert rewritten.after == "x: a, b[17..]; y: b, d[17..]"
    assert rewritten.narrows
    assert "rejects b = 16, which the model takes" in rewritten.gives_up


class BestOfTheKept(nn.Module):
    """Returns early where nothing is kept; what is behind that fails as well."""

    def forward(self, x: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        kept = scores > 0
        if kept.sum() == 0:
            return torch.zeros(4)
        x, scores = x[kept], scores[kept]
        return x[scores.argmax()]


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_what_a_branch_returns_is_fixed_once_it_is_a_branch_of_torch_cond(strict: bool) -> None:
    model, shapes = BestOfTheKept(), Shapes.parse("x: n, _; scores: n")
    args = (torch.randn(6, 4), torch.tensor([1.0, -1, 3, 2, -2, 0]))
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    program = report.attempt.program.module()
    for scores in (torch.tensor([-1.0, -2, -3]), torch.tensor([0.5, -1, 0, 1, 0.75, 0.25, 0, 0])):
        x = torch.randn(len(scores), 4)
        torch.testing.assert_close(program(x, scores), model(x, scores))

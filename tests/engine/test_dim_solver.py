"""What a trace tells about sizes: ranges solved by trying, and the Shapes that follow."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes
from export_engine.sizes.piecewise import solve_by_residue
from export_engine.sizes.range_solver import Condition, Progression, compile_condition, solve_sizes
from export_engine.traced_sizes import ShapeViolation, size_facts, solve
from export_engine.verify import check


def conditions(*texts: str) -> list[Any]:
    return [compile_condition(text, "n") for text in texts]


@pytest.mark.parametrize(
    ("texts", "example", "expected"),
    [
        ([], 8, Progression(2, None)),
        (["n <= 16"], 8, Progression(2, 16)),
        (["n >= 16", "n != 16"], 64, Progression(17, None)),
        (["n % 4 == 0"], 32, Progression(4, None, 4)),
        (["n == 4*(n // 4)", "(n // 4) != 1"], 32, Progression(8, None, 4)),
        (["(1 + (n - 1)//32) != 1"], 64, Progression(33, None)),
        (["n % 3 == 1", "n <= 100"], 10, Progression(4, 100, 3)),
        (["n == 4"], 4, Progression(4, 4)),
        (["n <= 131072"], 512, Progression(2, 131072)),
        (["100 // (n - 3) >= 0"], 8, Progression(4, None)),
    ],
)
def test_a_range_is_solved(texts: list[str], example: int, expected: Progression) -> None:
    found = solve_sizes(conditions(*texts), example)
    assert found == expected
    assert found.exact


@pytest.mark.parametrize("example", [10**6, 10**9])
@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], Progression(2, None)),
        (["n % 4 == 0"], Progression(4, None, 4)),
        (["n % 4 == 0", "n // 4 <= 10**9"], Progression(4, 4 * 10**9, 4)),
        (["n % 8 == 0", "(n // 4) % 2 == 0", "n // 4 != 2"], Progression(16, None, 8)),
        (["(n - 1) // 2 + 1 > 64"], Progression(129, None)),
        (["n * (n - 3) // 2 >= 10**4"], Progression(143, None)),
        (["max(n, 128) == n", "min(n, 10**10) == n"], Progression(128, 10**10)),
        (["not (n == 5)", "n > 3 or n == 2"], Progression(6, None)),
        (["100 // (n - 3) >= 0"], Progression(4, None)),
        (["math.floor(n / 2) * 2 == n"], Progression(2, None, 2)),
    ],
)
def test_a_range_is_solved_for_any_size_of_the_example(
    texts: list[str], expected: Progression, example: int
) -> None:
    called = 0

    def counted(condition: Condition) -> Any:
        def call(self: Condition, *sizes: int) -> bool:
            nonlocal called
            called += 1
            return condition.__call__(*sizes)

        return type("Counted", (Condition,), {"__call__": call})(condition.text, condition.names)

    found = solve_sizes([counted(each) for each in conditions(*texts)], example)
    assert (found, found.exact) == (expected, True)
    assert called <= len(texts), "no size but the example is tried"


@pytest.mark.after_check
@pytest.mark.parametrize("example", [1000, 10**9])
def test_what_has_no_exact_answer_says_so(example: int) -> None:
    found = solve_sizes(conditions("math.sqrt(n) > 3", f"n <= {2 * example}"), example)
    assert not found.exact
    assert example in found
    assert found.last == 2 * example


@given(
    scale=st.integers(1, 6),
    by=st.integers(1, 7),
    rest=st.integers(0, 6),
    limit=st.integers(-4, 40),
    relation=st.sampled_from(["==", "!=", "<", ">="]),
)
@pytest.mark.slow
def test_what_is_ruled_out_is_what_does_not_hold(
    scale: int, by: int, rest: int, limit: int, relation: str
) -> None:
    text = f"({scale}*n - {rest}) // {by} + n % {by} {relation} {limit}"
    (condition,) = conditions(text)
    solved = solve_by_residue(condition.formula, 4096)
    for size in range(200):
        pieces = solved[size % len(solved)]
        out = any(low <= size and (high is None or size <= high) for low, high in pieces)
        assert out != condition(size), (text, size)


@given(
    low=st.integers(2, 60),
    length=st.integers(0, 60),
    step=st.integers(1, 12),
    at=st.integers(0, 59),
)
@pytest.mark.slow
def test_every_size_of_what_is_found_holds_and_the_next_does_not(
    low: int, length: int, step: int, at: int
) -> None:
    high = low + length * step
    example = low + min(at, length) * step
    texts = conditions(f"n >= {low}", f"n <= {high}", f"(n - {low}) % {step} == 0")
    found = solve_sizes(texts, example)
    assert example in found
    assert found.last is not None
    assert all(
        condition(size)
        for condition in texts
        for size in range(found.first, found.last + 1, found.step)
    )
    if length >= 2:
        assert found == Progression(low, high, step)


class Sixteen(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.shape[0] <= 16:  # a limit
            return x @ y[:, :16]
        return y


class Shifted(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y[1:]


class Third(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y[1::3]


class Pairs(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0] // 2, 2, -1)


class Four(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(x.shape[0], 1).expand(4, 1)


class Nested(nn.Module):
    def forward(self, inputs: dict[str, torch.Tensor], *more: torch.Tensor) -> torch.Tensor:
        return inputs["a"] @ inputs["b"] + more[0]


def solved(model: nn.Module, args: tuple[Any, ...], shapes: str, strict: bool) -> Any:
    request = Request(target=model, args=args, shapes=Shapes.parse(shapes), strict=strict)
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    facts = size_facts(attempt)
    assert facts is not None
    solution = solve(facts)
    confirmed = capture(request.with_changes(dynamic_shapes=solution.shapes))
    assert isinstance(confirmed, Exported), confirmed
    return solution


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("model", "sizes", "shapes", "expected"),
    [
        (Sixteen(), [(8, 32), (32, 64)], "x: a, b; y: c, d", "x: a[..16], b; y: b, d[17..]"),
        (Sixteen(), [(8, 32), (32, 64)], "x: a[2..64], b; y: b, d[..99]",
         "x: a[2..16], b; y: b, d[17..99]"),
        (Shifted(), [(5,), (6,)], "x: dx; y: dy", "x: dx; y: dx + 1"),
        (Third(), [(5,), (16,)], "x: dx; y: dy", "x: dx; y: dy[5..]"),
        (Pairs(), [(6, 3)], "x: batch, _", "x: 2*_batch[2..], _"),
        (Four(), [(4, 3)], "x: batch, width", "x: _, width"),
        (nn.Linear(4, 4), [(1, 4)], "input: batch, _", "input: _, _"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_the_shapes_that_the_trace_allows(
    model: nn.Module, sizes: list[tuple[int, ...]], shapes: str, expected: str, strict: bool
) -> None:
    args = tuple(torch.randn(size) for size in sizes)
    assert str(solved(model, args, shapes, strict).shapes) == expected


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_paths_into_containers(strict: bool) -> None:
    args = ({"a": torch.randn(3, 4), "b": torch.randn(4, 5)}, torch.randn(3, 5))
    shapes = "inputs.a: m, k; inputs.b: l, n; more.0: o, p"
    assert str(solved(Nested(), args, shapes, strict).shapes) == (
        "inputs.a: m, k; inputs.b: k, n; more.0: m, n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_each_problem_has_the_line_that_makes_it(strict: bool) -> None:
    args = (torch.randn(8, 32), torch.randn(32, 64))
    problems: tuple[ShapeViolation, ...] = solved(
        Sixteen(), args, "x: a, b; y: c, d", strict
    ).problems
    first = Sixteen.forward.__code__.co_firstlineno
    lines = {each.text: each.stack[-1].line - first for each in problems}
    assert lines == {
        "a must be at most 16": 1,
        "d must be at least 17": 2,
        "c must be equal to b": 2,
    }


@pytest.mark.slow
def test_only_ties_that_refuse_something_are_told() -> None:
    args = (torch.randn(5), torch.randn(16))
    third: tuple[ShapeViolation, ...] = solved(Third(), args, "x: dx; y: dy", strict=False).problems
    assert [each.condition for each in third if each.kind == "tied"] == ["dx == (dy + 1) // 3"]
    args = (torch.randn(8, 32), torch.randn(32, 64))
    sixteen = solved(Sixteen(), args, "x: a, b; y: c, d", strict=False).problems
    assert not [each for each in sixteen if each.kind == "tied"]


class Joined(nn.Module):
    def forward(self, x: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        return torch.cat([first, x], 1).sum(1) + second.sum(1)


@pytest.mark.slow
def test_a_size_that_is_left_to_torch_keeps_its_name() -> None:
    args = (torch.ones(2, 4), torch.ones(2, 9), torch.ones(2, 9))
    asked = Request(
        target=Joined(),
        args=args,
        shapes=Shapes.parse("x: batch, seq; first: batch, past; second: batch, past"),
    )
    made = capture(asked)
    assert isinstance(made, Exported)
    facts = size_facts(made)
    assert facts is not None
    loose = solve(facts, automatic={"seq", "past"}).shapes
    assert str(loose) == "x: batch, *; first: batch, *; second: batch, *"

    again = capture(asked.with_changes(dynamic_shapes=loose))

    assert isinstance(again, Exported)
    names = [each.name for each in describe(again).symbols]
    assert names == ["batch", "seq", "first.shape[1]", "second.shape[1]"]  # two are `past`
    called = [trial.sizes for trial in check(again).trials]
    assert {"batch", "seq", "first.shape[1]", "second.shape[1]"} == set(called[-1])

"""Sizes that a program rejects by a condition on two of them, kept as where it is on one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.try_fixes import try_request
from export_engine.in_eager import as_failure
from export_engine.shapes import Shapes

from ..fixes.cases.two_sizes import (
    ByTheLonger,
    CausalWhereSquare,
    InRowsOfEight,
    KeepsLast,
    LimitsArea,
    OnlyWhereShorter,
    PadsToTheLarger,
)

CASES: list[tuple[type[nn.Module], str, list[tuple[int, ...]], list[list[tuple[int, ...]]]]] = [
    (
        CausalWhereSquare,
        "q: b, s, _; k: b, t, _",
        [(2, 5, 4), (2, 8, 4)],
        [[(2, 6, 4), (2, 6, 4)], [(3, 9, 4), (3, 4, 4)]],
    ),
    (ByTheLonger, "x: h, w", [(6, 7)], [[(9, 4)], [(4, 9)], [(5, 5)]]),
    (LimitsArea, "x: h, w", [(6, 7)], [[(8, 8)], [(8, 9)], [(30, 2)]]),
    (
        KeepsLast,
        "past: b, n, _; new: b, m, _",
        [(2, 5, 3), (2, 7, 3)],
        [[(2, 2, 3), (2, 3, 3)], [(2, 4, 3), (2, 4, 3)], [(1, 9, 3), (1, 2, 3)]],
    ),
    (InRowsOfEight, "x: n, m", [(4, 6)], [[(8, 3)], [(2, 8)], [(4, 16)]]),
    (
        PadsToTheLarger,
        "a: _, h, w; b: _, h2, w2",
        [(3, 5, 6), (3, 4, 8)],
        [[(3, 7, 9), (3, 4, 2)], [(3, 2, 9), (3, 6, 2)], [(3, 4, 4), (3, 4, 4)]],
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("kind", "shapes", "example", "others"), CASES)
def test_sizes_that_a_relation_would_reject_are_kept(
    kind: type[nn.Module],
    shapes: str,
    example: list[tuple[int, ...]],
    others: list[list[tuple[int, ...]]],
    strict: bool,
) -> None:
    if kind is ByTheLonger:
        pytest.xfail(reason="a choice of two floats by sizes is not rewritten")
    model, args = kind(), tuple(map(torch.randn, example))
    request = Request(target=model, args=args, shapes=Shapes.parse(shapes), strict=strict)
    report = autofix(request)
    assert isinstance(report.first, Exported)
    assert isinstance(report.attempt, Exported)
    assert len(report.kept) == 1, report
    program = report.attempt.program.module()
    for sizes in others:
        inputs = tuple(map(torch.randn, sizes))
        torch.testing.assert_close(program(*inputs), model(*inputs))


@pytest.mark.after_check
def test_a_relation_that_eager_asks_for_too_is_no_refusal() -> None:
    args: Any = (torch.randn(4, 3), torch.randn(6, 3))
    request = Request(target=OnlyWhereShorter(), args=args, shapes=Shapes.parse("q: n, _; k: m, _"))
    attempt = try_request(request)
    assert isinstance(attempt, Exported)
    assert attempt.agreement is not None
    assert attempt.agreement.verdict == "agrees"
    assert as_failure(attempt) is None

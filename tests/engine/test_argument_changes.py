"""A changed argument is said by its name."""

from __future__ import annotations

import time

import pytest
import torch

from export_engine.diff.argument_changes import find_changed_arguments
from export_engine.diff.calls import fill

OPS = torch.ops.aten


@pytest.mark.parametrize(
    ("op", "before", "after", "said"),
    [
        (
            OPS.leaky_relu.default,
            "({}, 0.5)",
            "({}, 0.7)",
            ("negative_slope=0.5", "negative_slope=0.7"),
        ),
        (
            OPS.gelu.default,
            "({})",
            "({}, approximate='tanh')",
            ("approximate='none'", "approximate='tanh'"),
        ),
        (
            OPS.masked_fill.Scalar,
            "({}, {}, -1000.0)",
            "({}, {}, -1.0)",
            ("value=-1000.0", "value=-1.0"),
        ),
        (
            OPS.conv2d.default,
            "({}, {}, None, [2, 2])",
            "({}, {}, {}, [2, 2], [1, 0])",
            ("bias=None, padding=[0, 0]", "bias={}, padding=[1, 0]"),
        ),
        (
            OPS.view.default,
            "({}, [n, n // 2])",
            "({}, [n, 4])",
            ("size=[n, n // 2]", "size=[n, 4]"),
        ),
        (OPS.add.Tensor, "({}, {}, alpha=2)", "({}, {})", ("alpha=2", "alpha=1")),
    ],
)
def test_only_what_differs_is_said(
    op: torch._ops.OpOverload, before: str, after: str, said: tuple[str, str]
) -> None:
    assert find_changed_arguments(before, after, str(op._schema)) == said


def test_an_input_is_shown_by_its_name() -> None:
    schema = str(OPS.mul.Tensor._schema)
    shown = ("(relu, 2.5)", "(relu, b_steps)")
    assert find_changed_arguments("({}, 2.5)", "({}, {})", schema, shown) == (
        "other=2.5",
        "other=b_steps",
    )
    assert fill("({0}, {{'k': {1}}}, {7})", ["x", "y"]) == "(x, {'k': y}, {7})"


def test_without_a_schema_it_is_by_position() -> None:
    assert find_changed_arguments("({}, 3)", "({}, 4)", "") == ("3", "4")
    assert find_changed_arguments("({}, <x>)", "({}, 4)", "") == ("<x>", "4")
    quoted = "'f(, \\''"
    assert find_changed_arguments(f"({{}}, {quoted})", "({}, k=[1, (2)])", "") == (
        quoted,
        "k=[1, (2)]",
    )
    assert find_changed_arguments("({}, )))], a)", "({}, [[[, b", "") != ("", "")


@pytest.mark.slow
def test_texts_without_end_take_no_time() -> None:
    for text in ("'" * 100_001, "\\'," * 100_000, "(" * 100_000, "[" + "'a', " * 100_000):
        began = time.process_time()
        find_changed_arguments(f"({text})", f"({text}, 1)", f"f({text}) -> ()")
        assert time.process_time() - began < 2

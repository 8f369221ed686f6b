"""Shapes that no sizes fulfil are refused before anything is exported, with what contradicts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer import explore
from export_engine.shapes import (
    Bounds,
    Int,
    Named,
    Relation,
    Shapes,
    ShapesError,
    combine,
    name_size,
)
from export_engine.sizes import Expression, number
from export_engine.torch_internals import missing_shapes_spec

needs_spec = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)

IMPOSSIBLE: dict[str, str] = {
    "x: a, b; a >= 10; a <= 5": "`a >= 10` and `a <= 5`",
    "x: a, b; a < b; b < a": "`a < b` and `b < a`",
    "x: a, b; a != 7; a == b; a != b": "`a == b` and `a != b`",
    "x: a, b; a % 2 == 1; b > 3; a % 16 == 4": "`a % 2 == 1` and `a % 16 == 4`",
    "x: a, b; a % 16 == 0; a == 24": "`a % 16 == 0` and `a == 24`",
    "x: a[..7], b; a == 2*b; b > 8": "`a[..7]`, `a == 2*b` and `b > 8`",
    "x: a[17..31]; a % 16 == 0": "`a[17..31]` and `a % 16 == 0`",
    "x: a, b; min(a, b) > 5; max(a, b) < 6": "`min(a, b) > 5` and `max(a, b) < 6`",
    "x: a, b; a // 4 == 3; a > 16": "`a // 4 == 3` and `a > 16`",
    "x: a, b; a*b >= 30; a < 6; b < 6": "`a*b >= 30`, `a < 6` and `b < 6`",
    "x: a; n: int[..3]; n > a; a >= 3": "`n: int[..3]`, `n > a` and `a >= 3`",
    "x: a[..9], b, (a - b - 4); b >= 6": "`a[..9]`, `x: a, b, (a - b - 4)` and `b >= 6`",
    "x: a, b; 15*a + 10*b == 7": "`15*a + 10*b == 7`",
    "x: a, b; a % b == b": "`a % b == b`",
    "x: a; a % 0 == 0": "`a % 0 == 0`",
    "x: a; a < 0": "`a < 0`",
}
POSSIBLE = [
    "x: a, b; a != b; a <= b; b <= 1",
    "x: a, b; a % 16 == 3; a % 9 == 4; a > 1000",
    "x: a; n: int; n < 0; a == -3*n",
    "x: a, b; a*b == 12; a > 3; b >= 3",
    "x: a, b; a % b == 3; b < 5",
    "x: a, (a - 20)",
    "x: a[4..]; a == 4",
]


@pytest.mark.parametrize("text", IMPOSSIBLE)
def test_what_never_holds_together_is_named_at_its_place(text: str) -> None:
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(text).check_possible()
    verb = "never hold together" if " and " in IMPOSSIBLE[text] else "never holds"
    assert caught.value.message.startswith(f"{IMPOSSIBLE[text]} {verb}, so the program would")
    last = IMPOSSIBLE[text].rsplit("`", 2)[1]
    assert text[caught.value.column :].startswith(last)


@pytest.mark.parametrize("text", POSSIBLE)
def test_what_some_sizes_fulfil_is_not_refused(text: str) -> None:
    Shapes.parse(text).check_possible()


def test_a_contradiction_is_not_converted_to_dims() -> None:
    for convert in (Shapes.to_dims, Shapes.closest_dims):
        with pytest.raises(ShapesError, match="never hold together"):
            convert(Shapes.parse("x: a; a >= 10; a <= 5"))


NAMES = ("a", "b", "n")
EVERY = [dict(zip(NAMES, each, strict=True)) for each in product(range(8), range(8), range(-4, 7))]
leaves: st.SearchStrategy[Expression] = st.sampled_from(NAMES).map(name_size) | st.integers(
    -3, 9
).map(number)


def joined(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    signs = st.sampled_from(["+", "-", "*", "//", "%", "min", "max"])
    return st.builds(combine, signs, inner, inner)


relations = st.builds(
    Relation,
    st.sampled_from(["<=", ">=", "!=", "==", "<", ">"]),
    st.builds(combine, st.sampled_from(["+", "*", "%"]), st.just(name_size("a")), leaves),
    st.recursive(leaves, joined, max_leaves=3),
)


@pytest.mark.after_check
@given(st.lists(relations, min_size=1, max_size=3), st.none() | st.integers(1, 7))
@settings(max_examples=60, deadline=None)
def test_what_some_sizes_fulfil_is_never_refused(assumed: list[Relation], high: int | None) -> None:
    """Held against all small sizes."""
    given_leaves: Mapping[str, Any] = {"x": (Named("a"), Named("b")), "n": (Int(-4, 6),)}
    shapes = Shapes(given_leaves, {"a": Bounds(None, high)}, tuple(assumed))
    try:
        shapes.check_possible()
    except ShapesError:
        fulfilling = (
            sizes
            for sizes in EVERY
            if sizes["a"] <= (high or 7) and all(each.holds(sizes) for each in assumed)
        )
        assert next(fulfilling, None) is None


class Doubled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise AssertionError("nothing is traced")


@needs_spec
def test_torchs_own_spec_and_what_is_attached_are_refused_before_they_are_exported() -> None:
    from torch.fx.experimental.dynamic_spec import (
        ParamsSpec,
        ShapesSpec,
        ShapeVar,
        TensorSpec,
        dynamic_spec,
    )

    a, b = ShapeVar("a"), ShapeVar("b", max=9)
    spec = ShapesSpec(ParamsSpec({"x": TensorSpec([a, b])}), assumptions=[a > 20, a < b])

    @dynamic_spec(spec)
    def attached(x: torch.Tensor) -> torch.Tensor:
        raise AssertionError("nothing is traced")

    text = "x: a, b[..9]; a > 20; a < b"
    for model, shapes in ((Doubled(), spec), (Doubled(), text), (attached, None)):
        with pytest.raises(ShapesError) as caught:
            explore(model, (torch.randn(30, 8),), dynamic_shapes=shapes)
        assert caught.value.message.startswith("`b[..9]`, `a > 20` and `a < b` never hold together")

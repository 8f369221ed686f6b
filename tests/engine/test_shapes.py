"""The short language for shapes, and its way to torch and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.export import Dim

from export_engine.shapes import (
    Auto,
    Dynamic,
    Named,
    Pinned,
    Shapes,
    ShapesError,
    Static,
    changes,
    join_path,
)

names = st.sampled_from(["batch", "seq", "h", "w", "_half", "__"])
sizes = st.integers(0, 5000)


@st.composite
def bounds(draw: st.DrawFn) -> tuple[int | None, int | None]:
    low, high = draw(st.none() | sizes), draw(st.none() | sizes)
    if low is not None and high is not None and low > high:
        low, high = high, low
    return low, high


specs = st.one_of(
    st.just(Static()),
    bounds().map(lambda b: Auto(*b)),
    bounds().map(lambda b: Dynamic(*b)),
    sizes.map(Pinned),
    st.builds(Named, names, st.integers(1, 9), st.integers(-9, 9)),
)
paths = st.lists(st.text(min_size=1, max_size=6) | st.integers(0, 9), min_size=1, max_size=3).map(
    join_path
)


@st.composite
def all_shapes(draw: st.DrawFn) -> Shapes:
    leaves = draw(st.dictionaries(paths, st.lists(specs, max_size=4).map(tuple), max_size=4))
    used = Shapes(leaves).names()
    given_bounds = {name: draw(bounds()) for name in used}
    return Shapes(leaves, {n: b for n, b in given_bounds.items() if b != (None, None)})


@given(all_shapes())
@settings(max_examples=400, deadline=None)
def test_parse_is_the_inverse_of_print(shapes: Shapes) -> None:
    assert Shapes.parse(str(shapes)) == shapes
    assert hash(Shapes.parse(str(shapes))) == hash(shapes)


@given(st.text(alphabet='xy:,;.*!_+-[]0123456789 "\\\n\t', max_size=40))
@settings(max_examples=1000, deadline=None)
def test_any_text_parses_or_points_at_a_column(text: str) -> None:
    try:
        shapes = Shapes.parse(text)
    except ShapesError as error:
        column = error.column
    else:
        column = 0
        assert Shapes.parse(str(shapes)) == shapes
    assert column is not None
    assert 0 <= column <= len(text)


def test_the_language_of_the_design() -> None:
    text = "x: batch, seq[4..512], _; y: batch, 2*seq + 1, *; cache.0.key: batch, _, seq, 3"
    shapes = Shapes.parse(text)
    assert shapes.leaves["y"] == (Named("batch"), Named("seq", 2, 1), Auto())
    assert shapes.leaves["cache.0.key"][3] == Pinned(3)
    assert shapes.bounds == {"seq": (4, 512)}
    assert str(shapes) == text


ERRORS = {
    "x batch": (2, "expected `:`"),
    "x: batch[9..4]": (8, "9 is more than 4"),
    "x: batch[4": (10, "expected `..`"),
    "x: a, b\nx: c": (8, "second time"),
    "x: a[1..2]; y: a[1..3]": (16, "bounds [1..2] already"),
    "x: batch seq": (9, "expected `,`"),
    "x: a ? b": (5, "has no meaning"),
    "x: 2*": (5, "expected a dim"),
    "x: a +": (6, "expected a number"),
    'x."a: b': (2, "not closed"),
    ": a": (0, "name of an input"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_point_at_the_column(text: str) -> None:
    column, message = ERRORS[text]
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(text)
    assert caught.value.column == column
    assert message in caught.value.message
    assert (
        str(caught.value).splitlines()[-1]
        == "    " + " " * (column - text.rfind("\n", 0, column) - 1) + "^"
    )


@dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Pair)


class Nested(nn.Module):
    def forward(self, x: torch.Tensor, cache: Any, pair: Pair, n: int, *rest: Any, z: Any) -> Any:
        return x + cache["a"][0] + cache["b"][0] + pair.left * pair.right + n + rest[0] + z


def nested_call() -> tuple[tuple[Any, ...], dict[str, Any]]:
    def t() -> torch.Tensor:
        return torch.randn(4, 3)

    return (t(), {"a": [t(), None], "b": (t(),)}, Pair(t(), t()), 2, t()), {"z": t()}


ALL_NESTED = "; ".join(
    f"{path}: batch, _"
    for path in ("x", "cache.a.0", "cache.b.0", "pair.left", "pair.right", "rest.0", "z")
)


def test_every_kind_of_container_becomes_dynamic() -> None:
    args, kwargs = nested_call()
    shapes = Shapes.parse(ALL_NESTED)
    program = torch.export.export(
        Nested(), args, kwargs, dynamic_shapes=shapes.to_torch(Nested(), args, kwargs)
    )
    assert len(program.range_constraints) == 1
    assert (
        Shapes.from_torch(shapes.to_torch(Nested(), args, kwargs), Nested(), args, kwargs) == shapes
    )


def test_a_free_int_input() -> None:
    class Scaled(nn.Module):
        def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
            return x * n

    args = (torch.randn(3), 4)
    shapes = Shapes.parse("n: !")
    program = torch.export.export(
        Scaled(), args, dynamic_shapes=shapes.to_torch(Scaled(), args, {})
    )
    torch.testing.assert_close(program.module()(args[0], 7), args[0] * 7)


class Two(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.sum() + y.sum()


ROUND_TRIPS = [
    "x: batch, seq[4..512], _",
    "x: batch[2..], 2*batch + 1, _; y: *, *[2..16], !",
    "x: *, _, 5; y: h[..9], 3*h - 2, _",
]


@pytest.mark.parametrize("text", ROUND_TRIPS)
def test_torch_specs_come_back_as_the_same_shapes(text: str) -> None:
    args = (torch.randn(4, 9, 5), torch.randn(2, 4, 5))
    shapes = Shapes.parse(text)
    assert Shapes.from_torch(shapes.to_torch(Two(), args, {}), Two(), args, {}) == shapes


def test_every_form_of_torch_spec_is_read() -> None:
    args = (torch.randn(4, 5), torch.randn(4, 5))
    batch = Dim("batch", min=2, max=64)
    expected = Shapes.parse("x: batch[2..64], _; y: batch, _")
    by_name = {"x": {0: batch}, "y": (batch, None)}
    by_position = ({0: batch}, [batch, Dim.STATIC])
    collection = torch.export.ShapesCollection()
    collection[args[0]] = {0: batch}
    collection[args[1]] = {0: batch}
    for given_spec in (by_name, by_position, collection):
        assert Shapes.from_torch(given_spec, Two(), args, {}) == expected


def test_inputs_that_are_not_there_are_named() -> None:
    args = (torch.randn(4, 5), torch.randn(4, 5))
    with pytest.raises(ShapesError, match=r"no input z.*x, y"):
        Shapes.parse("z: batch, _").to_torch(Two(), args, {})
    with pytest.raises(ShapesError, match=r"x has 2 dims, \[4, 5\], and the spec gives 1"):
        Shapes.parse("x: batch").to_torch(Two(), args, {})
    nested, kwargs = nested_call()
    with pytest.raises(ShapesError, match=r"Did you mean pair\.left"):
        Shapes.parse("pair.let: batch, _").to_torch(Nested(), nested, kwargs)


def test_changes_read_as_sentences() -> None:
    before = Shapes.parse("x: _, seq[2..512]; y: dy, _")
    after = Shapes.parse("x: batch, seq[2..]; y: seq + 1, *")
    assert [str(change) for change in changes(before, after)] == [
        "x dim 0: static → batch",
        "y dim 0: dy → seq + 1",
        "y dim 1: static → automatic",
        "seq: [2..512] → [2..]",
    ]

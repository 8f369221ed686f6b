"""A ShapesSpec that is attached with @dynamic_spec, and a bare ParamsSpec: shown, diffed, saved."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

import explorer
from export_engine.shapes import (
    Bounds,
    Computed,
    Expression,
    Int,
    Named,
    Operation,
    Pinned,
    Relation,
    Shapes,
    Size,
    Spec,
    Static,
    changes,
)
from export_engine.torch_internals import missing_shapes_spec

pytestmark = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2


ARGS = (torch.randn(4, 32),)
TEXT = "x: batch, seq; seq % 16 == 0"


def spec_of(text: str) -> Any:
    return Shapes.parse(text).to_torch(doubled, ARGS, {})


def attached(text: str) -> Any:
    module: Any = importlib.import_module("torch.fx.experimental.dynamic_spec")

    def forward(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    return module.dynamic_spec(spec_of(text))(forward)


def params_spec() -> Any:
    from torch.fx.experimental.dynamic_spec import ParamsSpec, ShapeVar, TensorSpec

    return ParamsSpec({"x": TensorSpec([ShapeVar("batch"), ShapeVar("seq", min=2)])})


@pytest.mark.slow
def test_what_is_attached_is_shown_diffed_and_saved(tmp_path: Path) -> None:
    found = explorer.explore(attached(TEXT), ARGS)
    assert found.record.shapes == TEXT
    assert "seq" in repr(found)
    assert "assumptions=[seq % 16 == 0]" in found.dynamic_shapes()
    other = explorer.explore(attached("x: batch, seq; unbacked"), ARGS)
    difference = explorer.diff(found, other)
    assert not difference.ok
    assert "(seq % 16) == 0" in str(difference)
    loaded = explorer.load(found.save(tmp_path / "attached.pt2"))
    assert loaded.record.shapes == TEXT
    assert explorer.diff(found, loaded).ok
    rejected = loaded.probe(seq=24)
    assert [rule.text for rule in rejected.broken] == ["(seq % 16) == 0"]


@pytest.mark.slow
def test_a_params_spec_is_shown_diffed_and_saved(tmp_path: Path) -> None:
    found = explorer.explore(Doubled(), ARGS, dynamic_shapes=params_spec())
    assert found.record.shapes == "x: batch, seq[2..]; unbacked"
    wider = explorer.explore(Doubled(), ARGS, dynamic_shapes="x: batch, seq; unbacked")
    assert "seq" in str(explorer.diff(found, wider))
    loaded = explorer.load(found.save(tmp_path / "params.pt2"))
    assert loaded.record.shapes == found.record.shapes
    assert loaded.probe(seq=1).verdict == "refused"


def test_changes_of_a_spec_are_told() -> None:
    before = Shapes.from_torch(params_spec(), doubled, ARGS, {})
    after = Shapes.from_torch(spec_of(TEXT), doubled, ARGS, {})
    told = [str(each) for each in changes(before, after)]
    assert told == ["seq: min 2 → 0", "assumes seq % 16 == 0"]


NAMES = ("a", "b")
atoms = st.sampled_from(NAMES).map(Size) | st.integers(0, 9)
expressions: st.SearchStrategy[Expression] = st.recursive(
    atoms,
    lambda inner: st.builds(Operation, st.sampled_from(["+", "*", "min", "max"]), inner, inner),
    max_leaves=4,
)
specs: st.SearchStrategy[Spec] = st.one_of(
    st.just(Static()),
    st.integers(2, 9).map(Pinned),
    st.builds(Named, st.sampled_from(NAMES), st.integers(1, 4), st.integers(0, 5)),
    expressions.map(Computed),
)
relations = st.builds(
    lambda sign, name, right: Relation(sign, Size(name), right),
    st.sampled_from(["<=", ">=", "!="]),
    st.sampled_from(NAMES),
    st.integers(2, 40) | st.sampled_from(NAMES).map(lambda name: Operation("%", Size(name), 7)),
)


@pytest.mark.slow
@given(
    st.lists(specs, min_size=1, max_size=4),
    st.lists(relations, max_size=2),
    st.none() | st.integers(0, 3),
)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_spec_reads_back_as_it_was_written(
    dims: list[Spec], assumptions: list[Relation], low: int | None
) -> None:
    """Sizes are as many as before and vary alike; torch may write a formula in another way."""
    leaves: dict[str, tuple[Spec, ...]] = {
        "x": (Named("a"), Named("b"), *dims),
        "n": (Int(low, None),),
    }
    shapes = Shapes(leaves, {"a": Bounds(low, None)}, tuple(assumptions), unbacked=True)
    args = (torch.empty(*([2] * (2 + len(dims))), device="meta"), 3)
    spec = shapes.to_torch(_called, args, {})
    read = Shapes.from_torch(spec, _called, args, {})
    assert read.unbacked
    assert (read.bounds, read.ints()) == (shapes.bounds, shapes.ints())
    again = Shapes.from_torch(read.to_torch(_called, args, {}), _called, args, {})
    assert again == read
    assert Shapes.parse(str(read)) == read
    for a in range(4):
        for b in (0, 5, 41):
            sizes = {"a": a, "b": b, "n": 3}
            held = [all(each.holds(sizes) for each in one.assumptions) for one in (shapes, read)]
            assert held[0] == held[1]


def _called(x: torch.Tensor, n: int) -> torch.Tensor:
    return x * n

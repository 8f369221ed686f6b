"""A ShapesSpec that is attached with @dynamic_spec, and a bare ParamsSpec: shown, diffed, saved."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from torch import nn

import explorer
from export_engine.shapes import (
    Bounds,
    Computed,
    Int,
    Named,
    Pinned,
    Relation,
    Shapes,
    ShapesError,
    Spec,
    Static,
    changes,
    combine,
    name_size,
)
from export_engine.sizes import Expression, number, value_of
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
    assert "assumptions=[seq % 16 == 0]" in found.shapes_code()
    other = explorer.explore(attached("x: batch, seq; unbacked"), ARGS)
    difference = explorer.diff(found, other)
    assert not difference.ok
    assert "(seq % 16) == 0" in str(difference)
    loaded = explorer.load(found.save(tmp_path / "attached.pt2"))
    assert loaded.record.shapes == TEXT
    assert explorer.diff(found, loaded).ok
    rejected = loaded.accepts(seq=24)
    assert [rule.text for rule in rejected.broken] == ["(seq % 16) == 0"]


@pytest.mark.slow
def test_a_params_spec_is_shown_diffed_and_saved(tmp_path: Path) -> None:
    found = explorer.explore(Doubled(), ARGS, dynamic_shapes=params_spec())
    assert found.record.shapes == "x: batch, seq[2..]; unbacked"
    wider = explorer.explore(Doubled(), ARGS, dynamic_shapes="x: batch, seq; unbacked")
    assert "seq" in str(explorer.diff(found, wider))
    loaded = explorer.load(found.save(tmp_path / "params.pt2"))
    assert loaded.record.shapes == found.record.shapes
    assert loaded.accepts(seq=1).verdict == "refused"


def test_changes_of_a_spec_are_told() -> None:
    before = Shapes.from_torch(params_spec(), doubled, ARGS, {})
    after = Shapes.from_torch(spec_of(TEXT), doubled, ARGS, {})
    told = [str(each) for each in changes(before, after)]
    assert told == ["seq: min 2 → 0", "assumes seq % 16 == 0"]


NAMES = ("a", "b", "seq")
LEAVES = ("d.k", "d.deep.0", "d.deep.1", "rest.0", "rest.1", "y", "extra")
SIZES = [dict(zip(NAMES, each, strict=True)) for each in product((0, 1, 4), (0, 2, 7), (1, 5, 16))]
sizes_named = st.sampled_from(NAMES).map(name_size)


def joined(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    both = st.builds(combine, st.sampled_from(["+", "-", "*", "min", "max"]), inner, inner)
    return both | st.builds(combine, st.sampled_from(["//", "%"]), inner, st.integers(1, 9))


expressions: st.SearchStrategy[Expression] = st.recursive(
    sizes_named | st.integers(0, 9).map(number), joined, max_leaves=4
)
specs: st.SearchStrategy[Spec] = st.one_of(
    st.just(Static()),
    st.integers(2, 9).map(Pinned),
    st.builds(Named, st.sampled_from(NAMES), st.integers(1, 4), st.integers(-3, 5)),
    expressions.map(Computed),
)
relations = st.builds(
    Relation,
    st.sampled_from(["<=", ">=", "!=", "==", "<", ">"]),
    sizes_named,
    expressions,
) | st.builds(
    lambda size, by, rest: Relation("==", combine("%", size, by), rest % by),
    sizes_named,
    st.integers(2, 64),
    st.integers(0, 70),
)
numbers: st.SearchStrategy[Spec | None] = st.sampled_from(
    [None, Int(None, None), Int(1, 9), Named("seq"), Pinned(5)]
)


@pytest.mark.slow
@given(
    st.dictionaries(st.sampled_from(LEAVES), st.lists(specs, max_size=3).map(tuple), max_size=4),
    st.lists(relations, max_size=3),
    numbers,
    st.none() | st.integers(0, 3),
)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_spec_reads_back_as_it_was_written(
    others: dict[str, tuple[Spec, ...]],
    assumptions: list[Relation],
    number: Spec | None,
    low: int | None,
) -> None:
    """In containers, `*rest` and `**more`; torch may write a formula in another way."""
    leaves = {"x": tuple(map(Named, NAMES)), **others, **({"n": (number,)} if number else {})}
    shapes = Shapes(leaves, {"a": Bounds(low, 40)}, tuple(assumptions), unbacked=True)
    x, k, first, second, *rest, y, extra = (
        torch.empty([5] * len(leaves.get(path, ())), device="meta") for path in ("x", *LEAVES)
    )
    call = (x, {"k": k, "deep": [first, second]}, *rest), {"y": y, "n": 5, "extra": extra}
    try:
        spec = shapes.to_torch(_called, *call)
        read = Shapes.from_torch(spec, _called, *call)
    except ShapesError as error:
        assume("never hold" not in str(error))
        assume("is not a size" not in str(error))  # a formula of numbers alone: `0 // 1 - 1`
        raise
    written = Shapes.from_torch(pasted(shapes.python(_called, *call)), _called, *call)
    assert Shapes.parse(str(read)) == read
    for found in (read, written, Shapes.from_torch(read.to_torch(_called, *call), _called, *call)):
        assert found.unbacked
        assert (found.bounds, found.ints()) == (shapes.bounds, shapes.ints())
        for sizes in SIZES:
            held = [holds(each, sizes) for each in (shapes, found)]
            assert held[0] == held[1]
            if held[0]:
                assert all_sizes(found, leaves, sizes) == all_sizes(shapes, leaves, sizes)


def pasted(text: str) -> Any:
    """What a user gets who pastes the text into a cell."""
    cell: dict[str, Any] = {}
    exec(text, cell)
    return cell["dynamic_shapes"]


def holds(shapes: Shapes, sizes: dict[str, int]) -> bool:
    return all(each.holds(sizes) for each in shapes.assumptions)


def all_sizes(shapes: Shapes, paths: Iterable[str], sizes: dict[str, int]) -> dict[str, list[int]]:
    """What each dim is at sizes; 5 where it is as in the example."""

    def size(spec: Spec) -> int:
        match spec:
            case Pinned(number):
                return number
            case Named(name, scale, offset):
                return scale * sizes[name] + offset
            case Computed(expression):
                return int(value_of(expression, sizes))
        return 5

    found = {path: list(map(size, shapes.leaves.get(path, ()))) for path in paths}
    return {path: each for path, each in found.items() if set(each) - {5}}


def _called(x: Any, d: Any, *rest: Any, y: Any, n: int, **more: Any) -> Any:
    return x * n

"""Shapes on the way to torch's `dynamic_shapes` and back, exported for real."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes, ShapesError
from export_engine.torch_internals import deregister_container


@dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Pair)
Point = namedtuple("Point", ["x", "y"])


class Opaque:
    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def t(batch: int = 4) -> torch.Tensor:
    return torch.randn(batch, 3)


class Summed(nn.Module):
    """Adds all tensors of its inputs, whatever holds them."""

    def forward(self, x: Any, *rest: Any, scale: float = 1.0, y: Any = None, **more: Any) -> Any:
        return scale * self._sum([x, *rest, y, *more.values()])

    def _sum(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor | int):
            return value
        if isinstance(value, Pair):
            return value.left + value.right
        items = value.values() if isinstance(value, dict) else value
        return sum(self._sum(item) for item in items if item is not None)


class First(nn.Module):
    """Doubles the first tensor of its input."""

    def forward(self, x: Any) -> Any:
        if isinstance(x, Pair):
            return x.left * 2
        return (x[0] if isinstance(x, list) else x) * 2


Call = tuple[tuple[Any, ...], dict[str, Any]]
CALLS: dict[str, tuple[str, Callable[[int], Call]]] = {
    "positional": ("x: b, _", lambda b: ((t(b),), {})),
    "by keyword": ("x: b, _; y: b, _", lambda b: ((), {"y": t(b), "x": t(b)})),
    "*args": ("x: b, _; rest.0: b, _; rest.1: b, _", lambda b: ((t(b), t(b), t(b)), {})),
    "**kwargs": ("x: b, _; k: b, _", lambda b: ((t(b),), {"k": t(b)})),
    "*args and nested **kwargs": (
        "x: b, _; rest.0: b, _; k.0: b, _; k.1.a: b, _",
        lambda b: ((t(b), t(b)), {"k": [t(b), {"a": t(b)}]}),
    ),
    "keywords and **kwargs in another order": (
        "x: b, _; k: b, _; y: b, _",
        lambda b: ((), {"k": t(b), "y": t(b), "scale": 2.0, "x": t(b)}),
    ),
    "list": ("x.0: b, _; x.1: b, _", lambda b: (([t(b), t(b)],), {})),
    "tuple": ("x.0: b, _; x.1.0: b, _", lambda b: (((t(b), (t(b),)),), {})),
    "nested dict": (
        'x.cache.0.key: b, _; x."a.b": b, _',
        lambda b: (({"a.b": t(b), "cache": [{"key": t(b)}, None]},), {}),
    ),
    "ordered dict": ("x.z: b, _; x.a: b, _", lambda b: ((OrderedDict(z=t(b), a=t(b)),), {})),
    "named tuple": ("x.x: b, _; x.y: b, _", lambda b: ((Point(t(b), t(b)),), {})),
    "dataclass": ("x.left: b, _; x.right: b, _", lambda b: ((Pair(t(b), t(b)),), {})),
    "dataclass in a list": (
        "x.0.left: b, _; x.0.right: b, _",
        lambda b: (([Pair(t(b), t(b))],), {}),
    ),
    "scalars among the inputs": (
        "x: b, _",
        lambda b: ((t(b), 2, None), {"scale": 3.0, "y": [1, None]}),
    ),
    "a static input beside": ("x: b, _", lambda b: ((t(b), torch.randn(3)), {})),
}


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.slow
def test_a_named_dim_of_any_kind_of_input_is_dynamic(call: str, strict: bool) -> None:
    text, make = CALLS[call]
    shapes, model = Shapes.parse(text), Summed()
    args, kwargs = make(4)
    attempt = capture(
        Request(target=model, args=args, kwargs=kwargs, dynamic_shapes=shapes, strict=strict)
    )
    assert isinstance(attempt, Exported), attempt.error
    args, kwargs = make(7)
    torch.testing.assert_close(attempt.program.module()(*args, **kwargs), model(*args, **kwargs))


@pytest.mark.parametrize("call", CALLS)
def test_the_specs_of_any_kind_of_input_are_read_back(call: str) -> None:
    text, make = CALLS[call]
    shapes, (args, kwargs) = Shapes.parse(text), make(4)
    specs = shapes.to_torch(Summed(), args, kwargs)
    assert Shapes.from_torch(specs, Summed(), args, kwargs) == shapes


@pytest.mark.parametrize("call", [call for call in CALLS if "**kwargs" not in call])
@pytest.mark.slow
def test_torch_takes_the_specs_as_they_are(call: str) -> None:
    text, make = CALLS[call]
    args, kwargs = make(4)
    specs = Shapes.parse(text).to_torch(Summed(), args, kwargs)
    torch.export.export(Summed(), args, kwargs, dynamic_shapes=specs)


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.slow
def test_specs_of_keywords_export_in_every_form(strict: bool) -> None:
    args, kwargs = (t(),), {"k": [t()], "y": t()}
    batch = {0: Dim("b")}
    forms = [
        {"x": batch, "y": batch, "more": {"k": [batch]}},
        {"k": [batch], "x": batch, "y": batch},
        (batch, batch, {"k": [batch]}),
    ]
    for form in forms:
        assert str(Shapes.from_torch(form, Summed(), args, kwargs)) == "x: b, _; y: b, _; k.0: b, _"
        request = Request(
            target=Summed(), args=args, kwargs=kwargs, dynamic_shapes=form, strict=strict
        )
        attempt = capture(request)
        assert isinstance(attempt, Exported), attempt.error
        program = attempt.program.module()
        program(t(7), k=[t(7)], y=t(7))
        with pytest.raises(AssertionError, match="Guard failed"):
            program(t(7), k=[t(5)], y=t(7))


@pytest.mark.parametrize("strict", [False, True], ids=["non-strict", "strict"])
@pytest.mark.slow
def test_names_of_variadic_inputs_reach_the_record(strict: bool) -> None:
    args, kwargs = (t(), t()), {"k": {"a": t()}}
    shapes = Shapes.parse("x: *, _; rest.0: !, _; k.a: b[2..9], _")
    request = Request(
        target=Summed(), args=args, kwargs=kwargs, dynamic_shapes=shapes, strict=strict
    )
    record = describe(capture(request))
    assert [entry.path for entry in record.signature.inputs] == ["x", "rest.0", "k.a"]
    assert [(each.name, each.lower, each.upper) for each in record.symbols] == [("b", 2, 9)]
    assert Shapes.parse(record.shapes) == shapes


@pytest.mark.slow
def test_a_cache_of_transformers() -> None:
    from transformers import DynamicCache
    from transformers.integrations.executorch import register_dynamic_cache_export_support

    class Cached(nn.Module):
        def forward(self, x: torch.Tensor, past: DynamicCache) -> torch.Tensor:
            return x + past.layers[0].keys.sum() + past.layers[1].values.sum()

    deregister_container(DynamicCache)  # where another test registered it in another way
    register_dynamic_cache_export_support()
    cache = DynamicCache()
    for layer in range(2):
        cache.update(torch.randn(2, 4, 3, 8), torch.randn(2, 4, 3, 8), layer)
    text = "; ".join(
        f"past.{kind}_cache.{layer}: batch, _, seq, _"
        for kind in ("key", "value")
        for layer in (0, 1)
    )
    request = Request(target=Cached(), args=(torch.randn(3), cache), shapes=Shapes.parse(text))
    try:
        attempt = capture(request)
    finally:
        deregister_container(DynamicCache)
    assert isinstance(attempt, Exported), attempt.error
    assert len(attempt.program.range_constraints) == 2


class Two(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor | None = None, n: int = 3) -> torch.Tensor:
        return x.sum() * n if y is None else x.sum() + y.sum() * n


def exported(text: str, *args: Any) -> torch.export.ExportedProgram:
    specs = Shapes.parse(text).to_torch(Two(), args, {})
    return torch.export.export(Two(), args, dynamic_shapes=specs)


def ranges(program: torch.export.ExportedProgram) -> set[tuple[int, int]]:
    return {(int(r.lower), int(min(r.upper, 10**6))) for r in program.range_constraints.values()}


def test_a_wholly_static_call_needs_no_specs() -> None:
    assert Shapes().to_torch(Two(), (t(),), {}) is None
    assert Shapes.from_torch(None, Two(), (t(),), {}) == Shapes()


def test_bounds_are_the_programs_ranges() -> None:
    assert ranges(exported("x: a[2..64], *[2..32]", t())) == {(2, 64), (2, 32)}


def test_a_pinned_and_a_static_dim_stay() -> None:
    assert ranges(exported("x: 4, _", t())) == set()


def test_a_derived_dim_follows_its_dim() -> None:
    program = exported("x: a[4..8], _; y: 2*a + 1, _", t(4), t(9))
    program.module()(t(5), t(11))
    with pytest.raises(AssertionError):
        program.module()(t(5), t(9))


def test_a_difference_says_the_least_size_itself() -> None:
    shapes, args = Shapes.parse("x: 3*a - 2, _"), (t(4),)
    assert ranges(exported(str(shapes), *args)) >= {(1, 10**6)}
    specs = shapes.to_torch(Two(), args, {})
    assert str(Shapes.from_torch(specs, Two(), args, {})) == "x: 3*a[1..] - 2, _"


def test_an_int_may_be_dynamic() -> None:
    program = exported("n: ![1..9]", t(), t(), 4)
    args = (t(), t())
    torch.testing.assert_close(program.module()(*args, 7), Two()(*args, 7))


def test_functions_and_partials_have_specs_too() -> None:
    def scaled(x: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        return x * by

    specs = Shapes.parse("by: b, _").to_torch(scaled, (t(),), {"by": t()})
    assert specs is not None
    assert list(specs) == ["x", "by"]


SPECS_READ = [
    "x: batch, seq[4..512]",
    "x: batch[2..], 2*batch + 1; y: *, *[2..16]",
    "x: !, ![..9]; y: h[..9], h - 2; n: *[1..4]",
    "x: 4, _; n: !",
]


@pytest.mark.parametrize("text", SPECS_READ)
def test_specs_come_back_as_the_same_shapes(text: str) -> None:
    args = (t(), t(), 2)
    shapes = Shapes.parse(text.replace("h[..9]", "h[2..9]"))
    specs = shapes.to_torch(Two(), args, {})
    assert Shapes.from_torch(specs, Two(), args, {}) == shapes


def test_every_form_of_torch_spec_is_read() -> None:
    args = (t(), t())
    batch = Dim("batch", min=2, max=64)
    collection = torch.export.ShapesCollection()
    collection[args[0]] = {0: batch}
    collection[args[1]] = (batch, None)
    forms = [
        {"x": {0: batch}, "y": (batch, None)},
        {"y": {-2: batch}, "x": {0: Dim("batch", min=2, max=64), 1: Dim.STATIC}},
        ({0: batch}, [batch, Dim.STATIC]),
        [(batch, None), {0: batch}],
        collection,
    ]
    for form in forms:
        assert str(Shapes.from_torch(form, Two(), args, {})) == "x: batch[2..64], _; y: batch, _"


def test_additional_inputs_are_read() -> None:
    others = torch.export.AdditionalInputs()
    others.add((t(9), t()))
    assert str(Shapes.from_torch(others, Two(), (t(), t()), {})) == "x: !, _"


NOT_READ: dict[str, tuple[Any, str]] = {
    "an input is missing": ({"x": {}}, "they are for x; the call's inputs are x, y"),
    "too few dims": ({"x": (Dim.AUTO,), "y": None}, r"x has 2 dims, \[4, 3\], and its spec is \("),
    "no such dim": ({"x": {2: Dim.AUTO}, "y": None}, "x has 2 dims"),
    "a name instead of a Dim": (
        {"x": {0: "batch"}, "y": None},
        "x dim 0 is 'batch'; a dim is a Dim",
    ),
    "a spec that is no container": ({"x": Dim.AUTO, "y": None}, "x has 2 dims"),
    "two Dims of one name": (
        {"x": {0: Dim("a", max=9)}, "y": {0: Dim("a", max=8)}},
        r"Two Dims named a have different bounds: \[\.\.9\] and \[\.\.8\]",
    ),
    "a bounded and a free Dim": ({"x": {0: Dim("a", max=9)}, "y": {0: Dim("a")}}, "Two Dims"),
    "an input that is not there": ({"x": {}, "y": None, "z": None}, "they are for x, y, z"),
    "too many by position": ((None, None, None), "do not fit the call"),
    "not a spec at all": ("x: b, _", "expected a dict, a tuple or a list"),
}


@pytest.mark.parametrize("what", NOT_READ)
def test_specs_that_do_not_fit_say_why(what: str) -> None:
    specs, message = NOT_READ[what]
    with pytest.raises(ShapesError, match=message):
        Shapes.from_torch(specs, Two(), (t(), t()), {})


def test_a_spec_of_a_float_is_refused() -> None:
    args, kwargs = (t(),), {"scale": 2.0}
    with pytest.raises(ShapesError, match="scale is a float, whose spec cannot be"):
        Shapes.from_torch({"x": None, "scale": Dim.AUTO}, Summed(), args, kwargs)


def test_a_foreign_tensor_in_a_collection_is_told() -> None:
    collection = torch.export.ShapesCollection()
    foreign = t()
    collection[foreign] = {0: Dim.AUTO}
    with pytest.raises(ShapesError, match="were not found in args"):
        Shapes.from_torch(collection, Two(), (t(),), {})


NO_SUCH_INPUT = {
    "x: b, _; zz: b, _": (9, "no input is called zz. The call's tensors are: x, rest.0.a.left"),
    "x: b, _; k.1: b, _": (9, "Did you mean k.0?"),
    "rest.0: b, _": (0, "rest.0 holds several inputs; name the one you mean: rest.0.a.left"),
    "x.left: b, _": (0, "there is no x.left: x is a tensor"),
    "none.left: b, _": (0, "there is no none.left: none is None in this call"),
    "opaque.tensor: b, _": (0, "torch does not flatten a Opaque. Register the class"),
    "zz: b, _": (0, "k.0. As for opaque, torch does not flatten a Opaque"),
    "y: b, _": (0, "this call does not pass y; leave it out"),
    "x: b": (0, "the spec has 1. Write one entry for each; `_` keeps a dim static: x: b, _"),
    "k.0: b, _, _": (0, "k.0 has 2 dims, [4, 3], but the spec has 3"),
    "scale: *": (0, "scale is a float and has no dims"),
    "none: b, _": (0, "none is None and has no dims"),
    "x: b, _; count: b": (16, "count is an int: write `count: !` (dynamic)"),
    "count: 7": (7, "count is an int"),
    "count: *, *": (7, "count is an int"),
    "x: b[..5] - 6, _": (3, "b - 6 has fewer than two sizes while b is at most 5"),
}


@pytest.mark.parametrize("text", NO_SUCH_INPUT)
def test_shapes_that_do_not_fit_the_call_point_at_the_place(text: str) -> None:
    column, message = NO_SUCH_INPUT[text]
    args = (t(), {"a": Pair(t(), t())})
    kwargs = {"k": [t()], "scale": 2.0, "none": None, "opaque": Opaque(t()), "count": 3}
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(text).to_torch(Summed(), args, kwargs)
    assert message in caught.value.message
    assert caught.value.column == column
    assert str(caught.value).endswith(f"\n    {text}\n    {' ' * column}^")


def test_shapes_made_by_code_have_no_column() -> None:
    with pytest.raises(ShapesError) as caught:
        Shapes(Shapes.parse("z: _").leaves).to_torch(Two(), (t(),), {})
    assert caught.value.column is None


def test_a_path_of_two_inputs_is_refused() -> None:
    args = ({1: t(), "1": t()},)
    assert Shapes().to_torch(Summed(), args, {}) is None
    with pytest.raises(ShapesError, match=r"2 inputs of the call share the path x\.1"):
        Shapes.parse("x.1: b, _").to_torch(Summed(), args, {})


def test_sizes_that_do_not_fit_are_for_torch_to_say() -> None:
    request = Request(target=Two(), args=(t(),), shapes=Shapes.parse("x: b[11..18], _"))
    assert not isinstance(capture(request), Exported)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("holds", ["tensor", "list", "dataclass", "collection"])
def test_positions_count_from_the_end_in_both_modes(holds: str, strict: bool) -> None:
    x, by_position = t(), {-2: Dim("n"), 1: None}
    given = {"list": [x, x], "dataclass": Pair(x, x)}.get(holds, x)
    shapes: Any = {"x": by_position if given is x else [by_position, by_position]}
    if holds == "collection":
        shapes = torch.export.ShapesCollection()
        shapes[x] = by_position
    attempt = capture(Request(target=First(), args=(given,), dynamic_shapes=shapes, strict=strict))
    assert isinstance(attempt, Exported)
    assert attempt.program.range_constraints


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({2: Dim.DYNAMIC}, r"x has 2 dims, \[4, 3\], and its spec names dim 2; use positions"),
        ({-3: Dim("n")}, r"x has 2 dims, .* names dim -3; use positions from -2 to 1"),
        ({0: Dim("n"), -2: Dim("m")}, "x dim 0 has two specs, one at -2; keep one of them"),
    ],
)
def test_positions_that_no_dim_has_are_refused(
    spec: dict[int, Any], said: str, strict: bool
) -> None:
    request = Request(target=First(), args=(t(),), dynamic_shapes={"x": spec}, strict=strict)
    with pytest.raises(ShapesError, match=said):
        capture(request)

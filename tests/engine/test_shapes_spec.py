"""Shapes as torch's ShapesSpec and back, exported for real where torch takes one."""

from __future__ import annotations

import inspect
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from explorer import explore
from export_engine.archive import read
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.shapes import Shapes, ShapesError
from export_engine.shapes.spec_params import params_of
from export_engine.torch_internals import find_attached_spec, missing_shapes_spec
from export_engine.verify import check

needs_spec = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)


@dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor


torch.export.register_dataclass(Pair)


def t(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes)


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, n: int = 1) -> torch.Tensor:
        return x * n


class Summed(nn.Module):
    """One number from all inputs, whatever holds them."""

    def forward(self, x: Any, *rest: Any, n: int = 1, **more: Any) -> Any:
        return n * (self._sum(x) + self._sum(rest) + self._sum(more))

    def _sum(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.sum()
        if isinstance(value, Pair):
            return value.left.sum() + value.right.sum()
        items = value.values() if isinstance(value, dict) else value
        return sum(self._sum(item) for item in items)


Call = tuple[tuple[Any, ...], dict[str, Any]]
CALLS: dict[str, tuple[str, Call]] = {
    "dims": ("x: batch[1..64], seq[2..], 3; seq % 16 == 0", ((t(4, 16, 3),), {})),
    "made of others": (
        "x: a, b; rest.0: 2*a - 4, (a + b); rest.1: (b // 2)",
        ((t(4, 6), t(4, 10), t(3)), {}),
    ),
    "an int": ("x: a; n: int[-4..9]; n <= 2*a", ((t(4),), {"n": 2})),
    "an int that is a size": ("x: a[..99], _; n: a; unbacked", ((t(4, 2),), {"n": 4})),
    "a pinned int": ("x: a; n: 4; unbacked", ((t(4),), {"n": 4})),
    "in containers": (
        "x.0: a, _; more1.d: b; p.left: a; p.right: b; a + b <= 20",
        (((t(4, 2), t(3)),), {"more1": {"c": t(2), "d": t(5)}, "p": Pair(t(4), t(5))}),
    ),
    "nameless": ("x: ![1..9], _; unbacked", ((t(4, 2),), {})),
    "the least and the greatest": (
        "x: a, b; rest.0: (min(a, b)), (max(5, a, b) + 1); max(a, 3) <= b; min(2, a) != b",
        ((t(4, 8), t(4, 9)), {}),
    ),
    "several assumptions": (
        "x: a, b; (a*b) % 4 == 0; a != 3; a < b; b // 2 >= a // 2; 2*a - b <= 0",
        ((t(4, 8),), {}),
    ),
}


@pytest.mark.parametrize(("key", "path"), [("other", "other"), ("more", "more.more")])
def test_a_keyword_is_found_by_its_path_also_if_called_as_its_parameter(
    key: str, path: str
) -> None:
    bound = inspect.signature(Summed().forward).bind(t(4), **{key: t(2)})
    paths = params_of(bound, lambda found, _: found, lambda _, parts: parts)
    assert paths == {"x": "x", "**kwargs": {key: path}}


@needs_spec
@pytest.mark.parametrize("name", CALLS)
def test_a_spec_says_the_same_on_the_way_back(name: str) -> None:
    text, (args, kwargs) = CALLS[name]
    shapes = Shapes.parse(text)
    read = Shapes.from_torch(shapes.to_torch(Summed(), args, kwargs), Summed(), args, kwargs)
    if name == "nameless":
        assert str(read) == "x: x_0[1..9], _; unbacked"
        return
    assert (read.leaves, read.bounds, read.unbacked) == (shapes.leaves, shapes.bounds, True)
    assert len(read.assumptions) == len(shapes.assumptions)
    tried = [
        {"a": a, "b": b, "n": n, "seq": 8 * a, "batch": b}
        for a in range(6)
        for b in (2, 5, 7)
        for n in (2, 9)
    ]
    for sizes in tried:
        for before, after in zip(shapes.assumptions, read.assumptions, strict=True):
            assert before.holds(sizes) == after.holds(sizes)
    again = Shapes.from_torch(read.to_torch(Summed(), args, kwargs), Summed(), args, kwargs)
    assert again == read


@needs_spec
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("name", CALLS)
def test_a_spec_exports_and_the_program_is_right_at_other_sizes(name: str, strict: bool) -> None:
    text, (args, kwargs) = CALLS[name]
    request = Request(
        target=Summed(), args=args, kwargs=kwargs, shapes=Shapes.parse(text), strict=strict
    )
    attempt = capture(request)
    assert isinstance(attempt, Exported), attempt
    agreement = check(attempt)
    assert agreement.verdict == "agrees", agreement
    assert any(trial.sizes for trial in agreement.trials)


@needs_spec
def test_a_program_asserts_what_is_assumed_and_takes_sizes_0_and_1() -> None:
    shapes = Shapes.parse("x: batch, seq[..64]; n: int[1..]; seq % 16 == 0; n <= batch + 4")
    attempt = capture(Request(target=Scaled(), args=(t(4, 16), 2), dynamic_shapes=shapes))
    assert isinstance(attempt, Exported)
    run = attempt.program.module()
    assert run(t(1, 32), 3).shape == (1, 32)
    assert run(t(0, 16), 4).shape == (0, 16)
    for refused in ((t(4, 24), 2), (t(4, 80), 2), (t(4, 16), 0), (t(4, 16), 9)):
        with pytest.raises((RuntimeError, AssertionError)):
            run(*refused)


@needs_spec
def test_the_view_shows_the_contract_in_the_users_names() -> None:
    shapes = Shapes.parse("x: batch, seq; n: int[1..]; seq % 16 == 0; batch + seq <= 512")
    attempt = capture(Request(target=Scaled(), args=(t(4, 16), 2), dynamic_shapes=shapes))
    record = describe(attempt)
    assert [(each.name, each.kind, each.example) for each in record.symbols] == [
        ("batch", "unbacked", 4),
        ("seq", "unbacked", 16),
        ("n", "unbacked", 2),
    ]
    rules = [rule.text for rule in record.probe.rules]
    assert {"seq % 16 == 0", "batch + seq <= 512", "n >= 1"} <= set(rules)
    assert all(rules)
    assert record.shapes == str(shapes)


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        torch._check(y.shape[0] == x.shape[0] * 2)
        return x.repeat(2) + y


@pytest.mark.after_check
@pytest.mark.parametrize("shapes", ["", pytest.param("; a >= 2", marks=needs_spec)])
def test_a_size_made_of_another_is_one_rule_which_the_program_enforces(
    shapes: str, tmp_path: Path
) -> None:
    ex = explore(Doubled(), (t(4), t(8)), dynamic_shapes=f"x: a; y: 2*a{shapes}")
    torch.export.save(ex.program, tmp_path / "program.pt2")
    for record in (ex.record, read(tmp_path / "program.pt2").record):
        rules = [each for each in record.probe.rules if each.kind != "range"]
        assert [(each.kind, each.enforced) for each in rules] == [("form", True)]
    with pytest.raises((RuntimeError, AssertionError)):
        ex.program.module()(t(4), t(9))
    assert ex.accepts(**{"y.shape[0]": 9}).verdict == "refused"


@needs_spec
def test_what_is_attached_to_a_function_or_forward_is_what_was_asked_for() -> None:
    from torch.fx.experimental.dynamic_spec import ShapeVar, TensorSpec, dynamic_spec

    class Model(nn.Module):
        @dynamic_spec({"x": TensorSpec([ShapeVar("batch"), None])})
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    @dynamic_spec({"x": TensorSpec([ShapeVar("batch"), None])})
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    for target in (Model(), function):
        attempt = capture(Request(target=target, args=(t(4, 2),)))
        assert isinstance(attempt, Exported)
        assert describe(attempt).symbols[0].name == "batch"
        other = capture(Request(target=target, args=(t(4, 2),), shapes=Shapes.parse("x: _, b")))
        assert isinstance(other, Exported), "the shapes of a request go before what is attached"
        assert describe(other).symbols[0].name == "b"
        assert find_attached_spec(target) is not None


@needs_spec
def test_specs_of_torchs_own_making_are_read() -> None:
    from torch.fx.experimental.dynamic_spec import (
        IntVar,
        ParamsSpec,
        ShapesSpec,
        ShapeVar,
        TensorSpec,
    )

    one, other, k = ShapeVar("size", min=2), ShapeVar("size"), IntVar("my k", min=1)
    spec = ShapesSpec(
        ParamsSpec({"x": TensorSpec([one, other, one * 2 + other]), "n": k, "*args": [None]}),
        assumptions=[one - other >= 1, k % 2 == 0],
    )
    args = (t(4, 2, 10), t(2))
    read = Shapes.from_torch(spec, Summed(), args, {"n": 2})
    assert str(read) == (
        "x: size[2..], size_2, (2*size + size_2); n: int[1..]; size - size_2 >= 1; n % 2 == 0"
    )
    params = ParamsSpec({"x": TensorSpec([ShapeVar(), 3])})
    assert str(Shapes.from_torch(params, Scaled(), (t(4, 3),), {})) == "x: x_size, 3; unbacked"


MISFITS: dict[str, tuple[str, str]] = {
    "x: a, b; unbacked": ("x has 3 dims", "x"),
    "x: a, *, _; unbacked": ("`*` lets torch decide", "*"),
    "x: 16*a, _, _; unbacked": ("no dim is named a", "16*a"),
    "n: a, b; unbacked": ("n is an int: write `n: int`", "n"),
    "x: int": ("x has 3 dims", "x"),
    "x: a, _, _; a - a == 1": ("`a - a == 1` never holds", "a - a"),
    "y: a; unbacked": ("no input is called y", "y"),
}


@needs_spec
@pytest.mark.parametrize("text", MISFITS)
def test_what_a_spec_cannot_say_is_an_error_at_its_place(text: str) -> None:
    message, place = MISFITS[text]
    with pytest.raises(ShapesError) as caught:
        Shapes.parse(text).to_torch(Scaled(), (t(4, 2, 3), 2), {})
    assert message in caught.value.message
    assert text[caught.value.column :].startswith(place)


@pytest.mark.skipif(not missing_shapes_spec(), reason="this torch exports a ShapesSpec")
@pytest.mark.parametrize("text", ["x: a, _; unbacked", "x: a, _; a % 2 == 0", "n: int"])
def test_an_older_torch_says_what_is_missing(text: str) -> None:
    with pytest.raises(ShapesError) as caught:
        capture(Request(target=Scaled(), args=(t(4, 2), 2), shapes=Shapes.parse(text)))
    assert caught.value.message.startswith(
        f"ShapesSpec needs torch 2.14 or newer; this is torch {torch.__version__}"
    )


class Ends(NamedTuple):
    """Torch takes its specs in a tuple of this class alone."""

    first: torch.Tensor
    last: torch.Tensor


PASTED: dict[str, Call] = {
    "x.first: a; x.last: a": ((Ends(t(4), t(4)),), {}),
    "x.0: a; x.1: a": ((deque([t(4), t(4)]),), {}),
    "x: batch[2..64], 2*batch - 1, *[2..], 3": ((t(4, 7, 5, 3),), {}),
    "rest.0: a, !; n: *; p.left: a": ((t(2), t(4, 3)), {"n": 2, "p": Pair(t(4), t(2))}),
    "x.0: a, _; x.1.k: a": (((t(4, 2), {"k": t(4)}),), {}),
}


def pasted(text: str) -> Any:
    """What a user gets who pastes the text into a cell."""
    cell: dict[str, Any] = {"Ends": Ends}
    exec(text, cell)
    return cell["dynamic_shapes"]


@pytest.mark.parametrize("text", PASTED)
def test_the_python_to_paste_makes_the_same_dims(text: str) -> None:
    args, kwargs = PASTED[text]
    shapes = Shapes.parse(text)
    given = pasted(shapes.python(Summed(), args, kwargs))
    assert Shapes.from_torch(given, Summed(), args, kwargs) == shapes


@needs_spec
@pytest.mark.parametrize("name", CALLS)
def test_the_python_to_paste_makes_the_same_spec(name: str) -> None:
    text, (args, kwargs) = CALLS[name]
    shapes = Shapes.parse(text)
    given = pasted(shapes.python(Summed(), args, kwargs))
    made = shapes.to_torch(Summed(), args, kwargs)
    read, wanted = (Shapes.from_torch(each, Summed(), args, kwargs) for each in (given, made))
    assert (read.leaves, read.bounds) == (wanted.leaves, wanted.bounds)
    assert sorted(map(str, read.assumptions)) == sorted(map(str, wanted.assumptions))


def test_the_python_to_paste_reads_as_one_would_write_it() -> None:
    shapes = Shapes.parse("x: batch, seq[16..]; seq % 16 == 0; batch + seq <= 512")
    assert shapes.python(Scaled(), (t(4, 16),), {}) == (
        "from torch.fx.experimental.dynamic_spec import (\n"
        "    ParamsSpec,\n"
        "    ShapesSpec,\n"
        "    ShapeVar,\n"
        "    TensorSpec,\n"
        ")\n"
        "\n"
        'batch = ShapeVar("batch")\n'
        'seq = ShapeVar("seq", min=16)\n'
        "dynamic_shapes = ShapesSpec(\n"
        "    ParamsSpec({\n"
        '        "x": TensorSpec([batch, seq]),\n'
        "    }),\n"
        "    assumptions=[seq % 16 == 0, batch + seq <= 512],\n"
        ")"
    )


@needs_spec
def test_explore_exports_with_a_spec_whatever_the_shapes_were_given_as() -> None:
    from torch.export import Dim

    for given in ("x: batch, _", {"x": {0: Dim("batch")}, "n": None}):
        found = explore(Scaled(), (t(4, 2), 3), dynamic_shapes=given, spec=True)
        assert found.ok
        assert found.record.shapes == "x: batch, _; unbacked"
        assert found.program.module()(t(1, 2), 3).shape == (1, 2)


@needs_spec
def test_shapes_are_not_said_twice() -> None:
    from torch.fx.experimental.dynamic_spec import ShapeVar, TensorSpec, dynamic_spec

    @dynamic_spec({"x": TensorSpec([ShapeVar("batch")])})
    def function(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    with pytest.raises(ShapesError, match="@dynamic_spec already defines"):
        explore(function, (t(4),), dynamic_shapes="x: a")


@pytest.mark.skipif(not missing_shapes_spec(), reason="this torch exports a ShapesSpec")
def test_a_spec_asked_of_an_older_torch_says_what_is_missing() -> None:
    with pytest.raises(ShapesError, match="ShapesSpec needs torch 2"):
        explore(Scaled(), (t(4, 2), 3), dynamic_shapes="x: batch, _", spec=True)

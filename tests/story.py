"""A whole story with tiny models: exported, failed and mended, verified, decomposed, run, kept.

`STEPS` says it step by step. Each gives what came of it, to be held against what came of it before.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch
from torch import nn
from torch.export.pt2_archive._package import package_pt2

import explorer
from explorer.exploration import Exploration
from explorer.results.runs import available
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.record import Failure, to_json
from export_engine.shapes import Shapes, ShapesError
from export_engine.torch_internals import (
    count_cache_hits,
    deregister_container,
    linear_recurrence,
    move_program,
    scans_exported,
    truncate_program,
)


class Came(NamedTuple):
    """What came of a step."""

    always: Any
    """As on any torch."""
    all_of_it: Any = None
    """The same, with what some torch may leave out."""


class Telling:
    """A story that is being told: where its files go, and the export that most steps go on from."""

    def __init__(self, folder: Path, small: Exploration | None = None) -> None:
        self.folder = folder
        self._small = small

    def small(self) -> Exploration:
        if self._small is None:
            torch.manual_seed(0)
            call = (torch.randn(6, 3), torch.ones(6, 2))
            shapes = "x: batch[2..64], _; y: batch, _"
            self._small = explorer.explore(Small(), call, dynamic_shapes=shapes)
        return self._small


# The models


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu() + y


class Named(nn.Module):
    def forward(self, x: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        return x + sum(more.values())


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x.sin()
        return x.cos()


class Pair:
    def __init__(self, one: torch.Tensor, two: torch.Tensor) -> None:
        self.one = one
        self.two = two


class TakesPair(nn.Module):
    def forward(self, pair: Any) -> torch.Tensor:
        return pair.one + pair.two


class Picks(nn.Module):
    """Sizes computed from data, a check of the model's own, rounding."""

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        size = n.item()
        torch._check(size >= 2)
        torch._check(size <= x.shape[0])
        halves = x[: x.shape[0] // 2 * 2].reshape(-1, 2)
        return x.narrow(0, 0, size).sum() + halves.sum()


class Sums(nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a + b


def _branch_down(x: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda y: y.view(-1), lambda y: y.view(-1), (x,))


def _with_number(n: int, x: torch.Tensor) -> torch.Tensor:
    return x * n


_numbers = itertools.count()


# The steps


def export(telling: Telling) -> Came:
    return _export(telling.small())


def export_strict(_: Telling) -> Came:
    """While something of the user's is compiled, which stays."""
    compiled = torch.compile(lambda x: x + 1, backend="eager")
    compiled(torch.ones(2))
    call = (torch.ones(6, 3), torch.ones(6, 2))
    shapes = "x: rows, _; y: rows, _"
    ex = explorer.explore(Small(), call, dynamic_shapes=shapes, strict=True)
    assert ex.ok
    return _export(ex)


def export_keywords(_: Telling) -> Came:
    return Came(None, [_export(_named(strict)).all_of_it for strict in (False, True)])


def _named(strict: bool) -> Exploration:
    call = ((torch.ones(6, 3),), {"a": torch.ones(6, 3)})
    shapes = "x: batch, _; a: batch, _"
    return explorer.explore(Named(), *call, dynamic_shapes=shapes, strict=strict)


def export_sizes_of_data(_: Telling) -> Came:
    call = (torch.ones(6, 3), torch.tensor(4))
    return _export(explorer.explore(Picks(), call, dynamic_shapes="x: rows, _"))


def export_a_number(_: Telling) -> Came:
    shapes = {"n": torch.export.Dim.DYNAMIC, "x": None}
    return _export(explorer.explore(_with_number, (3, torch.ones(2)), dynamic_shapes=shapes))


def export_as_a_spec(_: Telling) -> Came:
    call = (torch.ones(6, 3), torch.ones(6, 3))
    try:
        ex = explorer.explore(Sums(), call, dynamic_shapes="a: rows, _; b: rows, _", spec=True)
    except ShapesError as error:
        return Came(None, str(error))
    return Came(None, _export(ex))


def export_with_switches(_: Telling) -> Came:
    options = frozenset({"backed_size_oblivious", "prefer_deferred_runtime_asserts_over_guards"})
    shapes = Shapes.parse("a: rows, _; b: rows, _")
    call = (torch.ones(6, 3), torch.ones(6, 3))
    request = Request(target=Sums(), args=call, dynamic_shapes=shapes, options=options)
    return Came(isinstance(capture(request), Exported))


def fail_and_mend(_: Telling) -> Came:
    return _mended(explorer.explore(Branches(), (torch.ones(3),)))


def fail_and_mend_strict(_: Telling) -> Came:
    return _mended(explorer.explore(Branches(), (torch.ones(3),), strict=True))


def fail_and_mend_sizes(_: Telling) -> Came:
    call = (torch.ones(4, 2), torch.ones(4, 2))
    return _mended(explorer.explore(Sums(), call, dynamic_shapes="a: rows, _; b: others, _"))


def fail_in_a_branch(_: Telling) -> Came:
    return _export(explorer.explore(_branch_down, (torch.ones(3, 2),), strict=True))


def mend_a_container(_: Telling) -> Came:
    try:
        return _mended(explorer.explore(TakesPair(), (Pair(torch.ones(2), torch.ones(2)),)))
    finally:
        deregister_container(Pair)


def mend_a_custom_op(_: Telling) -> Came:
    name = f"story::op{next(_numbers)}"

    @torch.library.custom_op(name, mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    ex = explorer.explore(lambda x: twice(x) + 1, (torch.ones(2, 3),))
    return Came(ex.ok, _applied(ex).replace(name, "the op"))


def fail_behind_an_op(_: Telling) -> Came:
    """Its fake kernel leads to another failure, and is taken back."""
    library = torch.library.Library("story", "FRAGMENT")
    name = f"op{next(_numbers)}"
    library.define(f"{name}(Tensor x) -> Tensor")
    library.impl(name, lambda x: x * 2, "CPU")

    def halved(x: torch.Tensor) -> torch.Tensor:
        y = getattr(torch.ops.story, name)(x)
        return y / 2 if y.sum() > 0 else y

    ex = explorer.explore(halved, (torch.ones(2, 3),))
    return Came(ex.ok, len(ex.fixes))


def verify(telling: Telling) -> Came:
    return _verified(telling.small())


def verify_a_custom_op(_: Telling) -> Came:
    @torch.library.custom_op(f"story::op{next(_numbers)}", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    twice.register_fake(torch.empty_like)
    return _verified(explorer.explore(lambda x: twice(x) + 1, (torch.ones(2, 3),)))


def _verified(ex: Exploration) -> Came:
    found = ex.verify(sizes=2)
    assert not [each.report for each in found.guarantees if each.report]
    return Came(
        [each.name for each in found.broken],
        [(each.name, each.verdict) for each in found.guarantees],
    )


def decompose(telling: Telling) -> Came:
    ex = telling.small()
    ex.decompose()
    try:
        return _export(ex)
    finally:
        ex.undo()


def run(telling: Telling) -> Came:
    rows = telling.small().run(backend=["eager", "program"]).rows
    return Came([(row.backend, row.outcome) for row in rows])


def profile(telling: Telling) -> Came:
    costs = telling.small().cost().measure()
    assert str(costs)
    return Came(True)


def move(telling: Telling) -> Came:
    program = telling.small().program
    moved = move_program(program, "cpu")
    assert moved is not program
    return Came(_given(moved))


def cut_short(telling: Telling) -> Came:
    program = telling.small().program
    return Came(_given(truncate_program(program, "relu")))


def backends(_: Telling) -> Came:
    named = explorer.backends("cpu")
    values = [each.without_values for each in available().backends]
    return Came([named["eager"], named["program"], named["inductor"]], [named, values])


def caches(_: Telling) -> Came:
    return Came(count_cache_hits() >= 0)


def save_and_read(telling: Telling) -> Came:
    file = telling.small().save(telling.folder / "small.pt2")
    return Came([each.name for each in explorer.load(file).record.targets])


def load(telling: Telling) -> Came:
    file = telling.small().save(telling.folder / "small.pt2")
    loaded = explorer.load(file, trusted=True)
    return Came(_given(loaded.program), _plain(loaded))


def load_one_of_several(telling: Telling) -> Came:
    file = telling.folder / "both.pt2"
    program = telling.small().program
    package_pt2(file, exported_programs={"first": program, "second": program})
    return Came(_given(explorer.load(file, model="second", trusted=True).program))


def save_several(telling: Telling) -> Came:
    model = nn.Linear(3, 3)
    call = (torch.ones(2, 3),)
    kit = explorer.explore_many({"first": (model, call), "second": (model, call)})
    kit.save(telling.folder / "several.pt2")
    return Came([*explorer.load(telling.folder / "several.pt2")])


def scan(_: Telling) -> Came:
    ones = torch.ones(4)
    with scans_exported() as can:
        if not can:
            return Came(None)
        states = linear_recurrence(_both, (ones, ones), 0)[1]
    return Came(None, states.tolist())


def _both(left: Any, right: Any) -> Any:
    return left[0] * right[0], right[0] * left[1] + right[1]


def compare_with_compile(_: Telling) -> Came:
    def slide(x: torch.Tensor) -> torch.Tensor:
        return x.relu() if x.shape[0] <= 4 else x.sigmoid()

    report = explorer.compare_with_compile(slide, (torch.ones(2, 3),), sizes="2,3,8").report
    return Came(True, [(each.outcome, each.made, each.recompiles) for each in report.calls])


def compare_breaks(_: Telling) -> Came:
    report = explorer.compare_with_compile(Branches(), (torch.ones(3),)).report
    return Came(True, (report.graphs, report.gaps, report.calls))


def trace_a_training_step(_: Telling) -> Came:
    def loss(model: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return model(x, y).sum()

    step = explorer.explore(loss, (Small(), torch.ones(6, 3), torch.ones(6, 2)), joint=True)
    return Came(True, [each.kind for each in step.record.signature.outputs])


def exportdb(_: Telling) -> Came:
    return Came(None, [each.name for each in explorer.exportdb.cases()])


def graph_breaks(_: Telling) -> Came:
    return Came(None, len(explorer.exportdb.graph_breaks()))


STEPS: dict[str, Callable[[Telling], Came]] = {
    each.__name__: each
    for each in (
        export,
        save_and_read,
        load,
        load_one_of_several,
        save_several,
        scan,
        run,
        decompose,
        verify,
        fail_and_mend,
        export_strict,
        move,
        cut_short,
        profile,
        caches,
        backends,
        exportdb,
        graph_breaks,
        export_keywords,
        export_a_number,
        export_as_a_spec,
        export_with_switches,
        mend_a_container,
        mend_a_custom_op,
        fail_behind_an_op,
        fail_and_mend_sizes,
        fail_in_a_branch,
        verify_a_custom_op,
        compare_with_compile,
        trace_a_training_step,
        export_sizes_of_data,
        fail_and_mend_strict,
        compare_breaks,
    )
}
"""The main ones first."""


def _export(ex: Exploration) -> Came:
    assert str(ex)
    ops = [str(each.target) for each in ex.program.graph.nodes] if ex.ok else []
    failure = ex.record.failure
    return Came((ex.ok, ops, failure.known if failure else True), _plain(ex))


def _mended(ex: Exploration) -> Came:
    """A failure, and what its first fix makes of it."""
    assert not ex.ok
    failed = _export(ex)
    offered = [(each.title, each.lossy) for each in ex.fixes]
    return Came(failed.always, (failed.all_of_it, offered, _applied(ex)))


def _applied(ex: Exploration) -> str:
    """The first fix, which leads to a program; nothing where none is offered."""
    if not ex.fixes:
        return ""
    title = ex.fixes[0].title
    ex.apply_fixes(0)
    assert ex.ok
    return title


def _given(program: Any) -> list[float]:
    """What a program gives for two rows."""
    torch.manual_seed(0)
    found = program.module()(torch.randn(6, 3), torch.ones(6, 2))
    leaves = found if isinstance(found, tuple | list) else [found]
    return [round(float(each.detach().sum()), 4) for each in leaves]


def _plain(ex: Exploration) -> Any:
    """The Record, but for what differs from one time to the next, and for what is left out."""
    record = ex.record
    failure = record.failure
    if isinstance(failure, Failure):
        failure = msgspec.structs.replace(failure, traceback="")
    kept = msgspec.structs.replace(record, timing=None, left_out=[], failure=failure)
    return json.loads(to_json(kept))

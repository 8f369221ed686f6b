"""Each private name of torch's taken away in turn: all else still works, and what goes is said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.exploration import Exploration
from export_engine.attempt import Kind
from export_engine.describe import attempt_record
from export_engine.exportdb import case_list, graph_breaks
from export_engine.torch_internals import (
    MissingCapabilityError,
    all_capabilities,
    capability,
    left_out,
    library,
    shape_hooks,
)
from export_engine.torch_internals.capability import PROBED, Capability, Looked

STAYS_CLOSED = "Files of programs are not opened."
NO_COMPARISON = "The comparison with torch.compile is left out."
GONE = "which torch 9.9 does not have"
BY_PATH = {each.path: each for each in all_capabilities()}


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(3, 2)

    def forward(self, x: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu() + sum(more.values())


class Undecided(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = x.sin()
        return x


_numbers = count()


def custom_op() -> Any:
    """An op without a fake kernel; a new one each time, for torch keeps what it learns of one."""

    @torch.library.custom_op(f"capabilities::op{next(_numbers)}", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    return twice


class Boxed:
    def __init__(self, value: torch.Tensor) -> None:
        self.value = value


class Takes(nn.Module):
    def forward(self, box: Boxed) -> torch.Tensor:
        return box.value + 1


class Added(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x + y


def exported(strict: bool = False) -> Exploration:
    torch.manual_seed(0)
    call = ((torch.randn(6, 3),), {"a": torch.ones(6, 2)})
    found = explorer.explore(
        Small(), *call, dynamic_shapes="x: batch[2..64], _; a: batch, _", strict=strict
    )
    assert found.ok, found
    return found


def failing(kind: Kind, target: Any, *args: Any, **options: Any) -> Exploration:
    found = explorer.explore(target, args, **options)
    assert not found.ok
    assert found.diagnosis is not None
    assert found.diagnosis.kind is kind, found
    assert found.fixes is not None
    return found


def in_strict_mode(_: Path) -> Exploration:
    failing(Kind.BRANCH_ON_DATA, Undecided(), torch.ones(3), strict=True)
    return exported(strict=True)


def with_failures(_: Path) -> Exploration:
    dims = "x: a, _; y: b, _"
    two = torch.ones(4, 2)
    failing(Kind.SHAPES_VIOLATED, Added(), two, two + 1, dynamic_shapes=dims, strict=False)
    return failing(Kind.BRANCH_ON_DATA, Undecided(), torch.ones(3), strict=False)


def with_an_unknown_input(_: Path) -> Exploration:
    return failing(Kind.UNKNOWN_INPUT_TYPE, Takes(), Boxed(torch.ones(2)), strict=False)


def with_an_unknown_op(_: Path) -> Exploration:
    return failing(Kind.NO_FAKE_KERNEL, custom_op(), torch.ones(2), strict=False)


def verified(_: Path) -> Exploration:
    found = exported()
    assert found.verify().ok, found.verify()
    return found


def decomposed(_: Path) -> Exploration:
    found = exported()
    found.decompose("core")
    assert found.ok, found
    return found


def run(_: Path) -> Exploration:
    found = exported()
    ran = found.run(backend=["eager", "program"])
    assert ran.ok, ran
    return found


def saved_and_loaded(folder: Path) -> Exploration:
    found = exported()
    file = found.save(folder / "model.pt2")
    guarded = [each for each in all_capabilities() if each.without == STAYS_CLOSED]
    if all(guarded):
        assert explorer.load(file).ok
    else:  # rather than run what is in it
        with pytest.raises(MissingCapabilityError, match=STAYS_CLOSED):
            explorer.load(file)
    return found


def beside_compile(_: Path) -> Exploration:
    needed = [each for each in all_capabilities() if each.without == NO_COMPARISON]
    if all(needed):
        found = explorer.compare_with_compile(Undecided(), (torch.ones(3),))
        assert found.report.graphs
    else:
        with pytest.raises(MissingCapabilityError, match=NO_COMPARISON):
            explorer.compare_with_compile(Undecided(), (torch.ones(3),))
    return exported()


def in_the_library(_: Path) -> Exploration:
    caches = (library.exportdb_cases, library.exportdb_library, library.graph_break_registry)
    caches += (library._ids_of_kinds, case_list.cases, graph_breaks.graph_break_pages)
    for each in caches:
        each.cache_clear()
    try:
        explorer.exportdb.search("cond")
        return exported()
    finally:
        for each in caches:
            each.cache_clear()


def as_is(_: Path) -> Exploration:
    return exported()


Step = Callable[[Path], Exploration]
STEPS: tuple[Step, ...] = (as_is, in_strict_mode, with_failures, verified, decomposed)
AFTER: tuple[Step, ...] = (
    with_an_unknown_input,
    with_an_unknown_op,
    run,
    saved_and_loaded,
    beside_compile,
    in_the_library,
)
"""Tried only without what no export asks for; in the others, everything is."""


class Consulted(dict[str, Looked]):
    """What has been probed, and which of it was asked for."""

    def __init__(self, probed: dict[str, Looked]) -> None:
        super().__init__(probed)
        self.asked: set[str] = set()

    def __getitem__(self, path: str) -> Looked:
        self.asked.add(path)
        return super().__getitem__(path)


@pytest.fixture(scope="module")
def consulted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Step]]:
    """Per capability, the steps that ask for it; the others cannot notice that it is gone."""
    found: dict[str, list[Step]] = defaultdict(list)
    for step in (*STEPS, *AFTER):
        with pytest.MonkeyPatch.context() as patch:
            probed = Consulted(PROBED)
            patch.setattr(capability, "PROBED", probed)
            patch.setattr(attempt_record, "left_out", lambda *_: [])  # it asks for all of them
            step(tmp_path_factory.mktemp("archive"))
        for path in probed.asked:
            if step in STEPS or as_is not in found[path]:
                found[path].append(step)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", BY_PATH)
def test_all_else_works_without_a_capability_and_the_view_says_what_is_missing(
    path: str,
    consulted: dict[str, list[Step]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    taken = BY_PATH[path]
    monkeypatch.setitem(PROBED, path, Looked(None, GONE))
    steps = consulted[path] or [as_is]
    if taken.area == "strict" and in_strict_mode not in steps:
        steps = [*steps, in_strict_mode]
    for step in steps:
        found = step(tmp_path)
        shown = taken.area in ("export", "run", "load") or step is in_strict_mode
        if taken.without and shown:
            assert any(GONE in said and path in said for said in found.record.left_out), step
            assert "Left out" in str(found)


def test_this_torch_lacks_nothing_that_costs_anything() -> None:
    assert left_out() == []


# What a probe finds


@pytest.fixture
def made() -> Iterator[Callable[..., Capability]]:
    """Makes capabilities that are not on the list afterwards."""
    before = dict(capability.REGISTRY)

    def make(path: str, **given: Any) -> Capability:
        return Capability(path, given.pop("without", "No lines."), **given)

    yield make
    for path in capability.REGISTRY.keys() - before.keys():
        del capability.REGISTRY[path]
        PROBED.pop(path, None)


@pytest.mark.parametrize(
    "path", ["torch.no_such", "torch.no.such.module", "torch.nn.Linear.no_such", "torch/none.json"]
)
def test_a_name_that_is_not_there_is_missing(made: Callable[..., Capability], path: str) -> None:
    found = made(path)

    assert not found
    version = torch.__version__.partition("+")[0]
    assert found.sentence == f"No lines. That needs {path}, which torch {version} does not have."
    with pytest.raises(MissingCapabilityError, match="does not have"):
        _ = found.value
    assert found.of(torch, "other") == "other"


def test_a_name_that_takes_other_arguments_is_missing(made: Callable[..., Capability]) -> None:
    wrapped = made("torch.fx.Interpreter.run", begins="self inputs")
    assert "takes other arguments (self, args" in wrapped.sentence
    called = made("torch.export.export", takes="module nothing=")
    assert "takes other arguments (mod, args" in called.sentence


def test_a_probe_that_fails_says_why(made: Callable[..., Capability]) -> None:
    found = made("torch.nn.Linear", probe=lambda cls: cls.nothing)
    assert "not as we know it" in found.sentence
    assert "AttributeError" in found.sentence


def test_an_attribute_of_instances_is_found(made: Callable[..., Capability]) -> None:
    assert made("torch.nn.Linear.in_features")
    assert made("torch.nn.Module().training").value is True
    assert not made("torch.nn.Linear.made_up")


def test_an_older_name_is_taken(made: Callable[..., Capability]) -> None:
    found = made("torch.newer_sin", older="sin")
    assert found
    assert found.name == "sin"
    assert found.of(torch) is torch.sin


def test_a_torch_from_before_a_name_does_without_it(made: Callable[..., Capability]) -> None:
    assert made("torch.of_tomorrow", since=(99, 0))
    assert not made("torch.of_yesterday", since=(1, 0))


def test_what_changed_in_a_trace_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that runs into another torch's objects costs its own record, and not the export."""
    monkeypatch.setattr(shape_hooks, "_asking_op", lambda: torch.renamed_in_2_99)
    found = exported()

    (said,) = [each for each in found.record.left_out if "_log_guard" in each]
    assert "renamed_in_2_99" in said
    assert found.record.guards == []

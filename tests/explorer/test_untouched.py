"""Every action on many models: the model, what it reaches and the process are as they were."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

import explorer
from explorer import Exploration
from export_engine.archive import ArchiveError

from .. import models, planted, seed_cases, untouched


class Call(NamedTuple):
    """A model and how it is called."""

    model: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    shapes: Any


class Cache:
    def __init__(self) -> None:
        self.tensors: dict[str, list[torch.Tensor]] = {"k": []}
        self.calls = 0


class Remembers(nn.Module):
    """Keeps things in every place that there is."""

    tally: list[int] = []  # noqa: RUF012 - one for all is the point

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.plain = torch.zeros(4)
        self.cache = Cache()
        self.nested = {"deep": [{"deeper": [0]}]}
        self.generator = torch.Generator().manual_seed(3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.cache.calls += 1
        self.cache.tensors["k"].append(x)
        self.nested["deep"][0]["deeper"].append(x.shape[0])
        self.tally.append(1)
        self.plain = self.plain + 1
        return self.norm(x) + self.plain


class WritesPlainly(nn.Module):
    """Writes to tensors that are no buffers, past autograd's count."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = torch.zeros(4)
        self.weight = nn.Parameter(torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not torch.compiler.is_compiling():
            self.plain.add_(1)
            self.weight.data.mul_(2)
            self.weight.requires_grad_(False)
        return x + self.weight


class Merges(nn.Module):
    """Merges an adapter into its weights in eval mode, as adapters do."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.merged = False

    def train(self, mode: bool = True) -> Merges:
        super().train(mode)
        if not mode and not self.merged:
            self.layer.weight.data += 1
            self.merged = True
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(self.layer(x), 0.5, self.training)


class Hooked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.seen: list[Any] = []
        self.layer.register_forward_hook(lambda _, args, out: self.seen.append(out))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class WithState(nn.Module):
    """Keeps a state in a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.state.add_(x.sum(0))
        return x + self.state


def calls() -> dict[str, Call]:
    x = torch.randn(3, 4)
    own: dict[str, Callable[..., Any]] = {
        "remembers": Remembers(),
        "writes-plainly": WritesPlainly(),
        "merges": Merges(),
        "hooked": Hooked(),
        "state": WithState(),
        "batch-norm": nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5)),
        "frozen": nn.Linear(4, 4).requires_grad_(False),
        "lstm": nn.LSTM(4, 5, batch_first=False),
    }
    found = {name: Call(model, (x,), {}, None) for name, model in own.items()}
    seeds = seed_cases.seed_cases()
    for case in [*seeds[::3], *(each for each in seeds if each.name in ("equal", "branch"))]:
        found[case.name] = Call(case.target, case.args, case.kwargs, case.shapes)
    for number, plant in list(enumerate(planted.plants()))[::3]:
        name = f"planted-{number}-{type(plant.faulty).__name__}"
        found[name] = Call(plant.faulty, plant.args, {}, plant.shapes or None)
    for name in ("branching", "vision", "tutorial"):
        example = models.CASES[name]()
        found[name] = Call(example.model, example.args, example.kwargs, example.shapes)
    return found


CALLS = calls()
FEW = ("batch-norm", "remembers", "equal", "branch", "writes-plainly", "merges")


def explored(call: Call, **options: Any) -> Exploration:
    return explorer.explore(
        call.model, call.args, call.kwargs, dynamic_shapes=call.shapes, **options
    )


def fixed(ex: Exploration) -> None:
    """Applies each of the first fixes alone, and comes back."""
    for number in range(min(len(ex.fixes), 2)):
        ex.session.apply(0, [number])
    ex.session.use(0)


def actions(call: Call, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """All that can be done with a call, one after the other."""
    made: list[Exploration] = []
    yield "export", lambda: made.append(explored(call))
    yield "strict", lambda: explored(call, strict=True)
    ex = made[0]
    yield "fixes", lambda: fixed(ex)
    if not ex.ok:
        yield "autofix", ex.autofix
    if ex.ok:
        yield "verify", lambda: ex.verify(1)
        yield "run", ex.run
        yield "profile", ex.profile
        yield "save", lambda: ex.save(folder / "model.pt2")
        yield "decompose", lambda: ex.decompose("core")
        yield "undo", ex.undo


def interrupted(call: Call, _: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The same, each interrupted at its first step and at a later one."""

    def at(step: int) -> Callable[[object], None]:
        left = step

        def progress(_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGINT)

        return progress

    ex = explored(call)
    for step in (1, 4):
        yield f"export {step}", lambda: explored(call, progress=at(step))  # noqa: B023
        if ex.ok:
            yield f"verify {step}", lambda: ex.verify(1, progress=at(step))  # noqa: B023
            yield f"run {step}", lambda: ex.run(progress=at(step))  # noqa: B023
            yield f"profile {step}", lambda: ex.profile(progress=at(step))  # noqa: B023
            yield f"decompose {step}", lambda: ex.decompose(progress=at(step))  # noqa: B023


def guided(call: Call, _: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield (
        "guide",
        lambda: explorer.guide(call.model, call.args, call.kwargs, dynamic_shapes=call.shapes),
    )


def state(call: Call) -> untouched.State:
    """Of the call, then of the process: told apart by how a path begins."""
    return {
        **untouched.of_call(call.model, call.args, call.kwargs),
        **untouched.of_process(),
    }


REFUSALS = (explorer.FixError, ArchiveError, explorer.ExportFailed, KeyboardInterrupt)
"""What an action may end with; torch cannot save or decompose every program."""


def changes(steps: Iterator[tuple[str, Callable[[], Any]]], call: Call) -> list[str]:
    """What the actions change, each."""
    found = []
    before = state(call)
    for name, act in steps:
        with suppress(*REFUSALS):
            act()
        after = state(call)
        found += [f"{name} changed {each}" for each in untouched.differences(before, after)]
        before = after
    return found


INTERRUPTED = ("batch-norm", "remembers", "equal", "state", "branch", "planted-27-FillsCache")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What the actions import is imported: that adds modules, operators and paths, once.

    So is what Dynamo adds to `nn.Module` for good when it first traces a branch of torch.cond.
    """
    cond = next(each for each in seed_cases.seed_cases() if each.name == "cond")
    for call in (
        Call(nn.Linear(4, 4), (torch.ones(3, 4),), {}, None),
        Call(cond.target, cond.args, cond.kwargs, cond.shapes),
    ):
        for _, act in actions(call, tmp_path_factory.mktemp("imported")):
            with suppress(*REFUSALS):
                act()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("imported")
@pytest.mark.slow
def test_no_action_changes_anything(name: str, tmp_path: Path) -> None:
    assert changes(actions(CALLS[name], tmp_path), CALLS[name]) == []


@pytest.mark.parametrize("name", INTERRUPTED)
@pytest.mark.usefixtures("imported", "sigint_heard")
@pytest.mark.slow
def test_no_interrupted_action_changes_anything(name: str, tmp_path: Path) -> None:
    assert changes(interrupted(CALLS[name], tmp_path), CALLS[name]) == []


@pytest.mark.parametrize("name", ["batch-norm", "branch"])
@pytest.mark.usefixtures("imported")
@pytest.mark.slow
def test_a_guide_changes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # it writes its report there
    assert changes(guided(CALLS[name], tmp_path), CALLS[name]) == []


def test_there_are_many_models() -> None:
    assert len(CALLS) >= 40


def test_a_change_is_seen() -> None:
    model, x = Remembers(), torch.ones(3, 4)
    call = Call(model, (x,), {}, None)

    def change(act: Callable[[], Any]) -> list[str]:
        return changes(iter([("it", act)]), call)

    assert change(lambda: None) == []
    assert change(lambda: model(x))
    assert change(lambda: model.norm.running_mean.data.add_(1))  # type: ignore[union-attr]
    assert change(lambda: model.cache.tensors["k"].append(x))
    assert change(lambda: x.add_(1))
    assert change(lambda: model.norm.weight.requires_grad_(False))
    assert change(lambda: torch.rand(1))
    assert change(lambda: warnings.simplefilter("always"))

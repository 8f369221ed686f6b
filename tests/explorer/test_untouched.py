"""Every action on many models: the model, what it reaches and the process are as they were."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

import explorer
from explorer import Exploration
from explorer.session.session import Session
from export_engine.archive import ArchiveError
from export_engine.attempt import Kind
from export_engine.run import measure, op_profile
from export_engine.shapes import ShapesError

from .. import models, planted, seed_cases, untouched
from ..untouched_models import Remembers, own_models

Step = tuple[str, Callable[[], Any]]


class Call(NamedTuple):
    """A model and how it is called."""

    model: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    shapes: Any


def calls() -> dict[str, Call]:
    found = {name: Call(model, args, {}, None) for name, model, args in own_models()}
    seeds = seed_cases.seed_cases()
    for case in [*seeds[::5], *(each for each in seeds if each.name in ("equal", "branch"))]:
        found[case.name] = Call(case.target, case.args, case.kwargs, case.shapes)
    callable_ones = [each for each in planted.plants() if each.kind is not Kind.NAME_TAKEN]
    for number, plant in list(enumerate(callable_ones))[::5]:
        name = f"planted-{number}-{type(plant.faulty).__name__}"
        found[name] = Call(plant.faulty, plant.args, {}, plant.shapes or None)
    for name in ("branching", "tutorial"):
        example = models.CASES[name]()
        found[name] = Call(example.model, example.args, example.kwargs, example.shapes)
    return found


CALLS = calls()


def explored(call: Call, **options: Any) -> Exploration:
    return explorer.explore(
        call.model, call.args, call.kwargs, dynamic_shapes=call.shapes, **options
    )


def fixed(ex: Exploration, progress: Any = None) -> None:
    """Applies the first fix, and comes back."""
    if ex.fixes:
        ex.session.apply(0, [0], progress)
        ex.session.use(0)


def actions(call: Call, folder: Path, part: int | None = None) -> Iterator[Step]:
    """What can be done with a call, one after the other.

    Args:
        call: the call.
        folder: where files go.
        part: 0 or 1 for half of what follows an export, so that neighbours share it; None for all.
    """
    made: list[Exploration] = []
    file = folder / "model.pt2"
    yield "export", lambda: made.append(explored(call))
    yield "strict", lambda: explored(call, strict=True)
    if not made:
        return
    ex = made[0]
    yield "fixes", lambda: fixed(ex)
    if not ex.ok:
        yield "autofix", ex.autofix
    if part != 1:
        yield "show", ex._repr_mimebundle_
        yield "html", lambda: ex.save(folder / "report.html")
    if ex.ok and part != 1:
        yield "verify", lambda: ex.verify(1)
        yield "watch", ex.watch
    if ex.ok and part != 0:
        yield "run", ex.run
        yield "profile", ex.cost().measure
        yield "save", lambda: ex.save(file)
        yield "load", lambda: explorer.load(file, trusted=True).program
        yield "compare", lambda: str(explorer.diff(ex, file))
        yield "decompose", lambda: ex.decompose("core")
        yield "undo", ex.undo


def once(call: Call, _: Path) -> Iterator[Step]:
    """What costs more, and is the same for every model."""
    target = call.model, call.args, call.kwargs
    yield "guide", lambda: explorer.guide(*target, dynamic_shapes=call.shapes)
    yield (
        "compare with torch.compile",
        lambda: explorer.compare_with_compile(*target, dynamic_shapes=call.shapes),
    )


def failing(call: Call, folder: Path) -> Iterator[Step]:
    """The same, each with something that lets it fail, early or late."""
    ex = explored(call)
    broken, file, missing = folder / "broken.pt2", folder / "model.pt2", folder / "no" / "folder"
    ex.save(file)
    broken.write_bytes(file.read_bytes()[:-2000])
    wrong = tuple(torch.ones(7, 7, 7) for _ in call.args)

    def raises(*_: object, **__: object) -> None:
        raise ValueError("planned")

    op = next(iter(node.target for node in ex.program.graph.nodes if node.op == "call_function"))
    yield "export of a wrong call", lambda: explored(call._replace(args=(*call.args,) * 9))
    yield "export of wrong shapes", lambda: explored(call._replace(shapes="nothing: batch"))
    yield "export of wrong inputs", lambda: explored(call._replace(args=wrong))
    yield "no fix", lambda: ex.session.apply(0, [9])
    yield "verify of no program", explored(call._replace(args=wrong)).verify
    yield "run on no device", lambda: ex.run("cuda:7")
    yield "run of wrong inputs", lambda: ex.run(inputs=wrong)
    yield "profile of wrong inputs", lambda: ex.cost().measure(inputs=wrong)
    yield "no table", lambda: ex.decompose("nonsense")
    yield "a table that raises", lambda: ex.decompose({op: raises})
    yield "save into no folder", lambda: ex.save(missing / "model.pt2")
    yield "load of a broken file", lambda: explorer.load(broken, trusted=True).program
    yield "html into no folder", lambda: ex.save(missing / "report.html")
    yield "compare with a broken file", lambda: explorer.diff(ex, broken)

    def without(name: str, act: Callable[[], Any]) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(torch.export, name, raises)
            act()

    yield "save that torch cannot", lambda: without("save", lambda: ex.save(file))
    yield (
        "load that torch cannot",
        lambda: without("load", lambda: explorer.load(file, trusted=True).program),
    )


POINTS = (40, 1_500, 25_000)
"""An action is interrupted when Python has called so many functions in it."""


def interrupted(call: Call, folder: Path) -> Iterator[Step]:
    """The same, each interrupted at its beginning, soon after and later."""
    ex = explored(call)
    file = folder / "model.pt2"
    doing: dict[str, Callable[[], Any]] = {
        "export": lambda: explored(call),
        "strict": lambda: explored(call, strict=True),
        "fixes": lambda: fixed(ex),
        "autofix": ex.autofix,
        "html": lambda: ex.save(folder / "report.html"),
    }
    if ex.ok:
        ex.save(file)
        doing |= {
            "verify": lambda: ex.verify(1),
            "run": ex.run,
            "profile": ex.cost().measure,
            "watch": ex.watch,
            "save": lambda: ex.save(folder / "again.pt2"),
            "load": lambda: explorer.load(file, trusted=True).program,
            "compare": lambda: str(explorer.diff(ex, file)),
            "decompose": lambda: explored_again(ex).decompose(),
        }
    for name, act in doing.items():
        for point in POINTS:
            yield f"{name}, interrupted at {point}", lambda: at(point, act)  # noqa: B023


def explored_again(ex: Exploration) -> Exploration:
    """The same program, of which nothing has been made yet."""
    return Exploration(Session(list(ex.session.entries[:1])))


def at(point: int, act: Callable[[], Any]) -> None:
    """Acts, and interrupts it when Python has called so many functions."""
    left = point

    def called(_: object, event: str, __: object) -> None:
        nonlocal left
        left -= event == "call"
        if left == 0:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    sys.setprofile(called)
    try:
        act()
    finally:
        sys.setprofile(None)


def state(call: Call) -> untouched.State:
    """Of the call, then of the process: told apart by how a path begins."""
    return {
        **untouched.of_call(call.model, call.args, call.kwargs),
        **untouched.of_process(),
    }


REFUSALS = (
    *(explorer.errors.FixError, ArchiveError, explorer.errors.ExportFailed, ShapesError),
    *(TypeError, ValueError, OSError, KeyboardInterrupt),
)
"""What an action may end with; torch cannot save or decompose every program."""


def changes(steps: Iterator[Step], call: Call) -> list[str]:
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


FAILING = ("batch-norm", "remembers")
INTERRUPTED = ("remembers", "batch-norm", "branch", "equal")


def in_turn(names: Iterable[str]) -> list[Any]:
    """Every second one is of `make test-thorough`."""
    marks = ([], [pytest.mark.thorough])
    return [pytest.param(name, marks=marks[number % 2]) for number, name in enumerate(names)]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What the actions import is imported, and nothing is timed for long."""
    with prepared(tmp_path_factory.mktemp("imported")):
        yield


@contextmanager
def prepared(folder: Path) -> Iterator[None]:
    """After what the actions import: that adds modules, operators and paths, once.

    So is what Dynamo adds to `nn.Module` for good when it first traces a branch of torch.cond.
    Nothing is timed for long here.
    """
    cond = next(each for each in seed_cases.seed_cases() if each.name == "cond")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "_SECONDS", 0.001)
        patch.setattr(measure, "_MOST_CALLS", 4)
        patch.setattr(op_profile, "_SECONDS", 0.0)
        patch.chdir(folder)  # a guide writes its report there
        linear = Call(nn.Linear(4, 4), (torch.ones(3, 4),), {}, None)
        branches = Call(cond.target, cond.args, cond.kwargs, cond.shapes)
        steps = (doing(linear, folder) for doing in (actions, once, failing))
        for _, act in itertools.chain(*steps, actions(branches, folder)):
            with suppress(*REFUSALS):
                act()
        yield


def say_interrupted(folder: Path, step: int) -> None:
    """Prints as JSON what interrupted actions change, by model: one of `step` of them."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with prepared(folder):
        calls = {name: CALLS[name] for name in INTERRUPTED[::step]}
        found = {name: changes(interrupted(call, folder), call) for name, call in calls.items()}
    print(json.dumps(found))


@pytest.fixture(scope="module")
def after_interrupts(
    tmp_path_factory: pytest.TempPathFactory, one_of: Callable[[int], int]
) -> dict[str, list[str]]:
    """What interrupted actions change, found in a process of its own.

    A point is a number of calls: what else ran in a process changes where in an action that is.
    """
    folder = tmp_path_factory.mktemp("interrupted")
    imports = f"from pathlib import Path; from {__name__} import say_interrupted"
    called = f"say_interrupted(Path({str(folder)!r}), {one_of(2)})"
    command = [sys.executable, "-c", f"{imports}; {called}"]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("name", in_turn(CALLS))
@pytest.mark.slow
@pytest.mark.usefixtures("imported")
def test_no_action_changes_anything(
    name: str, tmp_path: Path, one_of: Callable[[int], int]
) -> None:
    part = list(CALLS).index(name) // 2 % 2 if one_of(2) == 2 else None
    assert changes(actions(CALLS[name], tmp_path, part), CALLS[name]) == []


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.slow
@pytest.mark.usefixtures("imported")
def test_no_action_that_fails_changes_anything(name: str, tmp_path: Path) -> None:
    assert changes(failing(CALLS[name], tmp_path), CALLS[name]) == []


@pytest.mark.parametrize("name", in_turn(INTERRUPTED))
@pytest.mark.slow
@pytest.mark.usefixtures("imported")
def test_no_interrupted_action_changes_anything(
    name: str, after_interrupts: dict[str, list[str]]
) -> None:
    assert after_interrupts[name] == []


@pytest.mark.parametrize("name", ["batch-norm", "branch"])
@pytest.mark.slow
@pytest.mark.usefixtures("imported")
def test_a_guide_and_a_comparison_with_compile_change_nothing(name: str, tmp_path: Path) -> None:
    assert changes(once(CALLS[name], tmp_path), CALLS[name]) == []


def test_there_are_many_models() -> None:
    assert len(CALLS) >= 40


@pytest.mark.after_check
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

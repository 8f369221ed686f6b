"""Two threads at once: one waits for the other, and the process is as it was afterwards."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.capture import capture

from .. import untouched

NOTED = 0


class Noting(nn.Module):
    """Sets an attribute and a global."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.last: Any = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        global NOTED  # noqa: PLW0603 - that is the point
        NOTED += 1
        self.last = x
        print("called")
        return self.layer(x)


def together(*acts: Callable[[], Any]) -> list[Any]:
    """What each gives, all begun at the same moment."""
    begun = Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        begun.wait()
        return act()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [each.result() for each in [pool.submit(run, act) for act in acts]]


def exported(model: nn.Module) -> Any:
    return capture(Request(target=model, args=(torch.ones(3, 4),)))


@pytest.mark.slow
def test_two_captures_at_once_succeed_and_leave_everything_as_it_was() -> None:
    model = Noting()
    exported(model)  # what is imported at first is imported
    streams, load = (sys.stdout, sys.stderr), torch.load
    before = {**untouched.of_call(model), **untouched.of_process()}
    found = together(*[lambda: exported(model)] * 3)
    assert all(isinstance(each, Exported) for each in found)
    assert [each.printed for each in found] == ["called\n"] * 3
    after = {**untouched.of_call(model), **untouched.of_process()}
    assert untouched.differences(before, after) == []
    assert (sys.stdout, sys.stderr) == streams
    assert torch.load is load
    assert (NOTED, model.last) == (0, None)


@pytest.mark.slow
def test_overlapping_loads_leave_torch_load_as_it_was(tmp_path: Path) -> None:
    import explorer

    files = [tmp_path / f"{number}.pt2" for number in range(2)]
    for file in files:
        explorer.explore(Noting(), (torch.ones(3, 4),)).save(file)
    load = torch.load
    found = together(*[lambda file=file: explorer.load(file).program for file in files])  # type: ignore[misc]
    assert len(found) == 2
    assert torch.load is load


OTHERS = 0
STARTED, SET = Event(), Event()


class Waiting(nn.Module):
    """Reads a global, and is slow enough for another thread to set it meanwhile."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = OTHERS
        STARTED.set()
        assert SET.wait(60)
        return x + before


def test_a_global_that_another_thread_sets_during_a_trace_stays_set() -> None:
    """It is put back only where the model can have set it, or where it holds a fake tensor."""

    def set_it() -> None:
        global OTHERS  # noqa: PLW0603 - that is the point
        assert STARTED.wait(60)
        OTHERS = 7
        SET.set()

    together(lambda: exported(Waiting()), set_it)
    assert OTHERS == 7

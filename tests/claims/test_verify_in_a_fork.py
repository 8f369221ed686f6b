"""A large program is checked by two processes: what is said is the same, whatever the fork does."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
import torch
from torch import nn

import explorer
from export_engine.process import can_fork, run_forked
from export_engine.process import forks as process_forks
from export_engine.verify import contract_soundness, guarantees, program_under_test

pytestmark = pytest.mark.skipif(not can_fork([]), reason="no fork here: Linux with two cores")


class Long(nn.Module):
    def __init__(self, times: int = 8) -> None:
        super().__init__()
        self.line, self.times = nn.Linear(4, 4), times
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        for _ in range(self.times):
            x = self.line(x).relu() + x
        return x


@pytest.fixture(scope="module")
def long() -> explorer.Exploration:
    return explorer.explore(Long(), (torch.randn(3, 4),), dynamic_shapes="x: batch, _")


def said(verified: explorer.Verified) -> dict[str, tuple[str, str]]:
    return {each.name: (each.verdict, each.sentence) for each in verified.guarantees}


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> list[process_forks.Forked[object]]:
    """Those that are made; a program of a few ops is large."""
    monkeypatch.setattr(program_under_test, "LARGE", 20)
    made: list[process_forks.Forked[object]] = []
    make = process_forks.Forked.__init__

    def noted(self: process_forks.Forked[object], calls: object) -> None:
        make(self, calls)  # type: ignore[arg-type]
        made.append(self)

    monkeypatch.setattr(process_forks.Forked, "__init__", noted)
    return made


def has_ended(fork: process_forks.Forked[object]) -> bool:
    try:
        os.kill(fork._child, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
def test_a_fork_says_what_this_process_says(
    long: explorer.Exploration,
    forks: list[process_forks.Forked[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(contract_soundness, "_MOST_SIZES", 0)  # else as many as there is time for
    before = long.program.state_dict["calls"].clone()
    threads = torch.get_num_threads()
    with_fork = said(long.verify())
    assert len(forks) == 1
    assert has_ended(forks[0])
    assert sorted(forks[0]._answers) == ["decomposed", "functional"]
    assert torch.equal(long.program.state_dict["calls"], before)
    assert torch.get_num_threads() == threads

    monkeypatch.setattr(guarantees, "can_fork", lambda tensors: False)
    assert said(long.verify()) == with_fork
    assert len(forks) == 1


@pytest.mark.slow
def test_a_fork_that_dies_loses_nothing(
    long: explorer.Exploration,
    forks: list[process_forks.Forked[object]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(process_forks, "_answer", die)
    assert long.verify().ok
    assert len(forks) == 1
    assert not forks[0]._answers


def test_a_fork_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_forks, "_LEAST", 0.2)
    lock = threading.Lock()
    lock.acquire()
    with run_forked({"quick": lambda: 1, "stuck": lock.acquire}) as fork:
        assert fork.wait("quick") == 1
        assert fork.wait("stuck") is None
    assert has_ended(fork)


def test_a_call_that_raises_in_a_fork_has_no_answer() -> None:
    def fail() -> int:
        raise ValueError

    with run_forked({"fails": fail, "answers": lambda: 2}) as fork:
        assert fork.wait("answers") == 2
        assert fork.wait("fails") is None


def test_an_interrupt_ends_the_fork() -> None:
    # A shell's background jobs ignore an interrupt, and Python then leaves it so.
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)

    def later() -> None:
        time.sleep(0.3)
        signal.raise_signal(signal.SIGINT)

    try:
        threading.Thread(target=later).start()
        with pytest.raises(KeyboardInterrupt), run_forked({"long": lambda: time.sleep(60)}) as fork:
            fork.wait("long")
    finally:
        signal.signal(signal.SIGINT, earlier)
    assert has_ended(fork)


def test_tensors_that_another_process_shares_are_not_written_by_two() -> None:
    assert can_fork([torch.ones(3), torch.ones(3, device="meta"), 5])
    assert not can_fork([torch.ones(3).share_memory_()])


def test_large_answers_arrive_whole() -> None:
    with run_forked({"large": lambda: b"x" * 3_000_000}) as fork:
        answer = fork.wait("large")
    assert answer == b"x" * 3_000_000

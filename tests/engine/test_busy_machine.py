"""What is far slower than another backend is timed again, for the machine may have been busy."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import nn

from explorer.text.run_text import is_noisy
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import RunRow, RunTimes
from export_engine.run import Plan, run, run_row


def timed(monkeypatch: pytest.MonkeyPatch, *medians: float) -> tuple[RunRow, RunRow]:
    """The rows of eager and the program, where warm calls take these seconds, one after another."""
    left: Iterator[float] = iter(medians)

    def warm(call: object, device: str, first: float, prepare: float) -> RunTimes:
        median = next(left)
        return RunTimes(median, median / 100, 9, first, prepare)

    monkeypatch.setattr(run_row, "warm_times", warm)
    attempt = capture(Request(target=nn.ReLU(), args=(torch.ones(3),)))
    assert isinstance(attempt, Exported)
    rows: list[RunRow] = []
    run(attempt, describe(attempt), Plan(), rows.append)
    assert next(left, None) is None
    eager, program = rows
    return eager, program


def test_a_disturbed_time_is_taken_again_and_said_to_be_noisy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, program = timed(monkeypatch, 0.001, 0.596, 0.0012)

    assert program.times is not None
    assert program.times.median == 0.0012
    assert is_noisy(program.times)


def test_what_is_far_slower_both_times_is_so_and_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    _, program = timed(monkeypatch, 0.001, 0.02, 0.021)

    assert program.times is not None
    assert program.times.median == 0.02
    assert not is_noisy(program.times)


def test_what_is_about_as_quick_is_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    eager, program = timed(monkeypatch, 0.001, 0.003)

    assert eager.times is not None
    assert program.times is not None
    assert program.times.median == 0.003

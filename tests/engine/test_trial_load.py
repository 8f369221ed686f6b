"""Compiled code is tried in another process first: what ends it ends no session.

`test_input_strides.py` loads a package there.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from export_engine.run.builtin_backends import trial_load
from export_engine.run.builtin_backends.trial_load import try_load_first

READS = "import sys; sys.stdin.readline()\n"


@pytest.fixture(autouse=True)
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_load, "_loads", set())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[str]]:
    """The processes that were started."""
    found: list[subprocess.Popen[str]] = []
    own: Callable[..., subprocess.Popen[str]] = subprocess.Popen

    def start(*args: object, **kwargs: object) -> subprocess.Popen[str]:
        found.append(own(*args, **kwargs))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return found


def test_what_loads_there_is_tried_once(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_load, "_CODE", READS)
    for _ in range(2):
        with try_load_first("aoti") as tries:
            tries(Path("model.pt2"))
    assert len(started) == 1
    assert started[0].returncode == 0


@pytest.mark.after_check
@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT"])
def test_what_ends_that_process_is_an_error(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"{READS}import os, signal; os.kill(os.getpid(), signal.{name})"
    monkeypatch.setattr(trial_load, "_CODE", code)
    for _ in range(2):  # a file that does not load says nothing of the next
        with try_load_first("aoti") as tries, pytest.raises(RuntimeError, match=name):
            tries(Path("model.pt2"))


def test_an_error_there_is_left_to_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_load, "_CODE", "raise ImportError")
    with try_load_first("aoti") as tries:
        tries(Path("model.pt2"))


def test_nothing_is_left_where_compiling_is_interrupted(
    started: list[subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial_load, "_CODE", READS)
    with pytest.raises(KeyboardInterrupt), try_load_first("aoti"):
        raise KeyboardInterrupt
    assert started[0].returncode is not None

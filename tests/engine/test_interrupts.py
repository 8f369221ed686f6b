"""Interrupts: each arrives, wherever Python raises it, and none leaves a thing changed."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any

import pytest
import torch
from torch import nn

from export_engine.attempt import DecompositionTable, Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.process import sandbox, undone
from export_engine.run import Plan, profile, run
from export_engine.transform import decompose
from export_engine.verify import check, verify

from .test_tracing import torch_state


class Finalized:
    """Interrupts when it is freed: Python drops what a finalizer raises."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def caught() -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except BaseException:  # noqa: BLE001 - as some libraries do
        return


WAYS: dict[str, Callable[[], Any]] = {"finalizer": Finalized, "caught": caught}


class Losing(nn.Module):
    """Loses an interrupt on its way, when it is told to."""

    def __init__(self, way: str, calls: int = 0) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.lose, self.calls = WAYS[way], calls

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if LOSING:
            self.lose()
        return self.layer(x) + 1


LOSING: list[bool] = []


@pytest.fixture(autouse=True)
def heard(sigint_heard: None) -> None:
    """All of these send SIGINT."""


@pytest.fixture
def losing() -> Iterator[None]:
    yield
    LOSING.clear()


def interrupted(action: Callable[[], Any]) -> None:
    before = torch_state()
    LOSING.append(True)
    with pytest.raises(KeyboardInterrupt):
        action()
    LOSING.clear()
    assert torch_state() == before
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("losing")
@pytest.mark.slow
def test_an_interrupt_that_python_drops_arrives_all_the_same(way: str) -> None:
    request = Request(target=Losing(way), args=(torch.ones(2, 3),))
    for _ in range(10):
        interrupted(lambda: capture(request))


@pytest.mark.parametrize(
    ("function", "at"),
    [
        ("_device_handler", "call"),
        ("_pop_mode", "call"),
        ("_push_mode", "return"),
        ("unset_mode_pre_dispatch", "call"),
    ],
)
@pytest.mark.usefixtures("sigint_heard")
def test_an_interrupt_where_torch_cannot_bear_one_comes_later(function: str, at: str) -> None:
    """In what C++ asks Python for, or with a mode half entered, it would end the process."""

    def called(frame: FrameType, event: str, _: object) -> None:
        if (event, frame.f_code.co_name) == (at, function):
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    sys.setprofile(called)
    try:
        with pytest.raises(KeyboardInterrupt):
            capture(Request(target=model, args=(torch.ones(3, 4),)))
    finally:
        sys.setprofile(None)
    assert not torch._C._len_torch_dispatch_stack()


ACTIONS: dict[str, Callable[[Exported], Any]] = {
    "check": check,
    "verify": lambda found: verify(found, describe(found)),
    "run": lambda found: run(found, describe(found), Plan(backends="eager"), lambda _: None),
}


@pytest.mark.after_check
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.usefixtures("losing")
def test_so_it_does_in_every_action_that_runs_the_model(action: str) -> None:
    found = capture(Request(target=Losing("finalizer"), args=(torch.ones(2, 3),)))
    assert isinstance(found, Exported)
    interrupted(lambda: ACTIONS[action](found))


@pytest.mark.parametrize("action", ["decompose", "profile"])
@pytest.mark.slow
def test_so_it_does_between_the_ops_of_a_program(action: str) -> None:
    found = capture(Request(target=nn.Linear(3, 3), args=(torch.ones(2, 3),)))
    assert isinstance(found, Exported)

    def progress(_: object) -> None:
        Finalized()

    core = DecompositionTable.parse("core")
    acting = {
        "profile": lambda: profile(found, describe(found), progress=progress),
        "decompose": lambda: decompose(found, core, progress),
    }
    with pytest.raises(KeyboardInterrupt):
        acting[action]()


def test_a_dropped_interrupt_is_not_written_to_the_cell(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(KeyboardInterrupt), sandbox():
        Finalized()
    assert capsys.readouterr().err == ""


def test_a_handler_of_the_users_own_stays() -> None:
    heard = []
    own = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        with sandbox():
            signal.raise_signal(signal.SIGINT)
        assert heard == [1]
    finally:
        assert signal.signal(signal.SIGINT, own) is not own


def test_what_a_handler_of_the_users_own_raises_in_a_finalizer_arrives() -> None:
    def raising(*_: object) -> None:
        raise KeyboardInterrupt

    own = signal.signal(signal.SIGINT, raising)
    try:
        with pytest.raises(KeyboardInterrupt), sandbox():
            Finalized()
    finally:
        signal.signal(signal.SIGINT, own)


@pytest.mark.after_check
def test_an_interrupt_ends_the_wait_for_another_thread() -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with sandbox():
            entered.set()
            leave.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(60)
    timer = threading.Timer(
        0.3, lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    )
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt), sandbox():
            pass
    finally:
        leave.set()
        thread.join()
        timer.join()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with sandbox():
        pass


def test_an_interrupt_waits_until_a_context_is_entered_and_until_it_is_left() -> None:
    done = []

    @undone
    def changing() -> Iterator[None]:
        signal.raise_signal(signal.SIGINT)
        done.append("changed")
        try:
            yield
        finally:
            signal.raise_signal(signal.SIGINT)
            done.append("put back")

    with pytest.raises(KeyboardInterrupt), changing():
        raise AssertionError("entered in spite of the interrupt")
    assert done == ["changed", "put back"]


OURS = ("/process/", "/sandbox/", "patching", "hooks", "source_edits")


def traced(action: Callable[[], Any], each: Callable[[FrameType, str], None]) -> None:
    """Calls `each` at every line, call and return of what looks, patches and puts back."""

    def each_line(frame: FrameType, event: str, _: Any) -> Any:
        each(frame, event)
        return each_line

    def each_call(frame: FrameType, event: str, _: Any) -> Any:
        name = frame.f_code.co_filename
        ours = "export_engine" in name and any(part in name for part in OURS)
        return each_line(frame, event, None) if ours else None

    own = sys.gettrace()
    sys.settrace(each_call)
    try:
        action()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(own)


def interrupted_at(number: int, action: Callable[[], Any]) -> bool:
    """Interrupts at the n-th event; whether there is one."""
    left = number

    def each(_: FrameType, __: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            signal.raise_signal(signal.SIGINT)

    traced(action, each)
    return left <= 0


def each_line_once(action: Callable[[], Any]) -> list[int]:
    """The numbers of events: of each line, call and return, one."""
    first: dict[tuple[Any, int, str], int] = {}
    number = 0

    def each(frame: FrameType, event: str) -> None:
        nonlocal number
        number += 1
        first.setdefault((frame.f_code, frame.f_lineno, event), number)

    traced(action, each)
    return list(first.values())


class Keeping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen.append(x)
        print("seen", len(self.seen))
        return x + self.total


def shown_by() -> tuple[Any, ...]:
    return sys.stdout, sys.stderr, sys.unraisablehook, warnings.showwarning


def is_free() -> bool:
    """Whether another thread gets into the sandbox."""
    entered = threading.Event()

    def other() -> None:
        with sandbox():
            entered.set()

    threading.Thread(target=other, daemon=True).start()
    return entered.wait(20)


def check_interrupts(numbers: Iterable[int]) -> None:
    """Interrupts a capture at each of these events, as far as there are so many."""
    model = Keeping().eval()
    request = Request(target=model, args=(torch.ones(3),), eval_mode=True)
    capture(request)
    before, shown = torch_state(), shown_by()
    model.train()
    lines = 0
    for number in numbers:
        if not interrupted_at(number, lambda: capture(request)):
            break
        assert torch_state() == before, number
        assert shown_by() == shown, number
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, number
        assert model.training, number
        assert model.seen == [], number
        assert is_free(), f"the lock is held after an interrupt at {number}"
        lines += 1
    assert lines > 10


@pytest.mark.slow
def test_an_interrupt_at_any_line_leaves_nothing_changed() -> None:
    check_interrupts(itertools.count(3, 197))


@pytest.mark.slow
def test_nor_does_it_at_each_line(one_of: Callable[[int], int]) -> None:
    request = Request(target=Keeping(), args=(torch.ones(3),), eval_mode=True)
    capture(request)
    check_interrupts(each_line_once(lambda: capture(request))[:: one_of(6)])


def raising(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("own", [signal.default_int_handler, raising], ids=["python", "own"])
@pytest.mark.slow
def test_entering_and_leaving_are_whole_whoever_handles_interrupts(own: Any) -> None:
    def twice() -> None:
        with sandbox(), sandbox():
            pass

    shown = shown_by()
    before = signal.signal(signal.SIGINT, own)
    try:
        for number in itertools.count(1):
            if not interrupted_at(number, twice):
                break
            assert shown_by() == shown, number
            assert signal.getsignal(signal.SIGINT) is own, number
            assert is_free(), number
    finally:
        signal.signal(signal.SIGINT, before)
    assert number > 50

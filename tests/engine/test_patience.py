"""A model that never ends on inputs that nobody gave it is left after a while, as it was."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.process import Deadline
from export_engine.process.deadline import TookTooLong
from export_engine.shapes import Shapes
from export_engine.verify import check, run
from tests.untouched import of_call


def for_ever() -> None:
    while True:
        with suppress(Exception):  # as a model may
            time.sleep(0.001)


@pytest.mark.after_check
def test_a_call_that_does_not_end_is_left_and_so_is_the_next() -> None:
    patience = Deadline(0.4)
    for _ in range(2):
        started = time.monotonic()
        with pytest.raises(TookTooLong, match="did not finish within 0"):
            patience.call(for_ever)
        assert time.monotonic() - started >= 0.4
    assert patience.call(max, 1, 2) == 2
    assert not [each for each in threading.enumerate() if each.name.endswith("(_ring)")]


@pytest.mark.after_check
def test_the_first_call_has_all_the_time_and_the_others_many_times_as_much() -> None:
    patience = Deadline()
    patience.call(time.sleep, 0.2)
    assert patience.seconds is not None
    assert patience.seconds >= 10


class Climbs(torch.nn.Module):
    """Ends only where a row's `up` leads to a leaf."""

    def forward(self, x: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        node = torch.zeros(x.shape[0], dtype=torch.long)
        while not torch.compiler.is_compiling() and not (up[node] == node).all():
            node = up[node]
        return x + node


@pytest.mark.after_check
def test_a_loop_that_fresh_values_never_leave_refuses_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("export_engine.process.deadline._LEAST", 0.3)
    model = Climbs()
    x, up = torch.zeros(3), torch.arange(3)
    request = Request(target=model, args=(x, up), shapes=Shapes.parse("x: b"))
    exported = capture(request)
    assert isinstance(exported, Exported)
    given = {"x": x, "up": up}
    before = of_call(model, given)

    circle = Request(target=model, args=(x, torch.tensor([1, 0, 2])))
    with pytest.raises(TookTooLong):
        run(model, circle, seed=0, patience=Deadline(0.3))
    found = check(exported)

    assert {each.outcome for each in found.trials} <= {"agrees", "eager-fails"}
    assert of_call(model, given) == before
    assert torch.is_grad_enabled()

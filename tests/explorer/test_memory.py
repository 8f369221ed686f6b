"""What is closed, replaced or deleted is freed: sessions, programs, models, variables of frames."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import ipywidgets
import pytest
import torch
from torch import nn

import explorer
from explorer import Exploration
from explorer.display import widget as session_widget
from explorer.display.widget import begin_cell
from widgets import ExplorerWidget

from ..benchmarks import memory

MEGABYTES = 8


class Heavy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(MEGABYTES * 2**18))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.weight.sum()


class Branching(Heavy):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else x + self.weight.sum()


class Fixed(Heavy):
    """Takes one size alone."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(2) + self.weight.sum()


class Conditional(Heavy):
    """Dynamo traces the branches, also in non-strict mode."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(
            x.sum() > 0, lambda y: y + self.weight[0], lambda y: y - self.weight[0], (x,)
        )


class Fails(Heavy):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("no")


@pytest.fixture(autouse=True)
def no_widgets(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(session_widget, "_followings", [])
    yield
    begin_cell("")


def explored(
    kind: type[Heavy] = Heavy, **options: Any
) -> tuple[Exploration, weakref.ref[nn.Module]]:
    model = kind()
    return explorer.explore(model, (torch.ones(2),), **options), weakref.ref(model)


def shown(ex: Exploration) -> ExplorerWidget:
    """Its widget, as a page shows it."""
    ex._repr_mimebundle_()
    return session_widget._followings[-1].widget


def page(widget: ExplorerWidget, what: str, view: str = "1", on: str = "page") -> None:
    widget._handle_custom_msg({"ask": what, "view": view, "page": on}, [])


@pytest.mark.after_check
def test_a_model_is_freed_with_its_exploration() -> None:
    ex, model = explored()
    repr(ex)
    del ex
    gc.collect()
    assert model() is None


CASES: dict[str, tuple[type[Heavy], dict[str, Any]]] = {
    "strict": (Heavy, {"strict": True}),
    "both": (Heavy, {"both": True}),
    "branch": (Branching, {}),
    "branch-strict": (Branching, {"strict": True}),
    "sizes": (Fixed, {"dynamic_shapes": "x: n"}),
    "sizes-strict": (Fixed, {"dynamic_shapes": "x: n", "strict": True}),
    "cond": (Conditional, {}),
    "own-error": (Fails, {}),
    "own-error-strict": (Fails, {"strict": True}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_model_and_its_weights_are_freed_however_the_export_went(name: str) -> None:
    kind, options = CASES[name]
    ex, model = explored(kind, **options)
    found = model()
    assert found is not None
    weight = weakref.ref(found.weight)
    del found
    ex.record  # noqa: B018 - describing it must hold nothing either
    del ex
    gc.collect()
    assert model() is None
    assert weight() is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["branch", "sizes", "own-error-strict"])
def test_a_failure_holds_no_variables_of_whoever_asked(name: str) -> None:
    class Big:
        pass

    def asked() -> tuple[Exploration, weakref.ref[Big]]:
        big = Big()
        return explored(CASES[name][0], **CASES[name][1])[0], weakref.ref(big)

    ex, big = asked()
    gc.collect()
    assert big() is None
    failure = ex.record.failure
    assert failure is not None
    assert "Traceback (most recent call last)" in failure.traceback  # torch's own words
    assert "in run_export" in failure.traceback
    with pytest.raises(explorer.errors.ExportFailed) as raised:
        ex.program  # noqa: B018
    assert isinstance(raised.value.error, Exception)
    assert raised.value.__cause__ is None


@pytest.mark.slow
def test_a_failure_that_was_explained_can_be_fixed_still() -> None:
    """What autofix needs of the frames has been read."""
    ex, _ = explored(Branching)
    sentence = ex.diagnosis.sentence if ex.diagnosis else ""
    gc.collect()
    report = ex.autofix()
    assert report.first.diagnosis.sentence == sentence  # type: ignore[attr-defined]


@pytest.mark.slow
def test_a_closed_output_lets_go() -> None:
    ex, model = explored()
    widget = shown(ex)
    page(widget, "opened")
    del ex
    gc.collect()
    assert model() is not None  # it can be seen
    page(widget, "closed")
    gc.collect()
    assert model() is None


@pytest.mark.slow
def test_a_second_view_of_an_output_holds_it() -> None:
    ex, model = explored()
    widget = shown(ex)
    page(widget, "opened", "1")
    page(widget, "opened", "2")
    page(widget, "closed", "1")
    del ex
    gc.collect()
    assert model() is not None


@pytest.mark.slow
def test_views_of_a_page_that_was_reloaded_hold_nothing() -> None:
    ex, model = explored()
    widget = shown(ex)
    page(widget, "opened", "1", on="before")
    page(widget, "opened", "2", on="after")
    page(widget, "closed", "2", on="after")
    del ex
    gc.collect()
    assert model() is None


@pytest.mark.slow
def test_a_cell_that_is_run_again_lets_go_and_closes_the_widget() -> None:
    begin_cell("a cell")
    ex, model = explored()
    widget = shown(ex)
    known = widget.model_id
    del ex
    begin_cell("another")
    gc.collect()
    assert model() is not None
    begin_cell("a cell")
    gc.collect()
    assert model() is None
    begin_cell("a third")
    assert known not in ipywidgets.widgets.widget._instances


@pytest.mark.slow
def test_a_view_that_comes_back_is_up_to_date_while_the_session_lives(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ex, _ = explored()
    widget = shown(ex)
    page(widget, "opened")
    page(widget, "closed")
    ex.decompose("core")
    assert len(widget.attempts) == 1  # nothing is sent to an output that is closed
    page(widget, "opened", "2")
    assert len(widget.attempts) == 2


@pytest.mark.slow
def test_what_is_gone_is_said_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(ExplorerWidget, "send", lambda _, reply, buffers=None: sent.append(reply))
    ex, _ = explored()
    widget = shown(ex)
    page(widget, "closed")
    del ex
    gc.collect()
    widget._handle_custom_msg({"id": 1, "ask": "record", "attempt": 0}, [])
    assert "Run its cell again" in sent[-1]["error"]


@pytest.mark.slow
def test_a_cell_that_is_run_often_takes_no_more_memory_than_once() -> None:
    """Each run shows a model of 8 MB; no page ever says that a view was closed."""
    living: list[weakref.ref[Any]] = []
    for _ in range(6):
        begin_cell("a cell")
        last, model = explored()
        shown(last)
        living.append(model)
    gc.collect()
    assert sum(each() is not None for each in living) <= 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", [memory.Heavy, memory.Failing])
def test_the_process_does_not_grow_with_the_runs_of_a_cell(kind: type[memory.Heavy]) -> None:
    """Four runs of 64 MB each would be 256. `make bench` has the large figures."""
    assert memory.grown(kind, runs=4, megabytes=64) < 130

"""Watching from Python: the result, its text, and that no file keeps values unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

import explorer
from explorer import Exploration
from explorer.display.handlers import MessageHandlers
from explorer.display.widget import widget_of
from explorer.errors import FixError

PLACE = {"side": "one", "rows": -2, "columns": -1, "index": [0], "cell": [0, 0]}


@pytest.fixture(scope="module")
def ex() -> Exploration:
    torch.manual_seed(0)
    found = explorer.explore(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), (torch.randn(2, 4),))
    found.record_values()
    return found


def test_an_op_is_asked_for_by_name(ex: Exploration) -> None:
    run = ex.record_values()

    assert run["relu"].minimum == 0
    assert run["relu"].zeros == pytest.approx(float((run.tensor("relu") == 0).float().mean()))
    assert [each.name for each in run][-2:] == ["linear", "relu"]
    assert "linear" in repr(run)
    assert run.why() == "Every value is finite."
    with pytest.raises(KeyError, match="Nearest: linear"):
        run.tensor("linar")
    with pytest.raises(FixError, match="returns no tensor"):
        run.tensor("output")


@pytest.mark.after_check
def test_no_file_keeps_values_unless_asked(ex: Exploration, tmp_path: Path) -> None:
    assert ex.record.values is not None
    plain, full = ex.save(tmp_path / "a.json"), ex.save(tmp_path / "b.json", values=True)
    saved = ex.save(tmp_path / "a.pt2")

    assert json.loads(plain.read_text())["values"] is None
    assert json.loads(full.read_text())["values"]["graphs"]
    assert explorer.load(saved).record.values is None
    assert ex.session.state()["record"] == b""
    page, with_values = (
        ex.save(tmp_path / "a.html"),
        ex.save(tmp_path / "b.html", values=True),
    )
    assert page.stat().st_size < with_values.stat().st_size


def test_no_notebook_keeps_values() -> None:
    """What a saved notebook has of a view: the widget's state, and the picture beside it."""
    told = 12345.678
    made = explorer.explore(lambda x: x * 2, (torch.full((2, 2), told / 2),))
    widget = widget_of(made.session, {})
    before = str(widget.get_state())
    run = made.record_values()
    assert float(run.tensor("mul")[0, 0]) == pytest.approx(told)
    made.compare("bfloat16")
    page = MessageHandlers(made.session)
    page("tensor", {"attempt": 0, "graph": 0, "node": 1, **PLACE})

    state, again = widget.get_state(), widget_of(made.session, {}).get_state()

    assert made.record.values is not None
    for kept in (state, again, widget._repr_mimebundle_()):
        assert "12345" not in str(kept)
        assert "12352" not in str(kept)  # in bfloat16
    assert state["record"] == again["record"] == b""
    assert before != str(state)


def test_inputs_are_those_that_are_given(ex: Exploration) -> None:
    assert ex.record_values((torch.full((2, 4), 3.0),))["input"].mean == 3
    with pytest.raises(FixError, match="positional arguments"):
        ex.record_values((1, 2))


class Halves(nn.Module):
    """A branch on data, which no trace takes without a fix."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = x / 2
        return x


@pytest.mark.after_check
def test_a_model_that_was_fixed_is_compared_with_itself_as_fixed() -> None:
    found = explorer.explore(Halves(), (torch.ones(3, 4),))
    found.autofix()
    assert "against eager with the fixes" in repr(found.compare("eager"))

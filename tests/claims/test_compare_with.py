"""A program is compared with any other: from Python, from `%export`, and from the view."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.display.handlers import MessageHandlers
from explorer.page.messages import OtherProgram
from widgets import Refusal

X = torch.randn(3, 4)


class Activated(nn.Module):
    def __init__(self, activation: Any) -> None:
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.activation = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.activation(self.lin(x))


@pytest.fixture(scope="module")
def relu() -> explorer.Exploration:
    return explorer.explore(Activated(torch.relu), (X,))


@pytest.fixture(scope="module")
def tanh() -> explorer.Exploration:
    return explorer.explore(Activated(torch.tanh), (X,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the kernel."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(ex: explorer.Exploration, ask: str, **request: Any) -> Any:
    answer, _ = MessageHandlers(ex.session)(ask, {"attempt": ex.session.current, **request})
    return answer


def test_every_way_to_compare_says_the_same(
    relu: explorer.Exploration, tanh: explorer.Exploration, folder: Path
) -> None:
    tanh.save("tanh.pt2")
    ways = [
        explorer.diff(relu, tanh),
        relu.diff(tanh),
        relu.diff(tanh.program),
        relu.diff("tanh.pt2"),
        relu.diff({"forward": tanh.program}),
        relu.diff(explorer.load("tanh.pt2")),
    ]
    assert {each.summary for each in ways} == {ways[0].summary}
    assert not any(each.ok for each in ways)
    assert relu.diff(relu.program).ok


def test_another_export_of_the_same_model_is_offered(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Activated(torch.relu)
    one, other = (explorer.explore(model, (torch.randn(3, 4),)) for _ in range(2))
    monkeypatch.setitem(sys.modules, "__main__", SimpleNamespace(one=one, other=other, again=one))

    assert [each["name"] for each in asked(one, "others")["programs"]] == ["other"]


def test_what_cannot_be_compared_is_said(relu: explorer.Exploration) -> None:
    with pytest.raises(TypeError, match="int is not a program"):
        relu.diff(3)
    with pytest.raises(ValueError, match="holds 2 programs"):
        relu.diff({"a": relu.program, "b": relu.program})


def test_a_view_is_compared_with_a_variable_and_a_file(
    relu: explorer.Exploration,
    tanh: explorer.Exploration,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ex = explorer.view(relu.program)
    assert isinstance(ex, explorer.Exploration)
    tanh.save("tanh.pt2")
    main = sys.modules["__main__"]
    for name, value in (("own", ex), ("golden", tanh), ("raw", tanh.program), ("_hidden", tanh)):
        monkeypatch.setattr(main, name, value, raising=False)
    monkeypatch.setattr(main, "kit", explorer.Programs({"decode": relu}), raising=False)
    listed = [OtherProgram(**each) for each in asked(ex, "others")["programs"]]
    names = {(each.where, each.name) for each in listed}
    assert {("kernel", "golden"), ("kernel", "raw"), ("kernel", "kit['decode']")} <= names
    assert ("file", "tanh.pt2") in names
    assert not names & {("kernel", "own"), ("kernel", "_hidden")}
    for where, name in (("kernel", "golden"), ("file", "tanh.pt2")):
        program = {"name": name, "where": where}
        other = asked(ex, "beside", program=program)["attempt"]
        assert ex.session.entries[other].step == name
        assert asked(ex, "diff", other=other)["identical"] is False
        assert asked(ex, "beside", program=program)["attempt"] == other
    assert ex.session.current == 0
    assert ex.session.entry.record.title == "program"


def test_a_lent_program_is_rebuilt_by_the_session_that_lent_it(
    tanh: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decomposed program is decomposed from its own parent, not from what it is beside."""
    other = explorer.explore(Activated(torch.relu), (X,)).decompose("core")
    ex = explorer.view(tanh.program)
    assert isinstance(ex, explorer.Exploration)
    at = ex.session.add_other(other.session.lend(), 0, "other")
    other.session._entries[1] = other.session.entries[1].drop()
    rebuilt = ex.session.require_exported(at, "use").program
    assert "relu" in rebuilt.graph_module.code
    assert "addmm" in rebuilt.graph_module.code


def test_a_choice_that_is_gone_is_refused(relu: explorer.Exploration, folder: Path) -> None:
    for program, said in (
        ({"name": "gone", "where": "kernel"}, "The variable gone no longer"),
        ({"name": "gone.pt2", "where": "file"}, "gone.pt2"),
    ):
        with pytest.raises(Refusal, match=said):
            asked(relu, "beside", program=program)

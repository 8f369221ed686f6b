"""What a view shows first, as `ex.view(select=..., open=...)` says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

import explorer
from explorer.session.initial_view import PANES, first_look

FRONT_END = Path(__file__).parents[2] / "widgets" / "frontend" / "src"


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu()


@pytest.fixture(scope="module")
def ex() -> explorer.Exploration:
    net = torch.nn.Sequential(Block(), Block())
    return explorer.explore(net, (torch.randn(2, 4),), dynamic_shapes="input: batch, _")


def test_names_reach_the_page(ex: explorer.Exploration) -> None:
    file = ex.record.files[0].name
    for name in ("linear_1", "0.lin", "batch", f"{file}:20"):
        assert first_look(ex.record, name, (), "") == {"select": [name]}
    many = first_look(ex.record, ["linear", "relu_1"], "0", "verify")
    assert many == {"select": ["linear", "relu_1"], "open": ["0"], "tab": ["guarantees"]}
    assert first_look(ex.record, (), (), "") == {}
    assert first_look(ex.record, (), (), "teaching") == {"tab": ["teaching"]}
    view = ex.view(select="linear_1", open=["0", "1"])
    assert view._first == {"select": ["linear_1"], "open": ["0", "1"]}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"select": "linear_9"},
            "no op, module, symbol or line 'linear_9'. Closest: linear",
        ),
        ({"select": ["linear", "0.lin"]}, "There is no op '0.lin'"),
        ({"open": "0.lim"}, "There is no module '0.lim'. Closest: 0.lin"),
        ({"tab": "rums"}, "There is no pane 'rums'. Closest: runs"),
    ],
)
def test_a_name_that_is_not_known_is_refused(
    ex: explorer.Exploration, asked: dict[str, str], said: str
) -> None:
    with pytest.raises(ValueError, match=said.replace(".", r"\.")):
        ex.view(**asked)


def test_the_panes_are_those_of_the_page() -> None:
    source = (FRONT_END / "view_state.ts").read_text(encoding="utf-8")
    types = re.findall(r"export type (?:Facts|Text) =([^;]+);", source)

    assert len(types) == 2
    # Differences is there only where two programs are compared
    assert {*re.findall(r'"(\w+)"', "".join(types))} - {"differences"} == {*PANES}

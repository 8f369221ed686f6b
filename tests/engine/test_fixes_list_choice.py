"""Tensors and modules that data choose from a list or a dict: stacked, and indexed."""

from __future__ import annotations

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.list_choice import in_a_stack
from export_engine.fixes.code.branches.module_choice import all_run
from export_engine.fixes.code.editing.conditions import Unclear


def _source(body: str) -> str:
    return (
        f"import torch\n\nclass M(torch.nn.Module):\n    def forward(self, x, i):\n        {body}\n"
    )


class Chunk(torch.nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        chunks = x.chunk(3, dim=1)
        return chunks[i] + 1  # type: ignore[call-overload, no-any-return]


class OfLists(torch.nn.Module):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        parts = [x[:, :2], x[:, 2:4], x[:, 4:] * 2]
        return parts[int(i)].sum(0)


class OtherDtypes(torch.nn.Module):
    """Its choice has another dtype for other data, so that no one tensor holds it."""

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        parts = [x, x.half()]
        return parts[i.item()]  # type: ignore[call-overload, no-any-return]


class Heads(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleDict({str(i): torch.nn.Linear(6, 2) for i in range(3)})

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        return self.heads[str(int(i))](x)  # type: ignore[no-any-return]


class HeadsByItem(Heads):
    def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        n = i.item()
        return self.heads[f"{n}"](x) * 2  # type: ignore[no-any-return]


@pytest.mark.slow
@pytest.mark.parametrize("model", [Chunk(), OfLists(), Heads(), HeadsByItem()])
def test_what_data_choose_is_an_index_of_the_stack(model: torch.nn.Module) -> None:
    x = torch.randn(2, 6)
    report = autofix(Request(target=model.eval(), args=(x, torch.tensor(1))))
    assert isinstance(report.attempt, Exported), report.sentence
    assert not any(step.fix.lossy for step in report.kept)
    program = report.attempt.program.module()
    for i in range(3):
        torch.testing.assert_close(program(x, torch.tensor(i)), model(x, torch.tensor(i)))
    for i in (3, -1) if isinstance(model, Heads) else (3,):
        with pytest.raises((RuntimeError, IndexError)):
            program(x, torch.tensor(i))


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [0, 1])
def test_a_list_of_other_dtypes_is_not_stacked(chosen: int) -> None:
    report = autofix(Request(target=OtherDtypes(), args=(torch.randn(3), torch.tensor(chosen))))
    assert not isinstance(report.attempt, Exported)
    assert "Stack the list" not in report.sentence


@pytest.mark.slow
def test_modules_of_other_keys_than_numbers_are_not_run_by_number() -> None:
    model = Heads()
    model.heads = torch.nn.ModuleDict({"1": torch.nn.Linear(6, 2), "4": torch.nn.Linear(6, 2)})
    report = autofix(Request(target=model, args=(torch.randn(2, 6), torch.tensor(1))))
    assert not isinstance(report.attempt, Exported)


@pytest.mark.parametrize(
    "body", ["y = x * 2\n        return y[i]", "y = [x]\n        y = y[0]\n        return y[i]"]
)
def test_what_need_not_be_a_list_is_not_stacked(body: str) -> None:
    text = _source(body)
    with pytest.raises(Unclear, match="no element of a list"):
        in_a_stack(text, text.count("\n"))


def test_a_dict_is_run_by_its_keys() -> None:
    made = all_run(_source("return self.heads[str(i)](x)"), 5).text
    assert "[self.heads[str(_key)](x) for _key in range(len(self.heads))]" in made

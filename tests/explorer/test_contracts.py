"""One call under Dims and under a ShapesSpec: what differs, and where it says so."""

from __future__ import annotations

import operator
from pathlib import Path

import pytest
import torch
from torch import nn

import explorer
from explorer.cli import main as command_line
from explorer.comparing.contracts import ContractComparison
from explorer.display.handlers import MessageHandlers
from explorer.results.contract_differences import ContractDifferences
from explorer.session.given_program import entry_of
from export_engine.diff import find_different_rejections
from export_engine.torch_internals import copy_program, missing_shapes_spec
from widgets import Refusal

needs_spec = pytest.mark.skipif(
    bool(missing_shapes_spec()), reason="torch exports a ShapesSpec from 2.14 on"
)


class Summed(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], 16, -1).sum(1)


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.sum(0) if x.shape[0] * x.shape[1] > 6 else x.sum(0) + 1


ARGS = (torch.randn(4, 32),)


def compared(
    module: nn.Module, shapes: str, form: str = "ShapesSpec"
) -> tuple[explorer.Exploration, ContractComparison]:
    exploration = explorer.explore(module, ARGS, dynamic_shapes=shapes)
    assert exploration.ok
    return exploration, explorer.diff(exploration, form)


@needs_spec
def test_ranges_and_rejections_of_both_forms_are_compared() -> None:
    exploration, found = compared(Summed(), "x: batch, 16*_seq")
    assert exploration.record.shapes == "x: batch, 16*_seq"  # the current attempt is what it was
    assert [
        each.request.shapes.unbacked for each in exploration.session.attempts if each.request
    ] == [
        False,
        True,
    ]
    assert found.after.shapes == "x: batch, seq; seq % 16 == 0"
    assert found.ops == {}
    assert "x.shape[1]" in found.ranges
    least = next(each for each in found.rejections if each.sizes == "x.shape[1] = 16")
    assert least.before.startswith("rejected: ")  # torch specializes on a quotient of 1
    assert least.after == "accepted"
    assert not found.ok
    assert "ShapesSpec: x: batch, seq; seq % 16 == 0" in str(found)
    assert found.comparison is not None
    others = {each.name: (each.before, each.after) for each in found.comparison.diff.others}
    assert others["x.shape[1] = 16"] == (least.before, least.after)  # in the page, too
    with pytest.raises(explorer.errors.FixError, match="exported with Dims; compare it with Shap"):
        explorer.diff(exploration, "Dims")
    again = explorer.diff(exploration, "ShapesSpec")
    assert len(exploration.session.attempts) == 2
    assert str(again) == str(found)


@needs_spec
def test_the_page_compares_the_contracts_and_stays_at_its_attempt() -> None:
    exploration = explorer.explore(Summed(), ARGS, dynamic_shapes="x: batch, 16*_seq")
    handlers = MessageHandlers(exploration.session)
    told = []
    exploration.session.watch(lambda: told.append(exploration.session.current))
    (answer, _) = handlers("contracts", {"attempt": 0})
    assert (answer["attempt"], answer["exported"]) == (1, True)
    assert answer["lines"] == str(explorer.diff(exploration, "ShapesSpec")).split("\n")
    assert set(told) == {0}
    exploration.decompose()
    with pytest.raises(Refusal, match="There is no attempt 9"):
        handlers("contracts", {"attempt": 9})


@needs_spec
def test_the_view_knows_the_other_form() -> None:
    def other(shapes: str | None) -> str:
        return explorer.explore(Summed(), ARGS, dynamic_shapes=shapes).record.other_form

    assert [other("x: batch, _"), other("x: batch, _; unbacked"), other(None)] == [
        "ShapesSpec",
        "Dims",
        "",
    ]
    exploration = explorer.explore(Summed(), ARGS, dynamic_shapes="x: batch, _")
    exploration.decompose()
    assert exploration.record.other_form == ""


@needs_spec
def test_a_form_in_which_the_call_does_not_export_says_why() -> None:
    exploration, found = compared(Branch(), "x: a, b")
    assert found.comparison is None
    assert not found.ok
    told = " ".join(str(found).split())
    assert "does not export: This conditional expression needs to know whether `a*b >" in told
    assert exploration.ok


@needs_spec
def test_what_no_dim_can_say_is_left_out_and_the_rest_compared() -> None:
    shapes = "x: batch, seq; seq % 16 == 0; batch + seq <= 90"
    _, found = compared(Summed(), shapes, "Dims")
    assert found.after.shapes == "x: batch, 16*_seq"
    assert found.left_out == ["batch + seq <= 90"]
    assert not found.ok
    assert "No Dim can express `batch + seq <= 90`" in str(found)
    widest = next(each for each in found.rejections if each.sizes == "x.shape[0] = 89")
    assert (widest.before, widest.after) == ("rejected: batch + seq <= 90", "accepted")


@needs_spec
def test_the_command_line_compares_the_contracts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "made_here.py").write_text(
        "import torch\ndef make():\n    return torch.nn.Linear(4, 2), (torch.randn(3, 4),)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    command_line.main(["made_here:make", "--contracts", "-d", "input: batch, _"])
    said = capsys.readouterr().out
    assert "ShapesSpec: input: batch, _; unbacked" in said
    assert "Same ops." in said


@pytest.mark.after_check
def test_a_program_and_itself_reject_the_same() -> None:
    record = explorer.explore(Summed(), ARGS, dynamic_shapes="x: batch, _").record
    assert find_different_rejections(record, record) == []
    narrow = explorer.explore(Summed(), ARGS, dynamic_shapes="x: batch[..64], _").record
    found = {
        each.sizes: (each.before, each.after) for each in find_different_rejections(record, narrow)
    }
    assert found["x.shape[0] = 65"] == ("accepted", "rejected: batch <= 64")
    assert "x.shape[0] = 64" not in found


class Counted(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = (x[0, 0] > 0).int().item() + 1
        torch._check(count <= 2)
        return x + torch.ones(count, 32).sum(0)


def test_a_check_of_data_and_its_range_are_part_of_a_contract() -> None:
    program = explorer.explore(Counted(), ARGS, dynamic_shapes="x: rows, _").program
    unchecked, narrower = copy_program(program), copy_program(program)
    checks = unchecked.graph.find_nodes(
        op="call_function", target=torch.ops.aten._assert_scalar.default
    )
    unchecked.graph.erase_node(next(each for each in checks if each.args[0].target is operator.le))
    count = next(symbol for symbol in narrower.range_constraints if str(symbol).startswith("u"))
    kept = narrower.range_constraints
    kind = type(kept[count])
    narrower._range_constraints = {**kept, count: kind(kept[count].lower, 0)}
    one = entry_of(program)
    assert ContractDifferences(one, entry_of(copy_program(program))).ok
    lacks = ContractDifferences(one, entry_of(unchecked))
    assert not lacks.ok
    assert lacks.checks == ["u0 <= 1"]
    assert "Only one form checks `u0 <= 1`." in str(lacks)
    assert ContractDifferences(one, entry_of(narrower)).ranges == {"u0": ("[-1, 1]", "[-1, 0]")}


@needs_spec
def test_data_are_checked_alike_in_both_forms() -> None:
    _, found = compared(Counted(), "x: rows, _")
    assert found.checks == []
    assert "u0" not in found.ranges


@pytest.mark.skipif(not missing_shapes_spec(), reason="this torch exports a ShapesSpec")
def test_an_older_torch_says_what_is_missing() -> None:
    exploration = explorer.explore(Summed(), ARGS, dynamic_shapes="x: batch, _")
    with pytest.raises(explorer.errors.FixError, match="ShapesSpec needs torch 2"):
        explorer.diff(exploration, "ShapesSpec")
    with pytest.raises(Refusal, match="ShapesSpec needs torch 2"):
        MessageHandlers(exploration.session)("contracts", {"attempt": 0})
    assert exploration.record.other_form == ""

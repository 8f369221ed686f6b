"""`%exportdb` and `%graph_breaks` in IPython, without a notebook."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from export_engine.exportdb import case_check

from .cells import shown


def test_a_name_opens_one_case(shell: InteractiveShell) -> None:
    text = shown(shell, "%exportdb cond_operands")
    assert "class CondOperands" in text
    assert "inputs: x: f32[3, 2], y: f32[2]" in text
    assert "explains: A branch mutates its input" in text


def test_a_tag_and_words_list_cases(shell: InteractiveShell) -> None:
    text = shown(shell, "%exportdb torch.cond")
    assert "cond_branch_class_method" in text
    assert "dynamic_shape_round" not in text
    assert "class DynamicShapeRound" in shown(shell, "%exportdb round dynamic")
    assert "%exportdb alone lists" in shown(shell, "%exportdb nothing like this")


def test_it_can_be_kept(shell: InteractiveShell) -> None:
    shell.run_cell("found = %exportdb cond")
    assert shell.user_ns["found"].query == "cond"


def test_graph_breaks_are_looked_up_by_id_and_by_words(shell: InteractiveShell) -> None:
    text = shown(shell, "%graph_breaks gb0170")
    assert text.startswith("GB0170: Data-dependent branching")
    assert "hint: Use `torch.cond`" in text
    assert "GB0170" in shown(shell, "%graph_breaks data-dependent branching")


def test_an_option_that_is_none_is_answered(shell: InteractiveShell) -> None:
    assert "It accepts only --check" in shown(shell, "%exportdb --chek")
    assert "It has no options" in shown(shell, "%graph_breaks --check")


CHECKED = ("cond_operands", "dynamic_shape_round", "list_contains")
"""The engine's tests check all 36."""


@pytest.mark.slow
def test_check_prints_every_case_beside_what_is_declared(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = tuple(each for each in case_check.cases() if each.name in CHECKED)
    monkeypatch.setattr(case_check, "cases", lambda: some)
    with capture_output():
        shell.run_cell("report = %exportdb --check")
    assert shell.user_ns["report"].ok
    text = shown(shell, "report")
    assert "3 cases, 3 behave as declared in both modes" in text
    assert text.count("✓") == 3
    assert "dynamic_shape_round  not supported yet  failed      failed" in text

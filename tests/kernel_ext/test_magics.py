"""`%export` in IPython, without a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

SETUP = """
import torch

class Doubled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)

    def forward(self, x, scale=2):
        return self.lin(x) * scale

class Undecided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x

model, undecided, x = Doubled(), Undecided(), torch.ones(4, 3)
"""


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "kernel_ext")
    assert shell.run_cell(SETUP).success
    yield shell
    InteractiveShell.clear_instance()


def run(shell: InteractiveShell, cell: str) -> tuple[Any, str]:
    with capture_output() as captured:
        result = shell.run_cell(cell)
    return result, captured.stdout + "".join(
        output.data.get("text/plain", "") for output in captured.outputs
    )


def test_an_export_is_summed_up_in_text(shell: InteractiveShell) -> None:
    result, text = run(shell, '%export -d "x: batch, _" --as ex model(x)')
    assert result.success
    assert "exported, non-strict, 2 ops, batch in [0, ∞)" in text
    assert "f32[batch, 3]" in text
    assert shell.user_ns["ex"] is shell.user_ns["_export"]
    assert shell.user_ns["ex"].program.range_constraints


def test_a_failure_is_shown_with_its_line_and_does_not_raise(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export undecided(x)")
    assert result.success
    assert "if x.sum() > 0:" in text
    assert "Cell In[1], line" in text
    assert "Traceback" not in text


def test_the_program_of_a_failure_says_that_there_is_none(shell: InteractiveShell) -> None:
    run(shell, "%export --no-display undecided(x)")
    result, text = run(shell, "_export.program")
    assert not result.success
    assert "There is no program: the export failed." in text
    assert "torch/" not in text


def test_nothing_is_shown_when_asked(shell: InteractiveShell) -> None:
    _, text = run(shell, "%export --no-display --as ex model(x)")
    assert text == ""
    assert shell.user_ns["ex"].ok


def test_a_cell_is_run_and_its_last_line_exported(shell: InteractiveShell) -> None:
    result, text = run(shell, "%%export --as ex\nz = torch.ones(7, 3)\nmodel(z, scale=5)")
    assert result.success
    assert "f32[7, 3]" in text
    assert shell.user_ns["z"].shape == (7, 3)
    assert shell.user_ns["ex"].record.title == "model(z, scale=5)"


def test_a_cell_that_raises_exports_nothing(shell: InteractiveShell) -> None:
    run(shell, "%export --no-display --as ex model(x)")
    before = shell.user_ns["ex"]
    run(shell, "%%export --as ex\nz = 1 / 0\nmodel(z)")
    assert shell.user_ns["ex"] is before


def test_an_assignment_keeps_the_result(shell: InteractiveShell) -> None:
    run(shell, "%export ex = model(x)")
    assert shell.user_ns["ex"].ok


def test_a_dynamic_shapes_expression_is_evaluated(shell: InteractiveShell) -> None:
    run(shell, "spec = {'x': {0: torch.export.Dim('rows', max=9)}}")
    _, text = run(shell, "%export -D spec model(x)")
    assert "rows in [0, 9]" in text


def test_braces_and_dollars_of_the_call_are_left_alone(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export model(**{'x': x})")
    assert result.success
    assert "exported" in text


USAGE = {
    "%export modle(x)": "There is no modle here. Did you mean model?",
    "%export": "Give the call to export",
    "%export x(1)": "x is a Tensor and cannot be called",
    '%export -d "x: batch" model(x)': "x has 2 dims, [4, 3], and the spec gives 1",
    '%export -d "x: a b" model(x)': "expected `,`",
    "%export model(x, y=1)": "unexpected keyword argument 'y'",
    "%export --load nowhere.pt2": "nowhere.pt2 does not exist",
}


@pytest.mark.parametrize("line", USAGE)
def test_a_line_that_does_not_work_says_why_without_a_traceback(
    shell: InteractiveShell, line: str
) -> None:
    result, text = run(shell, line)
    assert not result.success
    assert USAGE[line] in text
    assert "Traceback" not in text
    assert 'File "' not in text


def test_an_error_of_the_users_own_expression_is_theirs_to_see(shell: InteractiveShell) -> None:
    result, text = run(shell, "%export model(1 / 0)")
    assert not result.success
    assert "ZeroDivisionError" in text


def test_an_interrupt_says_so_and_keeps_the_last_result(shell: InteractiveShell) -> None:
    run(shell, "%export --no-display --as ex model(x)")
    before = shell.user_ns["ex"]
    interrupting = """
class Stops(torch.nn.Module):
    def forward(self, x):
        raise KeyboardInterrupt
"""
    run(shell, interrupting)
    result, text = run(shell, "%export --as ex Stops()(x)")
    assert result.success
    assert "Interrupted. Nothing has changed." in text
    assert shell.user_ns["ex"] is before


def test_options_and_names_are_completed(shell: InteractiveShell) -> None:
    _, options = shell.complete("--st", "%export --st", 12)
    assert "--strict" in options
    _, names = shell.complete("mod", "%export --strict mod", 20)
    assert "model" in names


def test_help_teaches_the_options(shell: InteractiveShell) -> None:
    from kernel_ext.command import OPTIONS

    text = shell.find_line_magic("export").__doc__ or ""
    for option in OPTIONS:
        assert option in text

"""`%export --vs-compile` in IPython, without a notebook."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from kernel_ext.command import parse_command
from kernel_ext.errors import ExportUsageError

from .cells import shown

SETUP = """
import torch

def slide(x, w):
    if x.shape[0] <= 1024:
        return torch.relu(x @ w)
    return torch.sigmoid(x @ w) * 2

x, w = torch.randn(512, 8), torch.randn(8, 8)
"""


@pytest.fixture
def shell(shell: InteractiveShell) -> InteractiveShell:
    assert shell.run_cell(SETUP).success
    return shell


@pytest.mark.slow
def test_both_sides_are_shown_and_the_export_is_kept(shell: InteractiveShell) -> None:
    text = shown(shell, "%export --vs-compile --sizes 512,1024,2048 --as ex slide(x, w)")
    assert "slide(x, w): torch.compile and torch.export" in text
    assert "graph 2 requires 2 <= x.shape[0] <= 1024, for if x.shape[0] <= 1024:" in text
    assert "export   rejects it" in text
    assert "exported, non-strict, 2 ops, x.shape[0] in [2, 1024]" in text
    assert shell.user_ns["ex"].ok


@pytest.mark.after_check
def test_one_call_without_sizes(shell: InteractiveShell) -> None:
    text = shown(shell, "%export --vs-compile slide(x, w)")
    assert "compile  compiles graph 1" in text
    assert "export   accepts it" in text


@pytest.mark.after_check
def test_dims_of_the_short_language_are_meant_by_name(shell: InteractiveShell) -> None:
    cell = '%export --vs-compile -d "x: batch[2..1024], _" --sizes batch=4,8 slide(x, w)'
    text = shown(shell, cell)
    assert "batch = 4" in text
    assert "batch in [2, 1024]" in text


def test_sizes_that_mean_nothing_are_answered(shell: InteractiveShell) -> None:
    text = shown(shell, "%export --vs-compile --sizes seq=4 slide(x, w)")
    assert "There is no size 'seq' in this call" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--sizes 3 m(x)", "needs --vs-compile"),
        ("--vs-compile --both m(x)", "leave out --both"),
        ("--vs-compile --fix m(x)", "leave out --both and --fix"),
        ("--vs-compile --load f.pt2", "without a call"),
        ("--vs-compile --sizes", "--sizes needs a value"),
    ],
)
def test_options_that_exclude_each_other_say_so(line: str, said: str) -> None:
    with pytest.raises(ExportUsageError, match=said):
        parse_command(line)

"""What an attempt changes of the user's code, as an editor writes it."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from explorer import explore
from explorer.display.handlers import MessageHandlers
from explorer.session.session import FixError
from explorer.session.writing import writing
from kernel_ext.shell import running_cell

CELL = """import torch
get_ipython().run_line_magic('time', 'None')
def fork(x):
    if x.sum() > 0:
        return x.sin()
    return x.cos()
"""
FILE = "/tmp/ipykernel_1/123.py"


@pytest.fixture(scope="module")
def fork() -> Callable[..., Any]:
    """A function of a cell, whose branch a code fix rewrites."""
    linecache.cache[FILE] = (len(CELL), None, CELL.splitlines(True), FILE)
    names: dict[str, Any] = {"get_ipython": lambda: SimpleNamespace(run_line_magic=print)}
    exec(compile(CELL, FILE, "exec"), names)
    found: Callable[..., Any] = names["fork"]
    return found


def after(change: Any) -> str:
    """The text once its hunks are written."""
    lines = change.before.splitlines()
    for hunk in reversed(change.hunks):
        lines[hunk.first - 1 : hunk.first - 1 + hunk.count] = hunk.lines
    return "\n".join(lines)


@pytest.mark.slow
def test_a_code_fix_is_hunks_of_the_cell_as_it_was_typed(fork: Callable[..., Any]) -> None:
    ex = explore(fork, (torch.ones(3),), cells={FILE: "Cell In[2]"})
    number = next(n for n, fix in enumerate(ex.fixes) if fix.kind == "code")
    answer, _ = MessageHandlers(ex.session)("writing", {"attempt": 0, "fixes": [number]})
    (change,) = answer["changes"]
    assert (change["path"], change["name"], change["origin"]) == (FILE, "Cell In[2]", "cell")
    assert "%time None" in change["before"]
    assert "get_ipython" not in change["before"]
    assert not answer["shapes"]
    # The attempt that the fix gave says the same: what it changed since the first.
    ex.apply_fixes(ex.fixes[number])
    (again,) = writing(ex.session, 1).changes
    text = after(again)
    assert "torch.where" in text
    assert text.startswith("import torch\n%time None\ndef fork(x):\n")
    assert [vars_of(each) for each in again.hunks] == change["hunks"]


def vars_of(hunk: Any) -> dict[str, Any]:
    return {name: getattr(hunk, name) for name in ("first", "count", "lines")}


@pytest.mark.slow
def test_a_fix_of_shapes_is_the_new_shapes_and_the_line_that_asked() -> None:
    def limited(x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.shape[0] <= 16 else x

    ex = explore(limited, (torch.ones(4),), dynamic_shapes="x: n", title="limited(x)")
    ex.session.cell = '%export -d "x: n" limited(x)'
    bound = next(number for number, fix in enumerate(ex.fixes) if fix.kind == "shapes")
    made = writing(ex.session, 0, [bound])
    assert (made.changes, made.shapes, made.call) == ([], "x: n[..16]", "limited(x)")
    assert made.cell == ex.session.cell
    with pytest.raises(FixError, match="nothing was changed"):
        writing(ex.session, 0)
    with pytest.raises(FixError, match="offers"):
        writing(ex.session, 0, [99])


def test_the_cell_that_runs_is_what_the_kernel_was_sent() -> None:
    sent = {"content": {"code": "%export f(x)"}}
    assert running_cell(SimpleNamespace(get_parent=lambda: sent)) == "%export f(x)"
    assert running_cell(SimpleNamespace(get_parent=dict)) == ""
    assert running_cell(SimpleNamespace()) == ""

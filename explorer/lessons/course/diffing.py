"""Lesson 10: what changed from one program to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import explorer
from explorer.lessons import Answer, Lesson, Wrong
from explorer.lessons.tower import SLOPES, tower

lesson = Lesson(
    "Diffing",
    name="diffing",
    after="Next: `11_running_and_packaging.ipynb`.",
)


def _neat(body: str, before: str = "") -> str:
    inner = body.replace("\n", "\n        ")
    return f"""
{before}
class Neat(torch.nn.Module):
    def forward(self, x):
        {inner}

%export --as mine Neat()(x)
"""


@lesson.exercise(
    "1",
    hints=(
        "`%export_diff before mine` lists what differs: a line with `-` is gone, one with `+` is "
        "new.",
        "`** 2` is the op `pow`. The old model multiplies.",
        "The old model adds 1 before it multiplies: `lifted = ... + 1`, then `lifted * lifted`.",
    ),
    solution=_neat(
        "lifted = bent(2 * x) + 1\nreturn lifted * lifted",
        "def bent(x):\n    return torch.tanh(x)\n\n",
    ),
    wrong=(
        _neat("return (torch.tanh(2 * x) + 1) ** 2"),
        _neat("return (torch.tanh(x + x) + 1) * (torch.tanh(x + x) + 1)"),
        _neat("lifted = torch.tanh(2 * x)\nreturn lifted * lifted + 1"),
        _neat("lifted = torch.tanh(3 * x) + 1\nreturn lifted * lifted"),
    ),
)
def same_program(answer: Answer) -> None:
    """Rewrite the model, so that the program stays the same."""
    answer.exported()
    sizes = [size.example for size in answer.record.probe.inputs]
    before = explorer.explore(_Grown(), (torch.randn(sizes),))
    comparison = explorer.diff(before, answer.exploration)
    if not comparison.ok:
        raise Wrong(f"The program is different. {comparison.summary}")


@lesson.exercise(
    "2",
    hints=(
        "`%export_diff first second` shows the one op that differs, and where in the model it is.",
        "`arguments: alpha=0.5 → alpha=0.7` means that alpha was 0.5 and is 0.7.",
        "The layer's path has the form `layers.0`; the numbers are floats.",
    ),
    solution='changed = ("layers.5", 0.1, 0.2)',
    wrong=(
        'changed = ("layers.5", 0.2, 0.1)',
        'changed = ("layers.4", 0.1, 0.2)',
        'changed = ("leaky_relu", 0.1, 0.2)',
        'changed = "layers.5"',
    ),
)
def finds_the_change(answer: Answer) -> None:
    """Say what changed from `first` to `second`: the layer, the old number, the new one."""
    value = answer.value
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Wrong('Pass three values: `("layers.0", 0.5, 0.7)`.')
    pairs = zip(SLOPES[1], SLOPES[2], strict=True)
    ((layer, pair),) = [(n, names) for n, names in enumerate(pairs) if names[0] != names[1]]
    if str(value[0]) != f"layers.{layer}":
        raise Wrong("That is not the layer that differs.")
    if tuple(value[1:]) == pair[::-1]:
        raise Wrong("The numbers are right, but the old one goes first.")
    if tuple(value[1:]) != pair:
        raise Wrong("The layer is right, the numbers are not.")


@lesson.exercise(
    "3",
    hints=(
        "`explorer.diff(first, program).ok` is True if two programs are the same.",
        "A test fails when an `assert` does not hold: `assert explorer.diff(first, program).ok`.",
    ),
    solution="""
def stays_the_same(program):
    assert explorer.diff(first, program).ok
""",
    wrong=(
        """
def stays_the_same(program):
    explorer.diff(first, program)
""",
        """
def stays_the_same(program):
    assert explorer.diff(first, second).ok
""",
        """
def stays_the_same(program):
    assert len(program.program.graph.nodes) == len(first.program.graph.nodes)
""",
        "stays_the_same = explorer.diff(first, second)",
    ),
)
def tests_for_change(answer: Answer) -> None:
    """Write a test that fails when the program of `tower` changes."""
    test = answer.value
    if not callable(test):
        raise Wrong('Pass the function itself: `lesson.check("3", stays_the_same)`.')
    if not _passes(test, tower(1)):
        raise Wrong("It fails for version 1 exported again, which is the same program.")
    if _passes(test, tower(2)):
        raise Wrong("It passes for version 2, which is a different program.")


def _passes(test: Callable[[Any], object], program: explorer.Exploration) -> bool:
    try:
        test(program)
    except AssertionError:
        return False
    return True


class _Grown(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = x * 2
        b = a.tanh()
        c = b + 1
        return c * c

"""Lesson 16: which ops a delegate takes, why it leaves others, and how to bring them in."""

from __future__ import annotations

from functools import partial

import torch

from explorer.lessons import Answer, Lesson, Wrong
from explorer.lessons.course import write_model_cell

lesson = Lesson(
    "Delegates",
    name="delegates",
    after="That was the course. `%export --guide model(x)` takes you through your own model.",
)


_net_text = partial(write_model_cell, "Rewritten")


@lesson.exercise(
    "1",
    hints=(
        "`lowered.outside` lists the ops that stay outside. Each has `.reason` and `.rule`.",
        "There are two; pass both names as a set of strings: `{op.op for op in …}`.",
    ),
    solution='outside = {"aten.add.Tensor", "aten.mean.dim"}',
    wrong=(
        'outside = {"aten.relu.default"}',
        'outside = {"aten.add.Tensor"}',
        'outside = "aten.add.Tensor"',
    ),
)
def finds_the_ops_outside(answer: Answer) -> None:
    """Name the two ops that XNNPACK leaves outside."""
    if not isinstance(answer.value, set | frozenset | list | tuple):
        raise Wrong("Pass a set of names.")
    names = {str(name).removeprefix("aten.").split(".")[0] for name in answer.value}
    if "relu" in names:
        raise Wrong("XNNPACK takes `relu`.")
    if names != {"add", "mean"}:
        raise Wrong("These are not the two that stay outside.")


@lesson.exercise(
    "2",
    hints=(
        "The reasons are: `alpha` must be 1, and `mean` must keep its dims.",
        "`x + 2.0 * x` adds without `alpha`; a mean that keeps its dims can be reshaped "
        "afterwards.",
        "`torch.relu(x + 2.0 * x).mean((2, 3), keepdim=True).reshape(x.shape[0], x.shape[1])`",
    ),
    solution=_net_text(
        "y = torch.relu(x + 2.0 * x).mean((2, 3), keepdim=True)\n"
        "return y.reshape(x.shape[0], x.shape[1])"
    ),
    wrong=(
        _net_text("return torch.relu(torch.add(x, x, alpha=2)).mean((2, 3))"),
        _net_text("return torch.relu(x + 2 * x).mean((2, 3))"),
        _net_text("return torch.relu(x + 2 * x).mean((2, 3), keepdim=True)"),
        _net_text("return torch.relu(x + x).mean((2, 3), keepdim=True).reshape(x.shape[:2])"),
    ),
)
def is_taken_whole(answer: Answer) -> None:
    """Rewrite `Net` as `Rewritten` so that XNNPACK takes all of it."""
    x = torch.linspace(-1.0, 1.0, 192).reshape(1, 3, 8, 8)
    answer.agrees_with(lambda x: torch.relu(3 * x).mean((2, 3)), (x,), (x * 2,))
    delegation = answer.exploration.delegate("xnnpack")
    if delegation.outside:
        op = delegation.outside[0]
        raise Wrong(f"`{op.op}` is still outside: {op.reason or 'no rule takes it'}")

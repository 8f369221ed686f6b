"""Lesson 4: a branch on data, and torch.cond with its rules."""

from __future__ import annotations

from collections.abc import Callable

import torch

from explorer.lessons import Answer, Lesson

lesson = Lesson(
    "Graph breaks and torch.cond",
    name="graph_breaks_and_cond",
    after="Next: `05_static_and_dynamic_dims.ipynb`.",
)


def _model(body: str, name: str = "Folded") -> str:
    """A learner's cell with this body of forward."""
    inner = body.strip("\n").replace("\n", "\n        ")
    return f"""
class {name}(torch.nn.Module):
    def forward(self, x):
        {inner}

%export --as mine {name}()(x)
"""


def _branches(first: str, second: str, name: str = "Folded") -> str:
    """A cell whose branches have these bodies."""
    return _model(
        f"def positive(x):\n    {first}\n\n"
        f"def negative(x):\n    {second}\n\n"
        "return torch.cond(x.mean() > 0, positive, negative, (x,))",
        name,
    )


@lesson.exercise(
    "1",
    hints=(
        "`torch.cond` has four arguments: the predicate, a function for true, a function for "
        "false, and the tensors passed to them.",
        "Make each side of the `if` a function of `x` that returns the result.",
        "`return torch.cond(x.mean() > 0, positive, negative, (x,))`, with `positive` and "
        "`negative` defined above it in `forward`.",
    ),
    solution=_branches("return x * 2", "return x - 1"),
    wrong=(
        _model("return x * 2"),
        _model("return torch.where(x.mean() > 0, x * 2, x - 1)"),
        _branches("return x - 1", "return x * 2"),
        _model("if x.mean() > 0:\n    return x * 2\nreturn x - 1").replace(
            "%export", "%export --fix"
        ),
    ),
)
def has_a_cond(answer: Answer) -> None:
    """Rewrite the branch with `torch.cond`."""
    answer.by_hand()
    _both_ways(answer, lambda x: x * 2 if x.mean() > 0 else x - 1)


@lesson.exercise(
    "2",
    hints=(
        "The first branch returns one row, the second returns four. Make the first repeat its row.",
        "`.expand_as(x)` shows the same row four times, without a copy.",
        "A branch must not return its input or a view of it. `.clone()` returns a new tensor.",
    ),
    solution=_branches(
        "return x.mean(dim=0, keepdim=True).expand_as(x).clone()", "return x.clone()", "Pooled"
    ),
    wrong=(
        _branches("return x.mean(dim=0, keepdim=True)", "return x.clone()"),
        _branches("return x.mean(dim=0, keepdim=True)", "return x.mean(dim=0, keepdim=True) * 1"),
        _branches("return x.clone()", "return x.clone()"),
        _branches("return torch.zeros_like(x)", "return x.clone()"),
    ),
)
def branches_match(answer: Answer) -> None:
    """Make both branches return four rows."""
    _both_ways(
        answer,
        lambda x: x.mean(dim=0, keepdim=True).expand_as(x) if x.mean() > 0 else x,
    )


@lesson.exercise(
    "3",
    hints=(
        "`x.mul_(2)` mutates the tensor passed to the branch, as its underscore indicates.",
        "`x * 2` makes a new tensor.",
    ),
    solution=_branches("return (x * 2).tanh()", "return x.tanh()", "Louder"),
    wrong=(
        _branches("x.mul_(2)\n    return x.tanh()", "return x.tanh()"),
        _branches("return x.tanh()", "return x.tanh()"),
        _branches("return (x * 2).tanh()", "return (x * 2).tanh()"),
    ),
)
def branches_write_nothing(answer: Answer) -> None:
    """Make the first branch mutate none of its inputs."""
    _both_ways(answer, lambda x: (x * 2).tanh() if x.mean() > 0 else x.tanh())


def _both_ways(answer: Answer, wanted: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """The program has a cond, and is right on either side of it."""
    x = torch.linspace(-1, 3, 32).reshape(4, 8)
    answer.agrees_with(wanted, (x,), (-x,), (x * 3 + 1,))
    answer.has_op("cond")

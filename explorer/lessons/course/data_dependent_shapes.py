"""Lesson 7: sizes that come from values."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson, Wrong
from export_engine.defects import log_internal_error

lesson = Lesson(
    "Data-dependent shapes",
    name="data_dependent_shapes",
    after="Next: `08_custom_ops.ipynb`.",
)


def _rows(body: str) -> str:
    return f"""
class Positive(torch.nn.Module):
    def forward(self, x):
        {body}

%export -d "x: rows, _" --as mine Positive()(x)
"""


def _first(lines: str) -> str:
    inner = lines.replace("\n", "\n        ")
    return f"""
class First(torch.nn.Module):
    def forward(self, x, k):
        {inner}

%export -d "x: rows, _" --as mine First()(x, torch.tensor(3))
"""


def _room(lines: str) -> str:
    inner = lines.replace("\n", "\n        ")
    return f"""
class Room(torch.nn.Module):
    def forward(self, k):
        {inner}

%export --as mine Room()(torch.tensor(3))
"""


@lesson.exercise(
    "1",
    hints=(
        "A boolean mask selects rows: `x[x[:, 0] > 0]` keeps those whose first value is positive.",
        "`x.sum(dim=1) > 0` is True for each row with a positive sum.",
    ),
    solution=_rows("return x[x.sum(dim=1) > 0]"),
    wrong=(
        _rows("return x[:2]"),
        _rows("return x[x[:, 0] > 0]"),
        _rows("return torch.where(x.sum(dim=1, keepdim=True) > 0, x, 0)"),
        _rows("return x[x > 0]"),
    ),
)
def picks_rows(answer: Answer) -> None:
    """Return the rows whose sum is positive."""
    answer.by_hand()
    answer.varies("x", 0)
    generator = torch.Generator().manual_seed(9)
    calls = [(torch.randn(rows, 8, generator=generator),) for rows in (20, 6, 3)]
    answer.agrees_with(lambda x: x[x.sum(dim=1) > 0], *calls)


@lesson.exercise(
    "2",
    hints=(
        "`torch._check(condition)` is assumed while tracing, and checked at run time.",
        "The condition under which the branch is never taken: `n <= x.shape[0]`.",
        "`torch._check(n <= x.shape[0])`, in place of the `if` and its `raise`.",
    ),
    solution=_first("n = k.item()\ntorch._check(n <= x.shape[0])\nreturn x[:n]"),
    wrong=(
        _first("n = 3\nreturn x[:n]"),
        _first("n = k.item()\nreturn x[:n]"),
        _first("n = k.item()\ntorch._check(n <= 3)\nreturn x[:n]"),
        _first("n = k.item()\nif n > x.shape[0]:\n    raise ValueError('too many')\nreturn x[:n]"),
        _first("n = k.item()\ntorch._check(n <= x.shape[0])\nreturn x[:n] * 2"),
    ),
)
def checks_the_count(answer: Answer) -> None:
    """Reject a count above the number of rows, with `torch._check`."""
    answer.by_hand()
    answer.varies("x", 0)
    generator = torch.Generator().manual_seed(10)
    x = torch.randn(6, 8, generator=generator)
    answer.agrees_with(lambda x, k: x[:k], *((x, torch.tensor(count)) for count in (2, 5, 6)))
    _refuses(answer, x, torch.tensor(7))


@lesson.exercise(
    "3",
    hints=(
        "Two checks: a lower and an upper bound of `n`.",
        "`torch._check(n >= 1)` and `torch._check(n <= 8)`, before `torch.zeros(n)`.",
    ),
    solution=_room(
        "n = k.item()\ntorch._check(n >= 1)\ntorch._check(n <= 8)\nreturn torch.zeros(n)"
    ),
    wrong=(
        _room("n = k.item()\nreturn torch.zeros(n)"),
        _room("n = k.item()\ntorch._check(n <= 8)\nreturn torch.zeros(n)"),
        _room("return torch.zeros(3)"),
        _room("n = k.item()\ntorch._check(n >= 1)\ntorch._check(n <= 9)\nreturn torch.zeros(n)"),
        _room("n = k.item()\ntorch._check(n >= 1)\ntorch._check(n <= 8)\nreturn torch.ones(n)"),
    ),
)
def bounds_the_size(answer: Answer) -> None:
    """Bound the size to 1 to 8."""
    answer.by_hand()
    answer.agrees_with(torch.zeros, *((torch.tensor(n),) for n in (1, 5, 8)))
    ranges = [symbol.range for symbol in answer.record.symbols if symbol.kind == "unbacked"]
    if not ranges:
        raise Wrong("No size of the result is data-dependent.")
    if "[1, 8]" not in ranges:
        raise Wrong(f"Shapes shows the range {ranges[0]}; it should be [1, 8].")
    _refuses(answer, torch.tensor(9))


def _refuses(answer: Answer, *args: torch.Tensor) -> None:
    """The program raises for these arguments."""
    try:
        answer.program.module()(*args)
    except Exception as error:  # noqa: BLE001 - whatever the check became
        log_internal_error(error, "calling a program that is to refuse")
        return
    raise Wrong(f"The program accepts {args[-1].item()}, but should reject it.")

"""Lesson 14: FLOPs and memory as formulas of the sizes, before anything runs."""

from __future__ import annotations

from functools import partial

import torch

from explorer.lessons import Answer, Lesson, Wrong
from explorer.lessons.course import write_model_cell

lesson = Lesson(
    "The cost of a program",
    name="the_cost_of_a_program",
    after="Next: `15_from_lines_to_kernels.ipynb`.",
)

_ROW = 1000 * 4
"""Bytes of one row of `x` in exercise 2."""


_sum_text = partial(write_model_cell, "Waves", options='-d "x: batch, _"')


@lesson.exercise(
    "1",
    hints=(
        "The cost of `made` ends with the sizes at which one kind of op overtakes another.",
        '`made.cost().overtakings("seq")` returns them: each has `.at`, `.more` and `.less`.',
    ),
    solution='crossing = made.cost().overtakings("seq")[0].at',
    wrong=(
        "crossing = 16",
        "crossing = 128",
        'crossing = made.cost().overtakings("seq")',
        "crossing = 512",
    ),
)
def finds_the_crossing(answer: Answer) -> None:
    """Find the smallest `seq` from which attention does more FLOPs than the linear layers."""
    if answer.value == 128:
        raise Wrong(
            "At 128 both are equal. What is the first size at which attention does more FLOPs?"
        )
    answer.equals(129, "At that size, compare the FLOPs of the two lines: which line does more?")


@lesson.exercise(
    "2",
    hints=(
        "All eight waves are alive when the sum begins. A tensor is released after its last use.",
        "Add each wave to a running total, in the loop that computes it.",
    ),
    solution=_sum_text(
        "total = torch.sin(x)\n"
        "for n in range(2, 9):\n"
        "    total = total + torch.sin(x * n)\n"
        "return total"
    ),
    wrong=(
        _sum_text("return sum([torch.sin(x * n) for n in range(1, 9)])"),
        _sum_text("return torch.sin(x)"),
        _sum_text("return torch.stack([torch.sin(x * n) for n in range(1, 9)]).sum(0)"),
        _sum_text(
            "total = torch.sin(x)\n"
            "for n in range(2, 8):\n"
            "    total = total + torch.sin(x * n)\n"
            "return total"
        ),
    ),
)
def needs_less_memory(answer: Answer) -> None:
    """Compute the same sum with a peak of at most 4 tensors of the size of `x`."""
    answer.varies("x", 0)
    rows = torch.linspace(-1.0, 1.0, 3000).reshape(3, 1000)
    answer.agrees_with(lambda x: sum(torch.sin(x * n) for n in range(1, 9)), (rows,))
    tensors = answer.exploration.cost().at(batch=100).peak_bytes / (100 * _ROW)
    if tensors > 4:
        raise Wrong(f"At the peak, live tensors take {tensors:.0f} times the memory of `x`.")


@lesson.exercise(
    "3",
    hints=(
        "`--without-weights` exports a copy on the meta device, which takes no memory.",
        "The largest batch is a number: `mine.cost().largest(size, gigabytes)`.",
    ),
    solution="""
%export -d "input: batch, _" --without-weights --no-display --as mine tower(rows)
batch = mine.cost().largest("batch", 80)
""",
    wrong=(
        "batch = 80",
        """
%export -d "input: batch, _" --without-weights --no-display --as mine tower(rows)
batch = mine.cost().largest("batch", 40)
""",
        """
%export -d "input: batch, _" --without-weights --no-display --as mine tower[:4](rows)
batch = mine.cost().largest("batch", 80)
""",
    ),
)
def fits_in_memory(answer: Answer) -> None:
    """Find the largest batch of `tower` that fits in 80 GB."""
    if not isinstance(answer.value, int):
        raise Wrong(f"This is a `{type(answer.value).__name__}`; expected a number.")
    width, layers = 16384, 12
    weights = layers * (width + 1) * width * 4
    row = 3 * width * 4  # of the input, of what a layer reads, and of what it writes
    total = weights + row * answer.value
    if not 0 <= 80e9 - total < 0.01 * 80e9:
        raise Wrong(
            f"With a batch of {answer.value:,}, weights, input and live tensors take "
            f"{total / 1e9:.1f} GB."
        )

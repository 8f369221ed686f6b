"""Lesson 15: how lines become kernels, what those fuse, and how long they take."""

from __future__ import annotations

from functools import partial

import torch

from explorer.lessons import Answer, Lesson, Wrong
from explorer.lessons.course import write_model_cell

lesson = Lesson(
    "From lines to kernels",
    name="from_lines_to_kernels",
    after="Next: `16_delegates.ipynb`.",
)


_smooth_text = partial(write_model_cell, "Smoother", options='-d "x: batch, _"')


@lesson.exercise(
    "1",
    hints=(
        "In **Stages**, and in `stages.kernels`, each kernel has a kind: `fused` or `extern`.",
        "`[kernel.calls for kernel in stages.kernels]` is empty for generated code.",
    ),
    solution='outside = "addmm"',
    wrong=(
        'outside = "relu"',
        "outside = stages.kernels[0].name",
        'outside = "sum"',
    ),
)
def finds_the_library_call(answer: Answer) -> None:
    """Name the library function that one kernel calls."""
    if not isinstance(answer.value, str):
        raise Wrong("Pass a string: the function that the kernel calls.")
    if "mm" not in answer.value and "linear" not in answer.value:
        raise Wrong("Inductor generated the code of that kernel. Which kernel calls a library?")


@lesson.exercise(
    "2",
    hints=(
        "**Worth a look** names the line where values become float64.",
        "Without `.double()` all values stay float32, and nothing has to be converted back.",
    ),
    solution=_smooth_text("y = torch.relu(x * 3)\nreturn torch.sigmoid(y + 1).sum(dim=-1)"),
    wrong=(
        _smooth_text(
            "y = torch.relu(x * 3).double()\nreturn torch.sigmoid(y + 1).float().sum(dim=-1)"
        ),
        _smooth_text("y = torch.relu(x * 3)\nreturn torch.sigmoid(y.double() + 1).sum(dim=-1)"),
        _smooth_text("y = torch.relu(x * 3)\nreturn torch.sigmoid(y).sum(dim=-1)"),
        _smooth_text("y = torch.relu(x.half() * 3)\nreturn torch.sigmoid(y + 1).sum(dim=-1)"),
    ),
)
def computes_in_float32(answer: Answer) -> None:
    """Compute the same result without float64."""
    wide = [kind.dtype for kind in answer.record.types if kind.dtype in ("float64", "float16")]
    if wide:
        raise Wrong(f"There are still {wide[0]} values in the program.")
    rows = torch.linspace(-1.0, 1.0, 300).reshape(3, 100)
    size = answer.record.probe.inputs[-1].example
    rows = rows.repeat(1, size // 100)
    answer.agrees_with(
        lambda x: torch.sigmoid(torch.relu(x.double() * 3) + 1).float().sum(dim=-1), (rows,)
    )

"""Lesson 5: which sizes a program accepts, and how to state them."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson

lesson = Lesson(
    "Static and dynamic dims",
    name="static_and_dynamic_dims",
    after="Next: `06_relations_and_derived_dims.ipynb`.",
)


@lesson.exercise(
    "1",
    hints=(
        "`x` has three sizes, so `-d` has three entries for it: `x: _, _, _` fixes all of them.",
        "A name in place of the first `_` makes that size dynamic: `x: batch, _, _`.",
    ),
    solution='%export -d "x: batch, _, _" --as mine pooled(x)',
    wrong=(
        "%export --as mine pooled(x)",
        '%export -d "x: batch, seq, _" --as mine pooled(x)',
        '%export -d "x: _, seq, _" --as mine pooled(x)',
        "%export --as mine pooled(torch.randn(5, 10, 16))",
    ),
)
def the_batch_varies(answer: Answer) -> None:
    """Let the batch vary, and nothing else."""
    answer.varies("x", 0)
    answer.fixed("x", 1)
    answer.fixed("x", 2)
    answer.has_op("linear", "mean")
    answer.agrees_with_eager()


@lesson.exercise(
    "2",
    hints=(
        "Bounds follow the name, in square brackets, with two dots between them.",
        "`seq[4..512]` is a size from 4 to 512, both included.",
    ),
    solution='%export -d "x: batch, seq[4..512], _" --as mine pooled(x)',
    wrong=(
        '%export -d "x: batch, seq, _" --as mine pooled(x)',
        '%export -d "x: batch, seq[4..], _" --as mine pooled(x)',
        '%export -d "x: batch, seq[8..512], _" --as mine pooled(x)',
        '%export -d "x: _, seq[4..512], _" --as mine pooled(x)',
    ),
)
def the_length_is_bounded(answer: Answer) -> None:
    """Let the batch vary freely, and the length from 4 to 512."""
    answer.varies("x", 0)
    answer.varies("x", 1)
    answer.takes(x=(3, 4, 16))
    answer.takes(x=(100, 512, 16))
    answer.refuses(x=(3, 3, 16))
    answer.refuses(x=(3, 513, 16))
    answer.has_op("linear", "mean")
    answer.agrees_with_eager()


@lesson.exercise(
    "3",
    hints=(
        "The example determines which side of the `if` is traced. With 8 rows that is `sin`.",
        "Use an example with more than 16 rows: `short(torch.randn(20, 4))`.",
        'Then the sizes: `-d "x: rows[17..], _"`.',
    ),
    solution='%export -d "x: rows[17..], _" --as mine short(torch.randn(20, 4))',
    wrong=(
        '%export -d "x: rows[..16], _" --as mine short(torch.randn(8, 4))',
        "%export --as mine short(torch.randn(20, 4))",
        '%export -d "x: rows, _" --as mine short(torch.randn(20, 4))',
        '%export -d "x: rows[20..30], _" --as mine short(torch.randn(20, 4))',
        '%export -d "x: rows[17..], _" --as mine (lambda x: x.sin())(torch.randn(20, 4))',
    ),
)
def the_long_side(answer: Answer) -> None:
    """Export the branch of the `if` for 17 rows or more."""
    answer.varies("x", 0)
    answer.takes(x=(17, 4))
    answer.takes(x=(1000, 4))
    answer.refuses(x=(16, 4))
    generator = torch.Generator().manual_seed(5)
    answer.agrees_with(
        torch.cos, *((torch.randn(rows, 4, generator=generator),) for rows in (17, 40))
    )

"""Lesson 6: sizes that depend on each other."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson

lesson = Lesson(
    "Relations and derived dims",
    name="relations_and_derived_dims",
    after="Next: `07_data_dependent_shapes.ipynb`.",
)


@lesson.exercise(
    "1",
    hints=(
        "The columns of `x` and the rows of `y` must be equal, so they share a name.",
        'Use a name twice: `-d "x: rows, inner; y: inner, columns"`.',
    ),
    solution='%export -d "x: rows, inner; y: inner, columns" --as mine product(x, y)',
    wrong=(
        '%export -d "x: a, b; y: c, d" --as mine product(x, y)',
        '%export -d "x: rows, _; y: _, columns" --as mine product(x, y)',
        '%export -d "x: n, n; y: n, n" --as mine product(torch.randn(4, 4), torch.randn(4, 4))',
        "%export --as mine product(x, y)",
    ),
)
def one_name_for_one_size(answer: Answer) -> None:
    """Let all four sizes of the product vary."""
    for name in ("x", "y"):
        answer.varies(name, 0)
        answer.varies(name, 1)
    answer.takes(x=(2, 3), y=(3, 7))
    answer.refuses(x=(2, 3), y=(4, 7))
    generator = torch.Generator().manual_seed(6)
    answer.agrees_with(
        torch.matmul,
        (torch.randn(2, 3, generator=generator), torch.randn(3, 7, generator=generator)),
        (torch.randn(9, 5, generator=generator), torch.randn(5, 2, generator=generator)),
    )


@lesson.exercise(
    "2",
    hints=(
        "`y[1:]` is one shorter than `y`, and it is added to `x`.",
        "A dim in `-d` may be a formula: if `x` has `n` elements, `y` has `n + 1`.",
    ),
    solution='%export -d "x: n; y: n + 1" --as mine shifted(x, y)',
    wrong=(
        '%export -d "x: n; y: m" --as mine shifted(x, y)',
        '%export -d "x: n; y: n" --as mine shifted(x, y)',
        "%export --as mine shifted(x, y)",
        '%export -d "x: n" --as mine shifted(x, y)',
        '%export -d "x: n; y: n + 1" --as mine (lambda x, y: x + y[:-1])(x, y)',
    ),
)
def one_longer(answer: Answer) -> None:
    """Let both inputs of `shifted` vary, `y` one longer than `x`."""
    answer.varies("x", 0)
    answer.varies("y", 0)
    answer.takes(x=(5,), y=(6,))
    answer.refuses(x=(5,), y=(5,))
    generator = torch.Generator().manual_seed(7)
    answer.agrees_with(
        lambda x, y: x + y[1:],
        (torch.randn(5, generator=generator), torch.randn(6, generator=generator)),
        (torch.randn(30, generator=generator), torch.randn(31, generator=generator)),
    )


@lesson.exercise(
    "3",
    hints=(
        "Only an even number of elements splits into pairs, and `2*n` is always even.",
        'The size is derived from a name that is not a size of the call: `-d "x: 2*pairs"`.',
    ),
    solution='%export -d "x: 2*pairs" --as mine paired(x)',
    wrong=(
        '%export -d "x: n" --as mine paired(x)',
        '%export -d "x: 4*pairs" --as mine paired(x)',
        "%export --as mine paired(x)",
        '%export -d "x: 2*pairs[..6]" --as mine paired(x)',
    ),
)
def even_sizes(answer: Answer) -> None:
    """Let `paired` accept every even size from 4 on."""
    answer.varies("x", 0)
    answer.takes(x=(4,))
    answer.takes(x=(6,))
    answer.takes(x=(1000,))
    answer.refuses(x=(7,))
    generator = torch.Generator().manual_seed(8)
    answer.agrees_with(
        lambda x: x.reshape(-1, 2).sum(dim=1),
        *((torch.randn(size, generator=generator),) for size in (4, 6, 22)),
    )

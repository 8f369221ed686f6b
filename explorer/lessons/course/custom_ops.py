"""Lesson 8: custom ops, and the fake kernels that tracing needs."""

from __future__ import annotations

from explorer.lessons import Answer, Lesson, Wrong

lesson = Lesson(
    "Custom ops",
    name="custom_ops",
    after="Next: `09_decompositions.ipynb`.",
)


def _clip(fake: str, real: str = "most * torch.tanh(x / most)") -> str:
    return f"""
@torch.library.custom_op("lesson_ops::soft_clip", mutates_args=())
def soft_clip(x: torch.Tensor, most: float) -> torch.Tensor:
    return {real}

{fake}

class Clipped(torch.nn.Module):
    def forward(self, x):
        return soft_clip(x, 2.0) + 1

%export -d "x: rows, _" --as mine Clipped()(torch.randn(4, 8))
"""


def _norms(fake: str) -> str:
    return f"""
@torch.library.custom_op("lesson_ops::row_norms", mutates_args=())
def row_norms(x: torch.Tensor) -> torch.Tensor:
    return x.norm(dim=1)

@row_norms.register_fake
def _(x):
    return {fake}

class Norms(torch.nn.Module):
    def forward(self, x):
        return row_norms(x) * 2

%export -d "x: rows, _" --as mine Norms()(torch.randn(4, 8))
"""


def _register_text(body: str) -> str:
    return f"@soft_clip.register_fake\ndef _(x, most):\n    {body}\n"


@lesson.exercise(
    "1",
    hints=(
        "`@soft_clip.register_fake` decorates a function with the same arguments. It returns a "
        "tensor of the right shape and dtype; its numbers do not matter.",
        "The result of `soft_clip` has the shape and dtype of `x`, like `torch.empty_like(x)`.",
    ),
    solution=_clip(_register_text("return torch.empty_like(x)")),
    wrong=(
        _clip(""),
        _clip(_register_text("return torch.empty(4, 8)")),
        _clip(_register_text("return torch.empty_like(x, dtype=torch.float64)")),
        _clip(_register_text("return x.new_empty(x.shape[0])")),
        _clip(_register_text("return torch.empty_like(x)"), "x.clamp(-most, most)"),
    ),
)
def has_a_fake_kernel(answer: Answer) -> None:
    """Give `soft_clip` a fake kernel."""
    _check_type(answer, "soft_clip", dims=2)
    import torch

    generator = torch.Generator().manual_seed(11)
    answer.agrees_with(
        lambda x: 2 * torch.tanh(x / 2) + 1,
        *((3 * torch.randn(rows, 8, generator=generator),) for rows in (4, 9)),
    )


@lesson.exercise(
    "2",
    hints=(
        "There is one norm for each row, so the result has one dim: the number of rows.",
        "`x.new_empty(x.shape[0])` has the dtype of `x` and one element for each row of `x`.",
    ),
    solution=_norms("x.new_empty(x.shape[0])"),
    wrong=(
        _norms("torch.empty_like(x)"),
        _norms("x.new_empty(4)"),
        _norms("x.new_empty(x.shape[1])"),
        _norms("x.new_empty(x.shape[0], 1)"),
    ),
)
def says_the_right_shape(answer: Answer) -> None:
    """Make the fake kernel of `row_norms` return the right shape."""
    _check_type(answer, "row_norms", dims=1)
    answer.agrees_with_eager()


def _check_type(answer: Answer, op: str, dims: int) -> None:
    """The op is in the program, and its result has these many of the sizes of `x`."""
    answer.by_hand()
    answer.varies("x", 0)
    answer.has_op(op)
    wanted = [size.size for size in answer.record.probe.inputs if size.text.startswith("x.")]
    ((_, value),) = answer.outputs()
    if value.shape != wanted[:dims] or value.dtype != "float32":
        raise Wrong(
            f"According to its fake kernel the result is `{value.text}`. Compare that "
            "with what the op "
            "itself returns."
        )

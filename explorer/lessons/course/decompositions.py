"""Lesson 9: the same program in fewer kinds of ops."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson, Wrong

lesson = Lesson(
    "Decompositions",
    name="decompositions",
    after="Next: `10_diffing.ipynb`.",
)


@lesson.exercise(
    "1",
    hints=(
        "Core ATen is a table; its name is `core`.",
        "`--decompose core` comes before the call.",
    ),
    solution='%export -d "x: batch, _" --decompose core --as mine block(x)',
    wrong=(
        '%export -d "x: batch, _" --as mine block(x)',
        '%export -d "x: batch, _" --decompose none --as mine block(x)',
        '%export -d "x: batch, _" --decompose "only silu" --as mine block(x)',
        '%export -d "x: batch, _" --decompose "core -linear" --as mine block(x)',
        '%export -d "x: batch, _" --decompose core --as mine (lambda x: x.sigmoid())(x)',
    ),
)
def only_core_ops(answer: Answer) -> None:
    """Decompose `block(x)` to Core ATen."""
    answer.varies("x", 0)
    _outside(answer, set())
    answer.has_op("addmm", "native_layer_norm")
    answer.agrees_with_eager()


@lesson.exercise(
    "2",
    hints=(
        "A minus and the name of an op after `core` keeps that op whole. The quotes are needed.",
        '`--decompose "core -linear"`',
    ),
    solution='%export -d "x: batch, _" --decompose "core -linear" --as mine block(x)',
    wrong=(
        '%export -d "x: batch, _" --decompose core --as mine block(x)',
        '%export -d "x: batch, _" --decompose "core -silu" --as mine block(x)',
        '%export -d "x: batch, _" --decompose "only silu" --as mine block(x)',
        '%export -d "x: batch, _" --decompose "core -linear -silu" --as mine block(x)',
    ),
)
def linear_stays_whole(answer: Answer) -> None:
    """Decompose all but `linear`."""
    answer.varies("x", 0)
    _outside(answer, {"aten.linear.default"})
    answer.agrees_with_eager()


@lesson.exercise(
    "3",
    hints=(
        "In the decomposed view, the table in Inspector lists each op that is gone, and "
        "what replaced it.",
        "It became two ops: one is the nonlinearity, the other multiplies.",
        "Full names, such as `aten.add.Tensor`, in a list.",
    ),
    solution='came = ["aten.sigmoid.default", "aten.mul.Tensor"]',
    wrong=(
        'came = ["sigmoid", "mul"]',
        'came = ["aten.sigmoid.default"]',
        'came = ["aten.sigmoid.default", "aten.mul.Tensor", "aten.add.Tensor"]',
        'came = ["aten.silu.default"]',
    ),
)
def knows_what_came(answer: Answer) -> None:
    """List the ops that `silu` became."""
    if not isinstance(answer.value, list | tuple | set):
        raise Wrong('Pass a list of full names: `["aten. ... ", "aten. ... "]`.')
    texts = {str(value) for value in answer.value}
    wanted = _decompose_silu()
    if texts == wanted:
        return
    if texts < wanted:
        raise Wrong("Some are missing.")
    if texts > wanted:
        raise Wrong("These are too many: some come from a different op.")
    if texts & {text.split(".")[1] for text in wanted}:
        raise Wrong("Write the full names, which have three parts.")
    raise Wrong("None of these came from `silu`.")


def _outside(answer: Answer, wanted: set[str]) -> None:
    """Which ops are left that are not of Core ATen."""
    level = answer.record.level
    if level is None:
        raise Wrong("This is the traced program: nothing is decomposed.")
    left = {text.partition(" ")[0] for text in level.outside}
    for op in sorted(left - wanted):
        raise Wrong(f"`{op}` is still there, and it is not in Core ATen.")
    for op in sorted(wanted - left):
        raise Wrong(f"`{op}` is gone; it should stay whole.")


def _decompose_silu() -> set[str]:
    """The ops that torch decomposes silu into."""
    program = torch.export.export(torch.nn.SiLU(), (torch.randn(2),)).run_decompositions()
    return {str(node.target) for node in program.graph.nodes if node.op == "call_function"}

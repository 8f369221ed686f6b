"""Lesson 1: what an export is, how to make one, what it promises."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson, Wrong

lesson = Lesson(
    "A first export",
    name="a_first_export",
    after="Next: `02_reading_a_graph_and_a_signature.ipynb`.",
)


def blend(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The result of the lesson's first model."""
    return torch.relu(x - y) + 0.5 * y


@lesson.exercise(
    "1",
    hints=(
        "Write the usual call after `%export`: the model, then its inputs in parentheses.",
        "The call is `score(features, temperature)`. Options such as `--as mine` come before it.",
    ),
    solution="%export --as mine score(features, temperature)",
    wrong=(
        "%export --as mine score(features, 2.0)",
        "%export --as mine blend(x, y)",
        "%export --as mine score(features, features)",
        "mine = score(features, temperature)",
    ),
)
def exports_the_call(answer: Answer) -> None:
    """Export `score(features, temperature)` and keep it as `mine`."""
    answer.exported()
    inputs = {
        entry.path: entry.constant
        for entry in answer.record.signature.inputs
        if entry.kind == "user_input"
    }
    if set(inputs) != {"features", "temperature"}:
        raise Wrong(f"This is a different call: its inputs are {', '.join(inputs)}.")
    if inputs["temperature"] is not None:
        raise Wrong(
            "`temperature` is a plain number here, so its value is fixed in the program. Pass the "
            "tensor `temperature`."
        )
    answer.has_op("linear", "softmax")
    answer.agrees_with_eager()


@lesson.exercise(
    "2",
    hints=(
        "Click the boxes of the graph one by one. Inspector shows each one's full name.",
        "In Source, click the line with the `/`. Its ops light up; one of them divides.",
        "A full name has three parts, separated by dots: `aten`, the op, and its variant.",
    ),
    solution='op = "aten.div.Tensor"',
    wrong=('op = "div"', 'op = "aten.softmax.int"', 'op = "/"', "op = torch.div"),
)
def names_the_op(answer: Answer) -> None:
    """Name the op that the `/` became: its full name, as a string."""
    if not isinstance(answer.value, str):
        raise Wrong('Write the name between quotes: `op = "aten. ... "`.')
    text = answer.value.strip().removeprefix("torch.ops.")
    program = torch.export.export(_Divides(), (torch.ones(2), torch.ones(2)))
    (wanted,) = [str(node.target) for node in program.graph.nodes if node.op == "call_function"]
    if text == wanted:
        return
    if text and text in wanted:
        raise Wrong("That is the op, but not its full name, which has three parts.")
    raise Wrong("The program has a different name for it.")


@lesson.exercise(
    "3",
    hints=(
        "The inputs of the call are an example. Their sizes become the sizes of the program.",
        "`torch.randn(7, 3)` is an example with 7 rows.",
    ),
    solution="%export --as seven blend(torch.randn(7, 3), torch.randn(7, 3))",
    wrong=(
        "%export --as seven blend(x, y)",
        "%export --as seven blend(torch.randn(7, 3), torch.randn(3))",
        "%export --as seven blend(torch.randn(3, 7), torch.randn(3, 7))",
        "%export --as seven score(torch.randn(7, 16), temperature)",
    ),
)
def takes_seven_rows(answer: Answer) -> None:
    """Export `blend` so that its program accepts 7 rows of 3."""
    answer.takes(x=(7, 3), y=(7, 3))
    generator = torch.Generator().manual_seed(7)
    x, y = torch.randn(2, 7, 3, generator=generator)
    answer.agrees_with(blend, (x, y), (-x, y))


class _Divides(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x / y

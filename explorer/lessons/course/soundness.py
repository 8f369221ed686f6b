"""Lesson 12: exports that succeed and are wrong."""

from __future__ import annotations

import torch

from explorer.lessons import Answer, Lesson, Wrong
from explorer.lessons.course import write_model_cell

lesson = Lesson(
    "Soundness",
    name="soundness",
    after="Next: `13_a_model_that_generates.ipynb`.",
)


def _stamp_text(body: str, call: str) -> str:
    return f"""
class Stamped(torch.nn.Module):
    {body}

%export --as mine Stamped(){call}
"""


def _log_text(body: str) -> str:
    return f"\nseen = []\n{write_model_cell('Logged', body)}"


@lesson.exercise(
    "1",
    hints=(
        "Open Findings. It names the model's mode and offers a fix.",
        "`model.eval()` disables dropout and returns the model: `noisy.eval()(x)`.",
    ),
    solution='%export -d "x: batch, _" --as mine noisy.eval()(x)',
    wrong=(
        '%export -d "x: batch, _" --as mine noisy.train()(x)',
        "%export --as mine noisy.lin(x)",
        "%export --as mine noisy.train()(x)",
        "%export --as mine torch.nn.Dropout(0.5).eval()(x)",
    ),
)
def without_dropout(answer: Answer) -> None:
    """Export `noisy` for inference, without dropout."""
    answer.no_finding("training-mode", "random")
    answer.has_op("linear", "relu")
    module = answer.program.module()
    size = answer.record.probe.inputs[-1].example
    x = torch.randn(3, size, generator=torch.Generator().manual_seed(13))
    if not torch.equal(module(x), module(x)):
        raise Wrong("Two calls with the same input return different results.")
    answer.agrees_with_eager()


@lesson.exercise(
    "2",
    hints=(
        "A value that changes from call to call must be an input.",
        "`def forward(self, x, now)`, and `now` is a tensor: `torch.tensor(time.time())`.",
    ),
    solution=_stamp_text(
        "def forward(self, x, now):\n        return x + now", "(x, torch.tensor(time.time()))"
    ),
    wrong=(
        _stamp_text("def forward(self, x):\n        return x + time.time()", "(x)"),
        _stamp_text("def forward(self, x, now):\n        return x + now", "(x, time.time())"),
        _stamp_text(
            "def forward(self, x, now):\n        return x + time.time()",
            "(x, torch.tensor(time.time()))",
        ),
        _stamp_text(
            "def forward(self, x, now):\n        return x * now", "(x, torch.tensor(time.time()))"
        ),
    ),
)
def the_time_is_an_input(answer: Answer) -> None:
    """Pass the time in with each call."""
    answer.no_finding("baked-value", "baked-argument")
    inputs = [entry for entry in answer.record.signature.inputs if entry.kind == "user_input"]
    if len(inputs) < 2:
        raise Wrong("`x` is the only input. Where does the time come from?")
    if inputs[1].constant is not None:
        raise Wrong("The time is a plain number, and fixed in the program. Pass a tensor.")
    sizes = [
        size.example for size in answer.record.probe.inputs if size.entry == _first_input(answer)
    ]
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(14))
    answer.agrees_with(torch.add, (x, torch.tensor(5.0)), (x, torch.tensor(7.5)))


@lesson.exercise(
    "3",
    hints=(
        "A program returns tensors; it does not append to lists. Return what you want to keep.",
        "`return y * 2, y.mean()`, and no list.",
    ),
    solution=_log_text("y = x.sin()\nreturn y * 2, y.mean()"),
    wrong=(
        _log_text("y = x.sin()\nseen.append(y.mean())\nreturn y * 2"),
        _log_text("y = x.sin()\nseen.append(y.mean())\nreturn y * 2, y.mean()"),
        _log_text("y = x.sin()\nreturn y * 2"),
        _log_text("y = x.sin()\nreturn y.mean(), y * 2"),
    ),
)
def the_mean_is_returned(answer: Answer) -> None:
    """Return the number that was appended to the list."""
    answer.no_finding("state-changed")
    sizes = [size.example for size in answer.record.probe.inputs]
    x = torch.randn(sizes, generator=torch.Generator().manual_seed(15))
    answer.agrees_with(lambda x: (x.sin() * 2, x.sin().mean()), (x,), (x * 3,))


def _first_input(answer: Answer) -> int:
    """The place of the first input that a caller passes, in the signature."""
    kinds = [entry.kind for entry in answer.record.signature.inputs]
    return kinds.index("user_input")

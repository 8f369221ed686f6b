"""Lesson 3: two ways to trace, and what each can trace."""

from __future__ import annotations

import zlib

import torch

from explorer.lessons import Answer, Lesson, Wrong
from export_engine.defects import log_internal_error

lesson = Lesson(
    "Strict and non-strict",
    name="strict_and_non_strict",
    after="Next: `04_graph_breaks_and_cond.ipynb`.",
)

_STEADY = """
class Steady(torch.nn.Module):
    def forward(self, x):
        {body}
        return y

%export {options} --as mine Steady()(x)
"""


def _steady(body: str, options: str = "--both") -> str:
    return _STEADY.format(body=body.replace("\n", "\n        "), options=options)


@lesson.exercise(
    "1",
    hints=(
        "Look again at what `--both` showed: one of the modes can trace a data-dependent `assert`.",
        "The option is `--strict`.",
    ),
    solution="%export --strict --as mine checked(x)",
    wrong=(
        "%export --as mine checked(x)",
        "%export --strict --as mine plain(x)",
        "%export --strict --as mine torch.nn.Identity()(x)",
    ),
)
def exports_the_assert(answer: Answer) -> None:
    """Export `checked(x)` in the mode that can trace it."""
    answer.mode("strict")
    inputs = _inputs(answer)
    answer.agrees_with(_double, *inputs)
    try:
        answer.program.module()(inputs[0][0] * 1000)
    except Exception as error:  # noqa: BLE001 - whatever the assert became
        log_internal_error(error, "calling a program that is to refuse")
        return
    raise Wrong("The program accepts numbers above 100, which `checked` rejects.")


@lesson.exercise(
    "2",
    hints=(
        "Strict mode traces the bytecode of your Python, and `zlib.crc32` is written in "
        "C: it has no bytecode to trace.",
        "Non-strict mode runs your Python, including `zlib.crc32`. It is the default.",
    ),
    solution="%export --as mine tagged(x)",
    wrong=(
        "%export --strict --as mine tagged(x)",
        "%export --as mine plain(x)",
        "%export --strict --as mine checked(x)",
        "%export --as mine torch.nn.Identity()(x)",
    ),
)
def exports_the_tag(answer: Answer) -> None:
    """Export `tagged(x)` in the mode that can trace it."""
    answer.mode("non-strict")
    answer.agrees_with(_tag, *_inputs(answer))


@lesson.exercise(
    "3",
    hints=(
        "Neither mode captures a write through `.data`. Both capture writes to the tensor itself.",
        "Leave `.data` out: `y[0, 0] = 3`.",
    ),
    solution=_steady("y = x * 2\ny[0, 0] = 3"),
    wrong=(
        _steady("y = x * 2\ny.data[0, 0] = 3"),
        _steady("y = x * 2"),
        _steady("y = x * 2\ny[0, 0] = 3", "--strict"),
        _steady("y = x * 0 + 3"),
    ),
)
def exports_in_both(answer: Answer) -> None:
    """Rewrite `Steady` so that it exports in both modes."""
    answer.exported()
    from export_engine.attempt import Exported

    modes = {
        attempt.mode: isinstance(attempt, Exported)
        for attempt in answer.exploration.session.attempts
    }
    if len(modes) < 2:
        raise Wrong("This was exported in one mode only. `--both` tries both.")
    answer.agrees_with(_write, *_inputs(answer))
    failed = [mode for mode, ok in modes.items() if not ok]
    if failed:
        raise Wrong(f"It does not export in {failed[0]} mode yet.")


def _inputs(answer: Answer) -> list[tuple[torch.Tensor]]:
    """Two inputs of the size that the answer was exported with."""
    sizes = [size.example for size in answer.record.probe.inputs]
    generator = torch.Generator().manual_seed(3)
    return [(torch.randn(sizes, generator=generator),) for _ in range(2)]


def _double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def _write(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    y[0, 0] = 3
    return y


def _tag(x: torch.Tensor) -> torch.Tensor:
    return x * (zlib.crc32(b"speaker two") % 7)

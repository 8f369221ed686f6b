"""Numbers from data that index, bound, and decide: read as numbers of the program, or kept."""

from __future__ import annotations

import logging
import math
import re

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.fixes import autofix, explain
from export_engine.fixes.code.branches.tensor_questions import (
    asked_as_tensors,
    kept_as_tensor,
    truncated,
)
from export_engine.fixes.code.calls.index_writes import written_by_number
from export_engine.fixes.code.editing.conditions import Unclear
from tests.torch_limits import LOSES_NUMBERS

Tensor = torch.Tensor


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("out[:, :, at] = x", "out.select(2, at.item())[:, :] = x"),
        ("out[b, at[b]] = x", "out.select(1, at[b].item())[b] = x"),
        ("out[at] += x", "out.select(0, at.item())[...] += x"),
        ("out[..., at:, : at + 1] = x", "out[..., at.item():, :(at + 1).item()] = x"),
        ("out[b, at:] = x", "out[b, at.item():] = x"),
        ("out[b, at : at + 2] = x", "out[b, at.item() : (at + 2).item()] = x"),
        ("out[b, : n.shape[0] - 1, at] = x", "out.select(2, at.item())[b, :n.shape[0] - 1] = x"),
    ],
)
def test_what_is_written_to_is_selected_by_numbers(line: str, wanted: str) -> None:
    text = f"def f(out, x, at, n):\n    for b in range(2):\n        {line}\n"
    assert written_by_number(text, 3).text.splitlines()[2].strip() == wanted


@pytest.mark.parametrize(
    "line", ["out[0, b] = x", "out[:2] = x", "out = x[at]", "out[..., at] = x"]
)
def test_plain_indices_are_left(line: str) -> None:
    text = f"def f(out, x, at):\n    for b in range(2):\n        {line}\n"
    with pytest.raises(Unclear):
        written_by_number(text, 3)


class WritesRows(nn.Module):
    def forward(self, x: Tensor, at: Tensor, new: Tensor) -> Tensor:
        out = x.clone()
        for row in range(x.shape[0]):
            out[row, at[row]] = new[row]
        out[:, at[0]] += 1
        return out


class Decodes(nn.Module):
    """Both branches write at one index."""

    def forward(self, logits: Tensor, ids: Tensor) -> Tensor:
        logits = logits.clone()
        for token in ids:
            if logits[token] < 0:
                logits[token] *= 1.3
            else:
                logits[token] /= 1.3
        return logits


class CropsBox(nn.Module):
    def forward(self, image: Tensor, box: Tensor) -> Tensor:
        x0, y0 = int(box[0]), int(box[1])
        x1 = int(box[2] + 0.5)
        return image[:, y0:, x0:x1].mean((1, 2))


class ByMode(nn.Module):
    def forward(self, x: Tensor, mode: Tensor) -> Tensor:
        m = mode.item()
        if m == 0:
            return x.sin()
        if m == 1:
            return x.cos()
        return x.tan()


class StepsOf(nn.Module):
    def forward(self, x: Tensor, times: Tensor) -> Tensor:
        steps = [(torch.arange(6) == each).nonzero().item() for each in times]
        return x[steps]


class StopsAt(nn.Module):
    def forward(self, x: Tensor, token: Tensor) -> Tensor:
        if token.item() in (2, 7):
            x = x * 2
        return x + 1


def _row(*numbers: float) -> Tensor:
    return torch.tensor(numbers)


MODELS: dict[type[nn.Module], list[tuple[Tensor, ...]]] = {
    WritesRows: [
        (torch.randn(2, 5), torch.tensor(each), torch.randn(2))
        for each in ([1, 4], [0, 0], [-1, 3])
    ],
    Decodes: [(torch.randn(6), torch.tensor(each)) for each in ([1, 1, 4], [0, 5, 0], [-1, 2, 3])],
    CropsBox: [
        (torch.randn(2, 8, 8), _row(*each))
        for each in ((1.7, 2.2, 6.5), (0.0, 0.0, 1.0), (3.0, 7, 7))
    ],
    ByMode: [(torch.randn(3), torch.tensor(each)) for each in (1, 0, 5)],
    StepsOf: [(torch.randn(6), torch.tensor(each)) for each in ([1, 4], [0, 0], [5, 3])],
    StopsAt: [(torch.randn(3), torch.tensor(each)) for each in (2, 3, 7)],
}


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_program_reads_its_numbers_as_eager_does(model: type[nn.Module]) -> None:
    example, *others = MODELS[model]
    if model is Decodes and LOSES_NUMBERS:
        pytest.skip("torch 2.15 loses track of an index from data within an operator")
    report = autofix(Request(target=model(), args=example))
    assert isinstance(report.attempt, Exported)
    program = report.attempt.program.module()
    for call in (example, *others):
        torch.testing.assert_close(program(*call), model()(*call))


def test_an_int_of_a_tensor_is_as_large_as_pythons() -> None:
    text = "def f(x):\n    n = x.item()\n    return int(x) + n\n"
    assert kept_as_tensor(text, 2, whole=True).text.splitlines()[1] == "    n = x.long()"
    assert truncated(text, 3).text.splitlines()[2] == "    return x.long().item() + n"


def test_a_number_among_others_is_asked_of_torch() -> None:
    text = "import torch\ndef f(x):\n    return x.item() not in (1, 2)\n"
    made = asked_as_tensors(text, 3).text.splitlines()[2]
    assert made == "    return ~torch.isin(x, torch.tensor([1, 2]))"


class LogsMean(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.log = logging.getLogger("mean")

    def forward(self, x: Tensor) -> Tensor:
        self.log.debug(f"mean={x.mean().item():.3f}")
        return x * 2


class RootAndExponent(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        mean = x.abs().mean().item()
        return x / math.sqrt(mean) + math.exp(mean)


@pytest.mark.slow
def test_two_functions_need_a_number_and_one_needs_it() -> None:
    attempt = capture(Request(target=RootAndExponent(), args=(torch.rand(3),)))
    assert isinstance(attempt, Failed)
    whys = [fix.why for fix in explain(attempt).fixes]
    assert any("`math.exp` and `math.sqrt` need a number" in why for why in whys), whys


@pytest.mark.slow
def test_a_number_from_data_is_not_called_a_size() -> None:
    attempt = capture(Request(target=LogsMean(), args=(torch.randn(3),)))
    assert isinstance(attempt, Failed)

    fixes = explain(attempt).fixes

    assert any(re.fullmatch(r"Keep the number in line \d+ symbolic", fix.title) for fix in fixes)
    assert not any("size" in f"{fix.title} {fix.why}" for fix in fixes)

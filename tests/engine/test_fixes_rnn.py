"""torch's own recurrent modules as a scan over their cell: the same outputs and states."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Failed, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.packed_to_scan import as_masked_scan
from export_engine.fixes.code.loops.rnn_to_scan import as_scan_of_cells
from export_engine.shapes import Shapes

TEXT = """
import torch

class Model(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.inner = getattr(torch.nn, kind)(3, 4, **options)

    def forward(self, x, h=None):
        'Doc.'
        if h is None:
            y, h = self.inner(x)
        else:
            y, h = self.inner(
                x, hx=h
            )
        return y, h
"""
LINE = 12
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "layers": {"num_layers": 2, "batch_first": True},
    "both_ways": {"num_layers": 2, "bidirectional": True, "bias": False},
}


@pytest.fixture
def plain_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch's scan means, without its compiler."""

    def scan(step: Callable[..., Any], carry: Any, xs: Any, reverse: bool = False) -> Any:
        outs = []
        elements = list(zip(*xs, strict=True)) if isinstance(xs, tuple) else list(xs)
        for each in reversed(elements) if reverse else elements:
            carry, out = step(carry, each)
            outs.append(out)
        return carry, torch.stack(outs[::-1] if reverse else outs)

    importlib.import_module("torch._higher_order_ops.scan")
    monkeypatch.setattr(sys.modules["torch._higher_order_ops.scan"], "scan", scan)


def model_of(text: str, kind: str, options: dict[str, Any]) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "rnn.py", "exec"), names)
    return names["Model"](kind, **options).eval()


@pytest.mark.after_check
@pytest.mark.usefixtures("plain_scan")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN", "RNN_RELU"])
def test_a_scan_over_the_cell_is_the_module(kind: str, options: str) -> None:
    given = dict(OPTIONS[options])
    if kind == "RNN_RELU":
        kind, given["nonlinearity"] = "RNN", "relu"
    model = model_of(TEXT, kind, given)
    made, said = as_scan_of_cells(TEXT, LINE, {"inner": model.inner})
    assert said == kind
    assert "self.inner, x, hx=h" in made.text
    other = model_of(made.text, kind, given)
    other.load_state_dict(model.state_dict())
    for length in (1, 2, 5):
        x = torch.rand(2, length, 3) if given.get("batch_first") else torch.rand(length, 2, 3)
        torch.testing.assert_close(other(x), model(x))
        _, h = model(x)
        torch.testing.assert_close(other(x, h), model(x, h))


def in_one_storage(module: torch.nn.Module) -> None:
    """The weights as cuDNN has them on a GPU."""
    weights = list(module.parameters())
    whole = torch.cat([each.detach().flatten() for each in weights])
    for each, part in zip(weights, whole.split([each.numel() for each in weights]), strict=True):
        each.data = part.view_as(each)


class Recurs(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = torch.nn.LSTM(3, 4, batch_first=True)
        in_one_storage(self.rnn)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.rnn(x)[0]
        return found


@pytest.mark.slow
def test_weights_that_are_parts_of_one_storage_are_copied_for_the_scan() -> None:
    shapes = Shapes.parse("x: batch, time, _")
    report = autofix(Request(target=Recurs().eval(), args=(torch.randn(2, 5, 3),), shapes=shapes))
    assert isinstance(report.attempt, Exported), report
    assert report.attempt.agreement is not None
    assert report.attempt.agreement.verdict == "agrees"


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"proj_size": 2}, "projects"), ({"num_layers": 2, "dropout": 0.5}, "training mode")],
)
def test_a_module_that_does_more_is_kept(options: dict[str, Any], reason: str) -> None:
    model = model_of(TEXT, "LSTM", options).train()
    with pytest.raises(Unclear, match=reason):
        as_scan_of_cells(TEXT, LINE, {"inner": model.inner})


PACKED = """
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

class Model(torch.nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.inner = getattr(torch.nn, kind)(3, 4, **options)

    def forward(self, x, lengths, h=None):
        first = FIRST
        packed = pack_padded_sequence(x, lengths, batch_first=first, enforce_sorted=False)
        out, h = self.inner(packed, h)
        out, known = pad_packed_sequence(out, batch_first=first, MORE)
        return out, known, h
"""
LENGTHS = [[5, 5, 5], [1, 3, 2], [4, 1, 5]]


@pytest.mark.usefixtures("plain_scan")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
@pytest.mark.slow
def test_a_masked_scan_is_the_module_of_packed_rows(kind: str, options: str) -> None:
    first = options == "layers"
    more = {"plain": "", "layers": "padding_value=-7.0", "both_ways": "total_length=6"}[options]
    text = PACKED.replace("FIRST", str(first)).replace("MORE", more)
    model = model_of(text, kind, OPTIONS[options])
    made, said = as_masked_scan(text, LINE, {"inner": model.inner})
    assert said == kind
    other = model_of(made.text, kind, OPTIONS[options])
    other.load_state_dict(model.state_dict())
    for given in LENGTHS:
        x, lengths = torch.rand(3, 5, 3), torch.tensor(given)
        x = x if first else x.transpose(0, 1)
        expected = model(x, lengths)
        torch.testing.assert_close(other(x, lengths), expected)
        torch.testing.assert_close(other(x, given, expected[2]), model(x, given, expected[2]))


@pytest.mark.parametrize(
    "change",
    [
        ("packed = pack_padded_sequence(x, lengths,", "packed = given(x, lengths,"),
        ("pack_padded_sequence(x, lengths,", "pack_padded_sequence(*x, lengths=lengths,"),
        ("self.inner(packed, h)", "self.inner(input=packed)"),
        ("self.inner(packed, h)", "_packed(self.inner(packed, h))"),
    ],
)
def test_rows_that_are_packed_in_another_way_are_kept(change: tuple[str, str]) -> None:
    text = PACKED.replace(*change)
    with pytest.raises(Unclear):
        as_masked_scan(text, LINE, {"inner": torch.nn.GRU(3, 4)})


@pytest.mark.slow
def test_packed_rows_export(tmp_path: Path) -> None:
    text = PACKED.replace("FIRST", "True").replace("MORE", "")
    file = tmp_path / "packed_rows.py"
    file.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(file), "exec"), names)
    model = names["Model"]("GRU").eval()
    args = (torch.rand(3, 5, 3), torch.tensor([5, 2, 3]))
    shapes = Shapes.parse("x: _, time, _")
    report = autofix(Request(target=model, args=args, shapes=shapes))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "does not reject lengths" in report.kept[0].fix.gives_up
    for length, given in ((5, [1, 2, 5]), (7, [3, 7, 1]), (4, [2, 2, 2])):
        x, lengths = torch.rand(3, length, 3), torch.tensor(given)
        torch.testing.assert_close(report.attempt.program.module()(x, lengths), model(x, lengths))


class Doubled(torch.nn.LSTM):
    def forward(self, input: Any, hx: Any = None) -> Any:  # noqa: A002 - torch's name
        out, state = super().forward(input, hx)
        return out * 2, state


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_a_module_of_torch_that_is_itself_the_model(kind: str) -> None:
    model = getattr(torch.nn, kind)(8, 4, num_layers=2, bidirectional=True).eval()
    shapes = Shapes.parse("input: seq, batch, _")

    report = autofix(Request(target=model, args=(torch.randn(7, 5, 8),), shapes=shapes))

    assert [step.fix.title for step in report.steps] == [f"Rewrite the {kind} as a scan"]
    assert isinstance(report.attempt, Exported)
    x = torch.randn(3, 2, 8)
    torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
def test_a_forward_of_ones_own_is_not_taken_for_torchs() -> None:
    shapes = Shapes.parse("input: seq, batch, _")

    report = autofix(Request(target=Doubled(8, 4), args=(torch.randn(7, 5, 8),), shapes=shapes))

    assert not report.steps


@pytest.mark.slow
def test_a_module_that_projects_is_told_why() -> None:
    model = torch.nn.LSTM(8, 4, proj_size=2)
    shapes = Shapes.parse("input: seq, batch, _")

    report = autofix(Request(target=model, args=(torch.randn(7, 5, 8),), shapes=shapes))

    assert isinstance(report.attempt, Failed)
    assert any("the module projects its state" in each for each in report.attempt.refusals)

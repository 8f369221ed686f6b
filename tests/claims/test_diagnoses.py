"""What a failure is said to be: the line that caused it, the numbers, and fixes that agree."""

from __future__ import annotations

import copy
from copy import copy as duplicate
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.random import uniform

import explorer
from export_engine.source import find_last_frame, source_line


class CopiesItsInput(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = copy.copy(x)
        return x * 2 + kept


class CopiesInAHelper(torch.nn.Module):
    def copied(self, x: torch.Tensor) -> torch.Tensor:
        return copy.copy(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = self.copied(x)
        return x * 2 + kept


class CopiesUnderAnotherName(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = duplicate(x)
        total = (x * 2).sum()
        return total + kept


class CopiesIntoAList(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = [copy.copy(each) for each in (x, x + 1)]
        return torch.add(x * 2, kept[1])


class ReturnsItsCopy(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = copy.copy(x)
        x.add_(1)
        return kept


@pytest.mark.parametrize(
    "model",
    [CopiesItsInput, CopiesInAHelper, CopiesUnderAnotherName, CopiesIntoAList, ReturnsItsCopy],
)
def test_a_tensor_that_python_copies_fails_at_the_copy(model: type[torch.nn.Module]) -> None:
    ex = explorer.explore(model(), (torch.randn(3),))
    failure = ex.record.failure
    assert failure is not None
    frame = find_last_frame(ex.record, failure.stack)
    assert frame is not None
    line = source_line(ex.record, frame.file, frame.line)
    assert "copy(" in line or "duplicate(" in line, line
    called = next(part for part in ("copy.copy(", "duplicate(") if part in line)
    assert failure.sentence.startswith(f"`{called}"), failure.sentence
    assert ".view_as(" in failure.sentence, "as the fix writes it"
    assert "clone()" not in failure.sentence
    assert [fix.title.partition(" in ")[0] for fix in failure.fixes] == ["Copy tensors with torch"]


@pytest.mark.parametrize("strict", [False, True])
def test_a_pin_and_an_example_that_differ_are_two_numbers_and_two_fixes(strict: bool) -> None:
    def exported() -> explorer.Exploration:
        model = torch.nn.Linear(4, 4)
        return explorer.explore(
            model, (torch.randn(3, 4),), dynamic_shapes="input: 8, _", strict=strict
        )

    failed = exported()
    failure = failed.record.failure
    assert failure is not None
    assert failure.sentence == "input.shape[0] is pinned to 8, but is 3 in the example."
    assert [(fix.title, fix.lossy) for fix in failure.fixes] == [
        ("Use an example where input.shape[0] = 8", False),
        ("Pin input.shape[0] to 3", True),
    ]
    eight, three = exported().apply_fixes(0), exported().apply_fixes(1)
    assert eight.program.module()(torch.randn(8, 4)).shape == (8, 4)
    assert three.program.module()(torch.randn(3, 4)).shape == (3, 4)


def test_all_pins_that_differ_are_named_at_once() -> None:
    def doubled(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x * 2, y * 2

    inputs = (torch.randn(3, 4), torch.randn(5))
    ex = explorer.explore(doubled, inputs, dynamic_shapes="x: 8, a; y: 1", fix=True)
    assert ex.ok
    assert ex.record.fixed_by == ["Use an example where x.shape[0] = 8, y.shape[0] = 1"]


class TwoInputs(torch.nn.Module):
    def forward(self, x: torch.Tensor, factor: float, y: torch.Tensor) -> torch.Tensor:
        return x * factor + y[:, : x.shape[1]]


@pytest.mark.slow
def test_an_onnx_file_has_the_names_of_sizes(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs pip install '.[onnx]'")
    pytest.importorskip("onnxscript", reason="needs pip install '.[onnx]'")
    inputs = (torch.randn(2, 3, 4), 2.5, torch.randn(2, 7, 4))
    shapes = "x: batch, seq, _; y: batch, 2*seq + 1, _"
    ex = explorer.explore(TwoInputs().eval(), inputs, dynamic_shapes=shapes)
    assert ex.run(backend="onnx", folder=tmp_path).ok
    (file,) = tmp_path.rglob("*.onnx")
    session = onnxruntime.InferenceSession(file)
    assert [each.shape for each in session.get_inputs()] == [
        ["batch", "seq", 4],
        ["batch", "2*seq + 1", 4],
    ]
    assert [each.shape for each in session.get_outputs()] == [["batch", "seq", 4]]


class Embeds(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(10, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids)


class Filters(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.filter = torch.nn.Conv2d(3, 4, 3)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.filter(image)


class Indexes(torch.nn.Module):
    def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return x[at]


class AddsInPlace(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        total = torch.zeros(3, dtype=torch.long)
        total += x
        return total


DTYPES = {
    Embeds: ((torch.randn(3),), "`ids` is float32, the parameters of `self.table` are float32"),
    Filters: (
        (torch.ones(1, 3, 8, 8, dtype=torch.uint8),),
        "`image` is uint8, the parameters of `self.filter` are float32",
    ),
    Indexes: ((torch.randn(3), torch.randn(2)), "`x` is float32, `at` is float32"),
    AddsInPlace: ((torch.randn(3),), "`total` is int64, `x` is float32"),
}


@pytest.mark.parametrize("model", DTYPES)
def test_an_op_that_refuses_a_dtype_names_the_tensors_and_the_line(
    model: type[torch.nn.Module],
) -> None:
    inputs, named = DTYPES[model]
    failure = explorer.explore(model(), inputs).record.failure
    assert failure is not None
    assert failure.sentence.endswith(f" Here {named}."), failure.sentence
    assert failure.stack >= 0


def undecided(x: torch.Tensor) -> torch.Tensor:
    return x.sin() if x.sum() > 0 else x


def test_a_line_to_type_names_the_variable_that_holds_the_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import __main__

    ex = explorer.explore(undecided, (torch.ones(3),))
    monkeypatch.setattr(__main__, "_export", ex, raising=False)
    assert "Fixes: _export.apply_fixes(0), or _export.autofix()" in repr(ex)
    monkeypatch.setattr(__main__, "k", ex, raising=False)
    assert "Fixes: k.apply_fixes(0), or k.autofix()" in repr(ex)
    assert {each.name for each in ex.session.heads()} == {"k"}
    ex.autofix()
    assert "k.run()" in [each.command for each in ex.release_report().items]


def test_a_program_of_a_set_is_named_by_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    import __main__

    kit = explorer.explore_many({"one": (torch.sin, (torch.ones(3),))})
    monkeypatch.setattr(__main__, "mine", kit, raising=False)
    assert "→ mine['one'].verify(); mine['one'].run()" in str(kit.release_report())
    assert "mine['one'].verify()" in [each.command for each in kit["one"].release_report().items]


class DrawsANumber(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * np.random.rand()


class DrawsInABranch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1 if uniform(0, 1) < 0.5 else x * 2


class Permutes(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[np.random.permutation(3)]


class MapsALayer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.vmap(lambda row: self.layer(row) * 2)(x)


@pytest.mark.parametrize(
    ("model", "called", "said"),
    [
        (DrawsANumber, "np.random.rand()", "it draws a random number with NumPy"),
        (DrawsInABranch, "uniform(0, 1)", "it draws a random number with NumPy"),
        (Permutes, "np.random.permutation(3)", "torch has no equivalent of this NumPy function"),
        (MapsALayer, "self.layer(row)", "it reads a parameter or a buffer that was not read"),
    ],
)
def test_what_strict_mode_refuses_is_not_said_to_be_read_from_a_tensor(
    model: type[torch.nn.Module], called: str, said: str
) -> None:
    ex = explorer.explore(model(), (torch.randn(3, 3),), strict=True)
    failure = ex.record.failure
    assert failure is not None
    assert failure.sentence.startswith("Strict mode cannot trace ")
    assert f"`{called}`" in failure.sentence
    assert said in failure.sentence
    assert "Export in non-strict mode" in [fix.title for fix in failure.fixes]

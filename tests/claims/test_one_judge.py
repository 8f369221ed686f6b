"""A fix and Verify judge a program alike: by its results, and by what it writes to its inputs."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

import explorer
from export_engine.capture.container_writes import Refilled
from export_engine.verify.compare_outputs import compare, compare_calls
from export_engine.verify.isolated_run import Call


class WritesInABranch(nn.Module):
    def forward(self, which: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        def write(x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return x.sin()

        return torch.cond(which, write, lambda x: x.cos(), (x,))


class WritesOnOneLine(nn.Module):
    def forward(self, which: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        def write(x: torch.Tensor) -> torch.Tensor: x.add_(1); return x.sin()  # fmt: skip  # noqa: E702

        return torch.cond(which, write, lambda x: x.cos(), (x,))


class WritesToACopy(nn.Module):
    def forward(self, which: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        def write(x: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return x.sin()

        return torch.cond(which, write, lambda x: x.cos(), (x.clone(),))


class ReadsWhatABranchWrote(nn.Module):
    def forward(self, which: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        def write(y: torch.Tensor) -> torch.Tensor:
            y.add_(1)
            return y.sin()

        y = x * 2
        return torch.cond(which, write, lambda y: y.cos(), (y,)) + y


class KeepsWhatNobodyWrote(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        padded = torch.empty(x.shape[0] + 2, 4)
        if x.sum() > 0:
            x = x * 2
        padded[: x.shape[0]] = x
        return x, padded


def test_a_branch_that_writes_to_its_input_has_no_lossless_fix_that_loses_the_write() -> None:
    ex = explorer.explore(WritesInABranch(), (torch.tensor(True), torch.randn(3)))
    assert not [each for each in ex.fixes if not each.lossy]
    ex.autofix()
    assert not ex.ok


@pytest.mark.parametrize("model", [WritesInABranch(), WritesOnOneLine()])
@pytest.mark.parametrize("which", [True, False])
def test_a_clone_that_hides_a_write_is_lossy_and_shows_the_loss(
    model: nn.Module, which: bool
) -> None:
    ex = explorer.explore(model, (torch.tensor(which), torch.randn(3)))
    (fix,) = ex.fixes
    assert fix.lossy
    assert "its caller does not see the new values" in fix.gives_up
    ex.apply_fixes(fix)
    assert ex.ok
    assert ex.release_report().verdict == "not ready" or not which
    assert any("does not see the new values" in each for each in ex.record.given_up)


def test_a_clone_of_a_copy_hides_nothing_and_is_lossless() -> None:
    for which in (True, False):
        ex = explorer.explore(WritesToACopy(), (torch.tensor(which), torch.randn(3)))
        assert [each.lossy for each in ex.fixes] == [False]


def test_a_clone_that_changes_a_later_value_is_offered_by_no_example_that_shows_it() -> None:
    ex = explorer.explore(ReadsWhatABranchWrote(), (torch.tensor(True), torch.randn(3)))
    assert not ex.fixes
    ex = explorer.explore(ReadsWhatABranchWrote(), (torch.tensor(False), torch.randn(3)))
    assert all(each.lossy for each in ex.fixes)


@pytest.mark.slow
def test_memory_that_nobody_wrote_stops_no_fix_and_no_check() -> None:
    ex = explorer.explore(KeepsWhatNobodyWrote(), (torch.randn(3, 4),), dynamic_shapes="x: rows, _")
    ex.autofix()
    assert ex.ok
    verified = ex.verify()
    assert verified.ok, str(verified)
    sound = next(each for each in verified.guarantees if each.name == "sound")
    assert "Uninitialized memory, not compared: 8 of 20 elements of output 1." in sound.sentence


def test_a_write_to_an_input_counts_as_a_result_does() -> None:
    def called(written: float) -> Call:
        return Call(torch.ones(2), {"x": torch.full((2,), float(written))}, Refilled((), ()))

    assert compare_calls(called(1), called(1)).same
    assert compare_calls(called(1), called(2)).detail == (
        "inputs after the call, `x`: off by up to 1"
    )


def test_an_output_at_another_key_or_place_differs() -> None:
    x, y = torch.ones(3), torch.zeros(3)
    assert not compare({"odd": x}, {"even": x}).same
    assert not compare((x, None), (None, x)).same
    assert compare({"a": x, "b": y}, {"b": y, "a": x}).same
    assert compare([x, y], ((x, y),)).same  # a backend's list has no names


class KeyBySize(nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"odd" if x.shape[0] % 2 else "even": x * 2}


@pytest.mark.slow
def test_verify_compares_the_keys_of_outputs() -> None:
    ex = explorer.explore(KeyBySize(), (torch.ones(5, 2),), dynamic_shapes="x: 2*half + 1, _")
    assert ex.ok
    assert next(each for each in ex.verify().guarantees if each.name == "sound").verdict == "holds"


@pytest.mark.parametrize(
    ("ours", "eager", "same"),
    [
        ([math.inf, 1.0], [math.inf, 1.0], True),
        ([math.nan, 1.0], [math.nan, 1.0], True),
        ([-math.inf, 1.0], [math.inf, 1.0], False),
        ([math.nan, 1.0], [math.inf, 1.0], False),
        ([math.nan, 2.0], [math.nan, 1.0], False),
    ],
)
def test_infinities_and_nan_are_values_as_well(
    ours: list[float], eager: list[float], same: bool
) -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.complex64):
        assert (
            compare(torch.tensor(ours, dtype=dtype), torch.tensor(eager, dtype=dtype)).same is same
        )


def test_strides_are_a_note_for_verify_as_for_a_fix() -> None:
    class Turns(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            turned = x.mT + 0
            return turned.contiguous() if torch.compiler.is_exporting() else turned

    verified = explorer.explore(Turns(), (torch.randn(3, 4),)).verify()
    assert verified.ok
    sound = next(each for each in verified.guarantees if each.name == "sound")
    assert sound.sentence.endswith("Only strides differ: output 0: (3, 1) instead of (1, 4).")

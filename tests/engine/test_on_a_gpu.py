"""What only a GPU shows; all of it is left out where torch sees none."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from export_engine.process import gpu_checks, sandbox

from .test_gpu_checks import Asserts

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch sees no NVIDIA GPU here"
)


def made(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, device="cuda")


class Limits(nn.Module):
    """A branch on data, which a fix rewrites."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.lin(x).relu()
        if y.sum() > 3:
            y = y / y.sum()
        return y.softmax(-1)


def test_a_fixed_program_of_a_model_on_the_gpu_runs_there_and_on_the_cpu() -> None:
    model = Limits().cuda().eval()
    found = explorer.explore(model, (made(3, 8),), dynamic_shapes="x: batch, _")
    assert not found.ok
    found.autofix()
    assert found.ok
    assert found.verify(3).ok
    assert found.run(["cuda", "cpu"]).ok
    assert found.cost().measure("cuda").profile.total > 0
    assert "cuda:0" in repr(found.record_values(device="cuda"))
    assert next(model.parameters()).is_cuda


class Picks(nn.Module):
    """Rows by an input: with fewer rows, the example's indices are out of range."""

    def forward(self, x: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
        return x[at] * 2


def test_indices_that_are_out_of_range_end_a_run_and_not_the_gpu() -> None:
    x, at = made(6), torch.tensor([5, 0], device="cuda")
    found = explorer.explore(Picks(), (x, at), dynamic_shapes="x: rows; at: many")
    assert found.ok
    found.verify()
    wrong = found.run("cuda", inputs=(x, torch.tensor([1, 9], device="cuda"))).rows
    assert {row.outcome for row in wrong} == {"failed"}
    assert "index 9 is out of bounds" in wrong[0].sentence
    assert found.run("cuda").ok


def test_an_assertion_of_a_program_ends_a_run_and_not_the_gpu() -> None:
    found = explorer.explore(Asserts(), (torch.ones(3, device="cuda"),))
    wrong = (torch.tensor([5.0, -1.0, 1.0], device="cuda"),)
    rows = found.run("cuda", ["program", "inductor"], inputs=wrong).rows
    assert {row.outcome for row in rows} == {"failed"}
    assert found.run("cuda").ok


def test_kernels_that_look_first_are_there_while_an_action_goes_on() -> None:
    with sandbox():
        assert len(gpu_checks._kept) == 1
    assert not gpu_checks._kept


def test_the_generators_and_the_state_of_a_model_on_the_gpu_are_as_they_were() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.Dropout(0.5)).cuda().train()
    x = made(4, 8)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    before = torch.cuda.get_rng_state()
    found = explorer.explore(model, (x,), dynamic_shapes="input: batch, _")
    found.verify(2)
    found.run("cuda")
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in state.items())


class Remembers(nn.Module):
    """cuDNN's LSTM, which rounds to TF32 unless told not to."""

    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(8, 16, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.rnn(x)[0]
        return found


class Packs(Remembers):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        rows = nn.utils.rnn.pack_padded_sequence(
            x, lengths.cpu(), batch_first=True, enforce_sorted=False
        )
        out, _ = self.rnn(rows)
        return nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=x.size(1))[0]


@pytest.mark.parametrize(
    ("model", "args", "shapes"),
    [
        (Remembers, lambda: (made(2, 6, 8),), "x: batch, time, _"),
        (Packs, lambda: (made(3, 6, 8), torch.tensor([6, 2, 4], device="cuda")), None),
    ],
)
def test_rnns_become_scans_that_agree(model: Any, args: Any, shapes: str | None) -> None:
    found = explorer.explore(model().cuda().eval(), args(), dynamic_shapes=shapes)
    if not found.ok:
        found.autofix()
    assert found.ok, (found.diagnosis, found.fixes)
    assert found.run("cuda").ok


def test_exporting_a_model_on_the_cpu_does_not_start_cuda() -> None:
    code = (
        "import torch, explorer\n"
        "ex = explorer.explore(torch.nn.ReLU(), (torch.ones(2),))\n"
        "ex.run(); ex.record_values(); ex.cost().measure()\n"
        "assert not torch.cuda.is_initialized()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_models_are_verified_where_the_default_device_is_the_gpu() -> None:
    before = torch.get_default_device()
    torch.set_default_device("cuda")
    try:
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval()
        found = explorer.explore(model, (torch.randn(3, 8),), dynamic_shapes="input: batch, _")
        assert found.verify(3).ok
        assert found.run(["cuda", "cpu"]).ok
        found.compare("bfloat16", device="cuda")
    finally:
        torch.set_default_device(before)

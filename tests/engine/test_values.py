"""What every op gives: statistics against numpy's, tensors fetched again, nothing left behind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch._higher_order_ops import scan

from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import BINS, Record, check_record, encode, floats
from export_engine.record.wire import decode
from export_engine.run import Rejected
from export_engine.values import Watched, nonfinite_ops, slice_tensor, statistics, watch
from export_engine.values.error import error_of
from export_engine.values.spilled import Spilled
from export_engine.values.statistics import merge, statistics_of


class Writes(nn.Module):
    """Buffers and an input that are written to, a branch, a loop, and random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(8, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.count.add_(1)
        x.mul_(2)
        y = nn.functional.dropout(self.norm(self.lin(x)), 0.5)
        y = torch.cond(self.count > 0, lambda y: y.sin(), lambda y: y.cos(), (y,))
        last, _ = scan(lambda c, y: (c + y, c * y), torch.zeros(4), y)
        return y, last


def exported(model: nn.Module, *args: torch.Tensor) -> tuple[Exported, Record]:
    attempt = capture(Request(target=model, args=args))
    assert isinstance(attempt, Exported), attempt
    return attempt, describe(attempt)


def node_of(record: Record, name: str, graph: int = 0) -> int:
    return [record.strings[each] for each in record.graphs[graph].name].index(name)


@pytest.fixture(scope="module")
def writing() -> tuple[Exported, Record, Watched]:
    torch.manual_seed(0)
    attempt, record = exported(Writes(), torch.randn(3, 8))
    return attempt, record, watch(attempt, record)


@pytest.mark.slow
def test_nothing_is_left_of_a_run_that_writes() -> None:
    model, x = Writes(), torch.randn(3, 8)
    attempt, record = exported(model, x)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    given, random = x.clone(), torch.get_rng_state()

    found = watch(attempt, record)
    found.tensor(attempt, node_of(record, "add_"))

    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert torch.equal(x, given)
    assert torch.equal(torch.get_rng_state(), random)


@pytest.mark.after_check
def test_statistics_are_those_of_the_tensor_that_is_fetched(
    writing: tuple[Exported, Record, Watched],
) -> None:
    """A branch that ran and random numbers among them: a fetched tensor is that of the run."""
    attempt, _, found = writing
    checked = 0
    for each in found.values.graphs[:2]:
        for node, runs in enumerate(each.runs):
            if not runs:
                continue
            value = found.tensor(attempt, node, each.graph).double().numpy()
            assert floats(each.minimum)[node] == pytest.approx(value.min())
            assert floats(each.maximum)[node] == pytest.approx(value.max())
            assert floats(each.mean)[node] == pytest.approx(value.mean(), abs=1e-6)
            assert floats(each.std)[node] == pytest.approx(value.std(), rel=1e-4, abs=1e-6)
            assert floats(each.norm)[node] == pytest.approx(np.linalg.norm(value), rel=1e-4)
            assert floats(each.zeros)[node] == pytest.approx((value == 0).mean())
            checked += 1
    assert checked > 20


@pytest.mark.after_check
def test_the_branch_that_ran_and_every_turn_of_a_loop_are_noted(
    writing: tuple[Exported, Record, Watched],
) -> None:
    _, record, found = writing
    by_title = {record.graphs[each.graph].title: each for each in found.values.graphs}

    assert "false_fn" not in by_title
    turns = by_title["combine_fn"]
    # Up to 2.11, torch runs a scan's function once before, to learn its sizes.
    first = torch.__version__.startswith("2.11.")
    assert turns.runs[node_of(record, "mul", turns.graph)] == 3 + first


@pytest.mark.after_check
def test_a_record_with_values_is_sent_and_checked(
    writing: tuple[Exported, Record, Watched],
) -> None:
    import msgspec

    _, record, found = writing
    whole = msgspec.structs.replace(record, values=found.values)

    check_record(whole)
    assert decode(encode(whole)) == whole
    short = msgspec.structs.replace(found.values.graphs[0], norm=found.values.graphs[0].norm[:-1])
    broken = msgspec.structs.replace(found.values, graphs=[short])
    with pytest.raises(ValueError, match="differ in length"):
        check_record(msgspec.structs.replace(record, values=broken))


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([1.0, float("nan"), float("inf"), -2.0]),
        torch.tensor([1e30, -1e30]),
        torch.full((100,), 1e4) + torch.arange(100) * 1e-3,
        torch.tensor([], dtype=torch.float32),
        torch.tensor([float("nan")]),
        torch.tensor([True, False, True]),
        torch.arange(-5, 5),
        torch.tensor([1 + 2j, 3 - 4j]),
        torch.randn(4, 5).to(torch.bfloat16).t(),
        torch.eye(3).to_sparse(),
        torch.tensor([3.4e38, -3.4e38]),
    ],
)
def test_statistics_of_odd_tensors(value: torch.Tensor) -> None:
    found = statistics_of(value)

    plain = value.to_dense() if value.layout is not torch.strided else value
    wide = (plain.abs() if plain.is_complex() else plain).double().numpy().ravel()
    kept = wide[np.isfinite(wide)]
    assert (found.numel, found.nans, found.infs) == (
        wide.size,
        np.isnan(wide).sum(),
        np.isinf(wide).sum(),
    )
    assert len(found.histogram) == BINS
    if kept.size:
        assert (found.minimum, found.maximum) == (kept.min(), kept.max())
        assert found.mean == pytest.approx(kept.mean(), rel=1e-5, abs=1e-6)
        assert found.std == pytest.approx(kept.std(), rel=1e-3, abs=1e-6)
        assert sum(found.histogram) >= 99


@pytest.mark.parametrize(
    ("value", "share"),
    [
        (torch.tensor([60000.0, 1.0], dtype=torch.float16), 1),
        (torch.tensor([127, -128, 3], dtype=torch.int8), 2),
        (torch.tensor([255, 0, 3], dtype=torch.uint8), 1),
        (torch.tensor([float("inf"), 1.0]), 1),
        (torch.tensor([1e30]), 0),
    ],
)
def test_what_is_at_the_ends_of_a_dtype_is_saturated(value: torch.Tensor, share: int) -> None:
    assert statistics_of(value).saturated == share


def test_statistics_of_two_parts_are_those_of_the_whole() -> None:
    one, other = torch.randn(50), torch.randn(30) + 3

    found, whole = (
        merge(statistics_of(one), statistics_of(other)),
        statistics_of(torch.cat([one, other])),
    )

    assert found[:4] == whole[:4]
    assert found[4:9] == pytest.approx(whole[4:9], rel=1e-5)


class Log(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = torch.full((4, 4), float("-inf")).triu(1)
        y = x - 1
        z = torch.log(y)  # the line
        return (z / 0.5 + mask).exp()


def test_a_nan_is_traced_to_the_op_that_makes_it() -> None:
    attempt, record = exported(Log(), torch.tensor([0.5, 2.0, 3.0, 4.0]))

    found = nonfinite_ops(record, watch(attempt, record).values)

    assert [(each.name, each.kind, each.elements) for each in found] == [("log", "NaN", 1)]
    assert found[0].where.startswith("test_values.py:")
    assert found[0].inputs == ("sub: -0.5 to 3",)


def test_a_program_that_raises_names_its_op() -> None:
    attempt, record = exported(Log(), torch.randn(4))
    with pytest.raises(Rejected, match=r"the program requires x.shape\[0\] == 4"):
        watch(attempt, record, inputs=(torch.randn(3),))


def test_a_picture_has_its_pixels_and_what_is_none_has_not() -> None:
    picture = torch.arange(2 * 3 * 8 * 9).reshape(2, 3, 8, 9) % 256
    found = slice_tensor(picture.to(torch.uint8), ["2", "3", "8", "9"], index=[1, 0, 0, 0]).image
    assert found == picture[1].permute(1, 2, 0).tolist()
    grey = torch.linspace(-1, 1, 64).reshape(1, 8, 8)
    rows = slice_tensor(grey, ["1", "8", "8"]).image
    assert (rows[0][0], rows[7][7]) == ([0] * 3, [255] * 3)
    assert slice_tensor(torch.full((3, 8, 8), torch.nan), ["3", "8", "8"]).image[0][0] == [0] * 3
    for sizes in ([4, 8, 8], [3, 8, 2], [8, 8], [0, 3, 8, 8]):
        assert slice_tensor(torch.zeros(sizes), [str(each) for each in sizes]).image == []


def test_zeros_and_sums_are_told_of_all_blocks_of_a_tensor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    value = torch.randn(1000) * 1e-22  # squares of float32 vanish here
    value[::4] = 0
    whole = statistics_of(value)
    assert (whole.zeros, whole.norm) == (250, pytest.approx(float(value.double().norm())))

    monkeypatch.setattr(statistics, "IN_CACHE", 64)

    assert statistics_of(value)[:6] == whole[:6]
    assert statistics_of(value)[6:9] == pytest.approx(whole[6:9])
    value[701] = float("nan")
    assert statistics_of(value)[1:4] == (1, 0, 250)


def test_a_large_tensor_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    value = torch.randn(64, 33).t()
    value[3, 4], value[5, 6] = float("nan"), float("inf")
    other = value + 1e-3 * torch.randn(33, 64)
    whole, error = statistics_of(value), error_of(other, value)

    monkeypatch.setattr(statistics, "AT_ONCE", 100)

    parts = statistics_of(value)
    assert parts[:6] == whole[:6]
    for one, two in zip(parts[6:9], whole[6:9], strict=True):
        assert one == pytest.approx(two, rel=1e-4)
    assert sum(parts.histogram) == pytest.approx(100, abs=BINS)
    assert error_of(other, value) == pytest.approx(error)
    assert max(each.numel() for each in statistics.parts_of(value)) <= 100


def test_spilled_tensors_are_read_back_and_nothing_of_them_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    attempt, record = exported(model, torch.randn(3, 4))
    found = watch(attempt, record, spill=tmp_path)
    assert found.spilled
    assert found.spilled.count == 2
    with monkeypatch.context() as patch:
        patch.setattr(Watched, "running", None)  # it is not run again
        kept = found.tensor(attempt, node_of(record, "relu"))
    assert torch.equal(kept, watch(attempt, record).tensor(attempt, node_of(record, "relu")))

    del found
    assert not list(tmp_path.iterdir())

    with pytest.raises(ValueError, match="Create it first"):
        watch(attempt, record, spill=tmp_path / "none")
    monkeypatch.setattr(Spilled, "write", lambda *_: raise_interrupt())
    with pytest.raises(KeyboardInterrupt):
        watch(attempt, record, spill=tmp_path)
    assert not list(tmp_path.iterdir())


def raise_interrupt() -> None:
    raise KeyboardInterrupt

"""Findings are true: state that a call fills alike is none, and state that matters still is."""

from __future__ import annotations

import functools
import linecache
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune

import explorer
from export_engine.attempt import Exported, Kind, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.findings import Finding, find_findings

X = torch.ones(3, 4)
TABLES: dict[int, torch.Tensor] = {}


def findings_of(model: nn.Module, *args: Any) -> tuple[Finding, ...]:
    attempt = capture(Request(target=model.eval(), args=args or (X,)))
    assert isinstance(attempt, Exported), attempt
    return find_findings(attempt, describe(attempt))


class Keyed(nn.Module):
    """A table per size, filled where it is missing."""

    def __init__(self) -> None:
        super().__init__()
        self.keyed: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[-1] not in self.keyed:
            self.keyed[x.shape[-1]] = torch.arange(x.shape[-1]) * 0.1
        return x + self.keyed[x.shape[-1]]


class FilledIfNone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mask: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.mask is None:
            self.mask = torch.tril(torch.ones(x.shape[-1], x.shape[-1]))
        return x @ self.mask


class FilledOnAttribute(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not hasattr(self, "positions"):
            self.positions = torch.arange(x.shape[-1])
        return x + self.positions


class FoundByGet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.by_size: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        known = self.by_size.get(x.shape[-1])
        if known is None:
            known = torch.ones(x.shape[-1])
            self.by_size[x.shape[-1]] = known
        return x + known


class ReturnsEarly(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[int, torch.device], torch.Tensor] = {}

    def table(self, size: int, device: torch.device) -> torch.Tensor:
        if (size, device) in self.kept:
            return self.kept[size, device]
        made = torch.linspace(0, 1, size, device=device)
        self.kept[size, device] = made
        return made

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.table(x.shape[-1], x.device)


class Grows(nn.Module):
    """The tables of a rotary embedding, made anew for a longer sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0
        self.cosines = torch.zeros(0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[-1]
        if size > self.longest:
            self.longest = size
            self.cosines = torch.cos(torch.arange(size))
        return x * self.cosines[:size]


class BuiltOnce(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.built = False

    def build(self, size: int) -> None:
        self.table = torch.ones(size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.built:
            self.build(x.shape[-1])
            self.built = True
        return x + self.table


class Property(nn.Module):
    @functools.cached_property
    def steps(self) -> torch.Tensor:
        return torch.arange(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.steps


class Tried(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tried: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        try:
            table = self.tried[x.shape[-1]]
        except KeyError:
            table = self.tried[x.shape[-1]] = torch.ones(x.shape[-1])
        return x + table


class KeyedInGlobal(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[-1] not in TABLES:
            TABLES[x.shape[-1]] = torch.ones(x.shape[-1])
        return x + TABLES[x.shape[-1]]


class NumberOnce(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale: float | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.scale is None:
            self.scale = x.shape[-1] ** -0.5
        return x * self.scale


class ListOnce(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.anchors:
            for size in range(3):
                self.anchors.append(torch.full((4,), float(size)))
        return x + self.anchors[0] + self.anchors[2]


@pytest.mark.parametrize(
    "model",
    [
        *(Keyed, FilledIfNone, FilledOnAttribute, FoundByGet, ReturnsEarly, Grows, BuiltOnce),
        *(Property, Tried, KeyedInGlobal, NumberOnce, ListOnce),
    ],
)
def test_what_a_first_call_fills_alike_is_no_finding(model: type[nn.Module]) -> None:
    assert findings_of(model()) == ()


class CentersOnFirst(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.center: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.center is None:
            self.center = x.mean()
        return x - self.center


class NoiseOnce(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.noise: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.noise is None:
            self.noise = torch.randn(4)
        return x + self.noise


class CountsCalls(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * 2 if self.calls > 1 else x


class Toggles(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.on = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.on = not self.on
        return x * 2 if self.on else x.sin()


class KeyedByCount(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[int, torch.Tensor] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen[len(self.seen)] = torch.ones(4)
        return x + len(self.seen)


@pytest.mark.parametrize("model", [CentersOnFirst, NoiseOnce, CountsCalls, Toggles, KeyedByCount])
def test_state_that_another_call_answers_by_is_wrong(model: type[nn.Module]) -> None:
    found = [each for each in findings_of(model()) if each.kind is Kind.BAKED_VALUE]
    assert [each.severity for each in found] == ["wrong"]
    assert found[0].stack


class FirstDiffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = True

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.first:
            self.first = False
            x = x * 2
        return x + 1


class Scratch(nn.Module):
    """State that each call writes before it reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.hidden = x * 2
        if self.hidden is not None:
            x = x + self.hidden
        return x


@pytest.mark.slow
def test_what_the_source_does_not_tell_is_decided_by_calls_in_a_row() -> None:
    for model, verdict in ((Scratch, "note"), (FirstDiffers, "surprising")):
        ex = explorer.explore(model(), (X,))
        before = [each.severity for each in ex.findings]
        assert "surprising" in before
        assert "wrong" not in before
        verified = ex.verify()
        assert ("state" in {each.name for each in verified.broken}) == (verdict != "note")
        assert {each.severity for each in ex.findings} == {verdict}
        assert {row.severity for row in ex.record.findings} == {verdict}
        assert [f.sentence for f in ex.findings] == [row.sentence for row in ex.record.findings]


@pytest.mark.parametrize(
    "layer",
    [
        nn.LSTM(4, 4),
        nn.GRU(4, 4, 2, dropout=0.5),
        nn.RNN(4, 4),
        nn.LSTM(4, 4, bidirectional=True, proj_size=2),
        nn.LSTMCell(4, 4),
        nn.Sequential(nn.Linear(4, 4), nn.GRU(4, 4)),
    ],
)
def test_a_recurrent_layer_has_one_finding_the_device_of_its_first_state(layer: nn.Module) -> None:
    (finding,) = findings_of(layer)
    assert finding.kind is Kind.DEVICE_BAKED
    assert finding.severity == "note"
    assert "`cpu`" in finding.sentence


def test_a_recurrent_layer_that_is_given_its_state_has_no_finding() -> None:
    assert findings_of(nn.GRU(4, 4), torch.ones(5, 2, 4), torch.ones(1, 2, 4)) == ()


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_recurrent_layer_draws_where_it_drops(dropout: float) -> None:
    attempt = capture(Request(target=nn.LSTM(4, 4, 2, dropout=dropout), args=(X,)))
    assert isinstance(attempt, Exported)
    kinds = {each.kind for each in find_findings(attempt, describe(attempt))}
    assert (Kind.RANDOM in kinds) == (dropout > 0)


@pytest.mark.filterwarnings("ignore")
def test_weights_that_hooks_of_torch_compute_are_no_side_effect() -> None:
    normed = nn.utils.weight_norm(nn.Linear(4, 4))
    pruned = nn.Linear(4, 4)
    prune.random_unstructured(pruned, "weight", 0.5)
    for model in (normed, pruned, nn.utils.spectral_norm(nn.Linear(4, 4))):
        assert not [each for each in findings_of(model) if each.severity != "note"]


class BranchesOnDevices(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.ones(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = torch.ones(4, device=x.device)
        if mask is not None and self.table.device != x.device:
            return x + mask.sin()
        return x + mask + self.table


def test_a_tensor_that_is_made_on_a_device_is_not_the_device() -> None:
    assert findings_of(BranchesOnDevices()) == ()


class StandardizesWeights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight = nn.functional.batch_norm(self.weight[None], None, None, training=True)
        return x @ weight[0]


class AlwaysDrops(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.dropout(x, 0.5)


def test_training_mode_is_said_of_a_model_in_training_mode() -> None:
    assert findings_of(StandardizesWeights()) == ()
    found = [each for each in findings_of(AlwaysDrops()) if each.kind is Kind.TRAINING_MODE]
    assert found[0].sentence.startswith("The model is in eval mode, but dropout is in the program")
    assert found[0].fix is None  # exported in eval mode, it would drop as well


class Unwritten(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        part = x.new_empty(30, 4)
        part[:10] = x.sum()
        return torch.empty(1000, 50), torch.empty(50, dtype=torch.int64), part, x + 1


class UnwrittenAndWrong(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> Any:
        self.calls += 1
        return torch.empty(1000, 50), x + self.calls


@pytest.mark.slow
def test_memory_that_nobody_wrote_is_not_compared() -> None:
    torch.randn(3, 1000, 50)  # memory that the next tensors may get
    ex = explorer.explore(Unwritten(), (X,))
    verified = ex.verify()
    assert verified.ok, verified
    said = next(each.sentence for each in verified.guarantees if each.name == "sound")
    assert "Uninitialized memory, not compared: output 0, output 1, 80 of 120 elements" in said
    rows = ex.run()
    assert [each.outcome for each in rows.rows] == ["agrees", "agrees"], rows
    assert not [each for each in ex.findings if each.severity != "note"]
    wrong = explorer.explore(UnwrittenAndWrong(), (X,)).verify()
    assert [each.name for each in wrong.broken] == ["state"]


class Store(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("k", torch.zeros(3, 4))


class TwoNames(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.store = Store()
        self.register_buffer("k", self.store.k)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.store.k.copy_(x)
        return x + self.k


@pytest.mark.slow
def test_one_buffer_under_two_names_is_named_wherever_torch_refuses_it() -> None:
    ex = explorer.explore(TwoNames(), (X,))
    (finding,) = ex.findings
    assert finding.kind is Kind.ALIASED_BUFFERS
    assert (
        finding.sentence == "`k` and `store.k` are the same tensor, and the program writes to it."
    )
    assert finding.stack
    assert finding.sentence in str(ex.verify())
    with pytest.raises(
        explorer.errors.FixError, match="are the same tensor, and the program writes to it"
    ):
        ex.decompose("core")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_fast_path_of_eager_is_named_with_the_way_out() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    mask = torch.tensor([[False] * 5, [False, False, False, True, True]])
    ex = explorer.explore(model, (torch.randn(2, 5, 8),), {"src_key_padding_mask": mask})
    way_out = "torch.backends.mha.set_fastpath_enabled(False)"
    with torch.no_grad():
        verified, compared = ex.verify(), ex.compare("eager")
        assert way_out in " ".join(each.sentence for each in verified.broken)
        assert way_out in str(ex.run())
        assert not compared.ok
        assert way_out in compared.sentence
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            assert ex.compare("eager").ok
        finally:
            torch.backends.mha.set_fastpath_enabled(True)


def product_of(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
    if x.layout == torch.sparse_csr:
        return None
    return x @ y


class AsksForAResult(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = product_of(x, x.T)
        if result is not None:
            return result
        if isinstance(result, tuple):
            return x
        return x * 2


def test_a_test_for_a_value_is_not_named_for_the_layout_that_decided_it() -> None:
    (finding,) = findings_of(AsksForAResult())
    assert "x.layout == torch.sparse_csr" in finding.sentence


class TakesTheOtherArm(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.dim() == 1:
            if x.layout == torch.sparse_coo:
                return x.to_dense()
            return x * 3
        else:  # noqa: RET505 - as generated code has it
            return x * 2


def test_a_branch_in_an_arm_that_was_not_traced_is_no_finding() -> None:
    assert not findings_of(TakesTheOtherArm())
    assert findings_of(TakesTheOtherArm(), torch.ones(3))


class OneCounts(nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        OneCounts.calls += 1
        return x * 2


class OtherCounts(nn.Module):
    calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        OtherCounts.calls += 1  # the other's
        return x * 2


def test_a_class_attribute_is_written_by_a_line_of_its_own_class() -> None:
    (finding,) = findings_of(OtherCounts(), torch.randn(3))
    place = finding.stack[-1]
    assert "the other's" in linecache.getline(place.file, place.line)


class AsksIfAFlagLetsIt(nn.Module):
    def __init__(self, careful: bool) -> None:
        super().__init__()
        self.careful = careful

    def asks(self, x: torch.Tensor) -> bool:
        if x.requires_grad:
            print("careful")
            return True
        return False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.careful and self.asks(x):
            return x + 1
        return x * 2


def test_a_function_that_a_flag_keeps_from_running_decides_nothing() -> None:
    assert findings_of(AsksIfAFlagLetsIt(careful=False), torch.ones(3)) == ()
    (finding,) = findings_of(AsksIfAFlagLetsIt(careful=True), torch.ones(3))
    assert finding.kind is Kind.OUTSIDE_VALUE


class DrawsRows(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * np.random.rand(3)[0]


def test_a_number_that_strict_mode_draws_with_an_op_is_not_baked_in() -> None:
    attempt = capture(Request(target=DrawsRows(), args=(X,), strict=True))
    assert isinstance(attempt, Exported), attempt
    found = find_findings(attempt, describe(attempt))
    assert [each.severity for each in found] == ["note"], "it draws random numbers"
    assert Kind.BAKED_VALUE in {each.kind for each in findings_of(DrawsRows())}, "non-strict"

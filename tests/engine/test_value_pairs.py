"""Two runs held against each other: planted faults are named, clean pairs raise no alarm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import nn

import explorer
from export_engine.attempt import DecompositionTable, Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import check_record, floats
from export_engine.torch_internals import copy_program
from export_engine.transform import decompose
from export_engine.values import Compared, RunOf, compare_values, eager_run, run_in_dtype
from export_engine.values.error import error_of

from ..planted_numbers import KINDS, faults


class Block(nn.Module):
    """What models are made of: norms, activations, a residual, weights, random numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.bn = nn.BatchNorm2d(6)
        self.up = nn.Linear(6, 16)
        self.norm = nn.LayerNorm(16)
        self.down = nn.Linear(16, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(self.bn(self.conv(x))).mean((2, 3))
        z = nn.functional.dropout(y, 0.5, training=True)
        z = self.down(nn.functional.gelu(self.norm(self.up(z))))
        return torch.softmax(z + y, -1)


class Made:
    def __init__(self) -> None:
        torch.manual_seed(0)
        self.request = Request(target=Block().eval(), args=(torch.randn(8, 3, 8, 8),))
        attempt = capture(self.request)
        assert isinstance(attempt, Exported)
        self.program = self.run(attempt)
        self.decomposed = self.run(decompose(attempt, DecompositionTable.of("core")))
        self.eager = eager_run(attempt, self.request, "cpu")

    def run(self, attempt: Exported) -> RunOf:
        return RunOf("run", attempt, describe(attempt), self.request)

    def low(self, attempt: Exported, dtype: torch.dtype = torch.bfloat16) -> RunOf:
        return run_in_dtype(attempt, describe(attempt), self.request, "cpu", dtype)


@pytest.fixture(scope="module")
def made() -> Made:
    return Made()


SIDES: dict[str, Callable[[Made], tuple[RunOf, RunOf, Callable[[Made, Exported], RunOf]]]] = {
    "eager": lambda made: (made.program, made.eager, Made.run),
    "decomposed": lambda made: (made.decomposed, made.program, Made.run),
    "bfloat16": lambda made: (made.program, made.program, Made.low),
}


@pytest.mark.parametrize("pair", SIDES)
def test_a_clean_pair_raises_no_alarm(made: Made, pair: str) -> None:
    """Random numbers are the same in both, though they run at the same time."""
    one, other, kind = SIDES[pair](made)

    found = compare_values(kind(made, one.exported), other)

    assert found.pairs.agrees, found.pairs.sentence
    assert found.pairs.sentence.startswith("On the same inputs, all ")
    assert len(found.rows) >= 11


@pytest.mark.slow
@pytest.mark.parametrize("pair", SIDES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_op_at_fault_is_the_first_and_the_worst(made: Made, pair: str, kind: str) -> None:
    one, other, run = SIDES[pair](made)
    planted = list(faults(one.exported, kind, 2))
    assert planted

    for each in planted:
        found = compare_values(run(made, each.attempt), other)
        assert not found.pairs.agrees
        assert found.name(found.pairs.faults[0]) in each.right, each.right
        assert found.pairs.worst
        assert found.name(found.pairs.worst) in each.right, each.right


def test_what_an_op_adds_is_told_from_what_it_was_given(made: Made) -> None:
    fault = next(iter(faults(made.program.exported, "another op", 1)))

    found: Compared = compare_values(made.run(fault.attempt), made.eager)

    pairs = found.pairs
    own, relative = floats(pairs.graphs[0].own), floats(pairs.graphs[0].relative)
    first = pairs.faults[0].node
    assert [node for node, error in enumerate(own) if error] == [each.node for each in pairs.faults]
    assert all(relative[row.node] for row in found.rows if row.node > first)
    one, other = found.tensors(first)
    assert one.shape == other.shape
    assert not torch.equal(one, other)


def test_float16_says_which_ops_leave_its_range(made: Made) -> None:
    class Large(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x * 300
            z = y * y
            return z.sqrt() + x * 1e-9

    result = explorer.explore(Large(), (torch.arange(1.0, 5.0),))

    found = result.compare("float16")

    lost = found.out_of_range
    assert set(lost) == {"mul_1", "mul_2"}
    assert lost["mul_1"] == (4, 0)
    assert lost["mul_2"] == (0, 4)
    assert found.first == "mul_1"
    assert result.record.pairs is not None
    check_record(result.record)


class Written(nn.Module):
    """Views that are written to, and ops in a nested graph that keeps its own dtype."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(4, 4)
        y[1] += x[0]
        y[:, 1].add_(x[1])
        y += x.expand(4, 4) if x.dim() == 1 else x
        with torch.set_grad_enabled(False):
            angles = x @ x.t()
        return (y @ angles).sin()


@pytest.mark.after_check
def test_a_program_that_writes_to_views_has_clean_pairs_in_any_dtype() -> None:
    result = explorer.explore(Written(), (torch.randn(4, 4),))
    assert any(each.mutates for each in result.record.targets)

    for other in (result.program, "bfloat16", "eager"):
        found = result.compare(other)
        assert found.ok, f"{other}: {found.sentence}"


@pytest.mark.slow
def test_the_op_inside_of_what_an_op_became_is_named() -> None:
    """SiLU becomes two ops, of which only the last one has a partner."""
    request = Request(target=nn.Sequential(nn.Linear(4, 4), nn.SiLU()), args=(torch.randn(3, 4),))
    attempt = capture(request)
    assert isinstance(attempt, Exported)
    core = decompose(attempt, DecompositionTable.of("core"))
    program = copy_program(core.program)
    node = next(
        each for each in program.graph.nodes if each.target is torch.ops.aten.sigmoid.default
    )
    node.target = torch.ops.aten.tanh.default
    program.graph_module.recompile()
    broken, right = replace(core, program=program), RunOf("", attempt, describe(attempt), request)

    found = compare_values(RunOf("", broken, describe(broken), request), right)

    assert [found.name(each) for each in found.pairs.faults] == [node.name]


@pytest.mark.slow
def test_from_python(made: Made) -> None:
    model, x = made.request.target, made.request.args[0]
    result = explorer.explore(model, (x,))

    assert result.compare().ok
    assert result.compare("decomposed").ok
    assert len(result.session.entries) == 2
    assert result.session.current == 0
    assert result.compare(result.program).ok
    with pytest.raises(explorer.errors.FixError, match="not a run to compare with"):
        result.compare(3)
    with pytest.raises(explorer.errors.FixError, match="Compare its outputs"):
        result.compare("inductor")
    with pytest.raises(explorer.errors.FixError, match="tabel"):
        result.compare("tabel")


def test_signal_to_noise_is_what_torch_ao_ns_computes() -> None:
    from torch.ao.ns.fx.utils import compute_cosine_similarity, compute_sqnr

    chance = torch.Generator().manual_seed(0)
    right = torch.randn(7, 33, generator=chance)
    value = right + 0.03 * torch.randn(7, 33, generator=chance)

    error = error_of(value, right)

    assert error.sqnr == pytest.approx(float(compute_sqnr(right, value)), abs=1e-3)
    assert error.cosine == pytest.approx(float(compute_cosine_similarity(right, value)), abs=1e-5)


def _in_float8(x: torch.Tensor) -> torch.Tensor:
    return (x * 100).to(torch.float8_e4m3fn).to(torch.float32)


def _sparse(x: torch.Tensor) -> torch.Tensor:
    return x.relu().to_sparse() @ x


@pytest.mark.after_check
@pytest.mark.parametrize("of", [_in_float8, _sparse])
def test_sparse_tensors_and_8_bit_floats_are_watched_and_compared(
    of: Callable[[torch.Tensor], torch.Tensor],
) -> None:
    result = explorer.explore(of, (torch.randn(4, 4),))

    found = result.compare()

    assert found.ok, found.sentence
    run = result.record_values()
    for row in run:
        assert run.tensor(row.name).shape == (4, 4)


@torch.library.custom_op("tests_kernels::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    """Wrong in bfloat16, as a kernel of oneDNN may be on some CPU."""
    off = x.dtype is torch.bfloat16 and torch.backends.mkldnn.enabled
    return x * 3 if off else x * 2


doubled.register_fake(torch.empty_like)


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return doubled(x.sin()) + 1


def test_an_error_of_the_cpus_kernel_is_not_blamed_on_the_program() -> None:
    if not torch.backends.mkldnn.is_available():
        pytest.skip("this build of torch has no oneDNN")
    request = Request(target=Doubled(), args=(torch.randn(64),))
    attempt = capture(request)
    assert isinstance(attempt, Exported)
    record = describe(attempt)
    whole = RunOf("run", attempt, record, request)

    found = compare_values(run_in_dtype(attempt, record, request, "cpu", torch.bfloat16), whole)

    assert [found.name(each) for each in found.pairs.faults] == ["doubled"]
    assert "Without oneDNN's kernels there is no error at `doubled`" in found.pairs.sentence
    assert torch.backends.mkldnn.enabled

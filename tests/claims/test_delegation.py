"""Delegation: a reason for every op outside, ExecuTorch's own counts, and what CI says."""

import json
import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import nn

import explorer
from explorer.cli.main import main
from explorer.results.delegation import DelegationResult
from explorer.session.session import FixError
from export_engine.describe import describe
from export_engine.record import encode
from export_engine.sizes import Expression
from export_engine.torch_internals import read_size, shape_env

pytest.importorskip("executorch", reason="pip install '.[executorch]'")
pytestmark = pytest.mark.slow


class Planted(nn.Module):
    """A line for each reason; what refuses stands in its comment."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.linear = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.relu(self.norm(self.conv(x)))
        y = torch.add(y, y, alpha=2)  # <- alpha != 1
        z = self.linear(y.mean((2, 3)))  # <- keepdim=True
        u = z @ w  # <- static param
        s = x[:, :, ::2]  # <- if stride != 1
        t = x[:, :, 1:]  # <- dim: batch of type
        m = x.max(1).values  # <- compiler rejects
        n = torch.cumsum(z, 0)  # <- no rule for cumsum
        p = torch.nn.functional.max_pool2d(x, 2, stride=3)  # <- it was then decomposed
        return u, s, t, m, n, p, z.long()  # <- int64


@pytest.fixture(scope="module")
def planted() -> DelegationResult:
    call = (torch.randn(2, 3, 8, 8), torch.randn(4, 4))
    ex = explorer.explore(Planted().eval(), call, dynamic_shapes="x: batch[..16], _, _, _; w: _, _")
    return ex.delegate("xnnpack")


def test_every_op_outside_has_its_reason_at_its_line(planted: DelegationResult) -> None:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    expected = {
        number: line.partition("# <- ")[2]
        for number, line in enumerate(lines, 1)
        if "# <- " in line and not line.strip().startswith(("if", "number"))
    }
    said: dict[int, list[str]] = {}
    for op in planted.outside:
        assert op.place.file.endswith("test_delegation.py") or "functional" in op.place.file
        said.setdefault(op.place.line, []).append(op.reason)
    for number, part in expected.items():
        if "decomposed" in part:
            assert any(part in each for reasons in said.values() for each in reasons)
        else:
            assert any(part in each for each in said.get(number, [])), (number, part, said)
    assert all(op.reason and op.by for op in planted.outside)


def test_a_rule_without_words_is_named_with_its_lines(planted: DelegationResult) -> None:
    sliced = [each for each in planted.outside if each.op == "aten.slice_copy.Tensor"]
    (op,) = (each for each in sliced if each.by == "rule")
    assert op.rule is not None
    assert op.rule.name == "SliceCopyConfig.check_constraints"
    assert op.rule.file.startswith("executorch/backends/xnnpack/")
    text = (Path(sys.modules["executorch"].__path__[0]).parent / op.rule.file).read_text()
    assert text.splitlines()[op.rule.line - 1].strip() == "return False"


def test_counts_are_executorchs(planted: DelegationResult) -> None:
    counted = planted.data.counted
    assert counted is not None
    ops = planted.data.ops
    assert counted.inside == sum(op.is_inside for op in ops)
    assert counted.partitions == len(planted.partitions)
    picks = sum(op.kind == "pick" for op in ops if not op.is_inside)
    assert counted.outside >= len(planted.outside) + picks


def test_what_the_compiler_refuses_is_left_out_and_said(planted: DelegationResult) -> None:
    assert any("ExecuTorch fails to lower this program" in each for each in planted.data.notes)


def test_the_stage_has_partitions_that_open(planted: DelegationResult) -> None:
    record = planted._session.entries[planted.stage].record
    assert len(record.graphs) == 1 + len(planted.partitions)
    assert [each.is_stage for each in record.delegations] == [True]
    calls = {record.targets[record.graphs[0].target[n.node]].label for n in record.graphs[0].nested}
    assert all(label.startswith("XNNPACK ") for label in calls), calls
    assert any("conv" in label for label in calls), calls
    (shown,) = planted._session.entries[0].record.delegations
    assert shown == planted.data
    assert {symbol.name for symbol in record.symbols} >= {"batch"}


def test_it_is_text_html_and_json(planted: DelegationResult, tmp_path: Path) -> None:
    assert "Outside, and why:" in repr(planted)
    assert "<table>" in planted._repr_html_()
    read = json.loads(planted.to_json(tmp_path / "found.json").read_text())
    assert len(read["ops"]) == len(planted.data.ops)


def test_the_users_program_stays_as_it_is() -> None:
    ex = explorer.explore(Planted().eval(), (torch.randn(2, 3, 8, 8), torch.randn(4, 4)))
    before = str(ex.program.graph)
    traced = sys.gettrace()
    table = ex.op_table("xnnpack", "onnxruntime", "arm")
    assert str(ex.program.graph) == before
    assert sys.gettrace() is traced
    said = table.why("xnnpack")
    assert "alpha" in said["add"]
    assert "arm" in table.data.unavailable or "arm" in table.data.backends


class Sized(nn.Module):
    """ExecuTorch itself narrows the ranges of its sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.Linear(8, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a = torch.relu(self.conv(x))
        c = self.linear(a.mean((2, 3)))
        return torch.cat([c.flatten(), y.view(-1) * 2]), a[:, :, ::2].cumsum(0)


def test_lowering_keeps_the_sizes_of_each_program_that_shares_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if two share a ShapeEnv, and if an interrupt comes while a partitioner is asked."""
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir.backend.utils import WhyNoPartition

    shapes = "x: batch[2..16], _, h[4..64], _; y: rows[2..32], _"
    call = (torch.randn(3, 3, 8, 8), torch.randn(5, 7))
    ex = explorer.explore(Sized().eval(), call, dynamic_shapes=shapes)
    other = explorer.view(ex.program.run_decompositions())
    assert isinstance(other, explorer.Exploration)
    assert shape_env(other.program) is shape_env(ex.program)

    def hold() -> list[object]:
        """The Records, and what torch knows of the sizes."""
        known = shape_env(ex.program)
        records = [encode(describe(each.session.entries[0].attempt)) for each in (ex, other)]
        return [*records, dict(known.var_to_range), len(known.guards), dict(known.replacements)]

    before, said, filters = hold(), WhyNoPartition.__call__, [*warnings.filters]
    with monkeypatch.context() as patched:

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(XnnpackPartitioner, "partition", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ex.delegate("xnnpack")
    assert WhyNoPartition.__call__ is said
    assert warnings.filters == filters
    assert hold() == before
    assert len(ex.session.entries) == 1
    assert other.delegate("xnnpack").outside
    assert hold() == before


def test_an_unknown_backend_is_an_error() -> None:
    ex = explorer.explore(nn.Linear(2, 2), (torch.randn(1, 2),))
    with pytest.raises(FixError, match="no delegation backend 'xnnpac'"):
        ex.delegate("xnnpac")


_MODEL = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return {code}
def make():
    return Model(), (torch.randn(2, 3),)
"""
_CONFIG = """
[[tool.export-explorer.check]]
call = "net.py:make"
delegate = "xnnpack"
min-delegated = {least}
delegate-golden = "left.json"
"""


def test_a_check_fails_with_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(_MODEL.format(code="torch.relu(x) * 2"))
    (tmp_path / "pyproject.toml").write_text(_CONFIG.format(least=0.9))
    assert main(["check", "--update"]) == 0
    assert main(["check"]) == 0
    (tmp_path / "net.py").write_text(_MODEL.format(code="torch.cumsum(x, 0) * 2"))
    sys.modules.pop("net", None)
    capsys.readouterr()
    assert main(["check"]) == 1
    said = capsys.readouterr().out
    assert "1 op moved out of the delegate" in said
    assert "net.py:5: warning delegate: aten.cumsum.default stays outside" in said


class Branches(nn.Module):
    """An op that XNNPACK has a rule for, in a branch; one without a kernel; one that is slow."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = torch.cond(x.sum() > 0, lambda x: x.relu() * 2, lambda x: x.cumsum(0), (x,))
        return y, x.sigmoid().cumsum(0).exp(), x.argsort(-1)


def test_ops_in_branches_have_their_reason_and_line() -> None:
    ex = explorer.explore(Branches(), (torch.randn(2, 8),))
    found = ex.delegate("xnnpack")
    assert all(op.reason and op.place.file.endswith("test_delegation.py") for op in found.outside)
    (relu,) = (op for op in found.outside if op.op == "aten.relu.default")
    assert relu.reason == "XNNPACK's partitioner skips graphs of branches and loops"
    assert relu.graph


@pytest.mark.slow
def test_a_data_dependent_size_is_said_whatever_its_bounds() -> None:
    class First(nn.Module):
        def forward(self, x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
            rows = count.item()
            torch._check(rows >= 2)
            torch._check(rows <= 8)
            return torch.relu(x[:rows])

    ex = explorer.explore(First(), (torch.randn(8, 8), torch.tensor(3)))
    (op,) = (each for each in ex.delegate("xnnpack").outside if each.op == "aten.relu.default")
    assert op.reason.endswith("has a data-dependent size"), op.reason


def test_a_missing_kernel_is_what_the_runtime_fails_on() -> None:
    from executorch.exir import to_edge
    from executorch.runtime import Runtime

    class Sorted(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.argsort(-1)

    ex = explorer.explore(Sorted(), (torch.randn(2, 8),))
    lacking = ex.delegate("xnnpack", measure=True).data
    program = Runtime.get().load_program(to_edge(ex.program).to_executorch().buffer)
    names = Runtime.get().operator_registry.operator_names
    if "aten::sort.values" in names:
        assert not lacking.unloadable
        return
    assert [op.missing_kernel for op in lacking.unloadable] == ["aten::sort.values"]
    assert any("It was not measured" in note for note in lacking.notes)
    with pytest.raises(RuntimeError):
        program.load_method("forward")


def test_a_measured_program_has_times_of_ops_and_partitions() -> None:
    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.sigmoid().cumsum(0).exp()

    found = explorer.explore(Net(), (torch.randn(64, 64),)).delegate("xnnpack", measure=True)
    assert [op.microseconds > 0 for op in found.outside] == [True]
    assert [partition.microseconds > 0 for partition in found.partitions] == [True, True]
    assert all(partition.inner for partition in found.partitions)
    assert found.data.share_of_time is not None
    assert 0 < found.data.share_of_time < 1
    assert "time inside" in repr(found)


def test_quantize_ops_are_folded_or_have_a_reason() -> None:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = pytest.importorskip(
        "executorch.backends.xnnpack.quantizer.xnnpack_quantizer",
        reason="ExecuTorch is not installed",
    )

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x)

    call = (torch.randn(2, 8),)
    config = quantizer.get_symmetric_quantization_config()
    chosen = quantizer.XNNPACKQuantizer().set_global(config)
    prepared = prepare_pt2e(torch.export.export(Net().eval(), call).module(), chosen)
    prepared(*call)
    found = explorer.explore(convert_pt2e(prepared), call).delegate("xnnpack")
    assert found.data.pairs
    assert all(pair.is_folded or pair.reason for pair in found.data.pairs)
    assert any(pair.is_folded for pair in found.data.pairs)


_BACKEND = """
from export_engine.delegate import Lowered, Placement, Verdict

class Mine:
    name = "mine"
    title = "Mine"

    def missing(self):
        return None

    def lower(self, program):
        sizes = [node.meta["val"].shape for node in program.graph.nodes if node.name == "x"]
        assert sizes[0][0] == 3  # as a tracer may ask: torch notes that it is so
        names = [node.name for node in program.graph.nodes if node.op == "call_function"]
        where = ["here" if name == "relu" else "" for name in names]
        placements = tuple(Placement(*each) for each in zip(names, names, names, where))
        reasons = {name: Verdict(False, "only relu", "backend") for name in names}
        return Lowered(program=None, placements=placements, verdicts=reasons, version="mine 1")

    def can_take(self, program):
        assert all(node.meta["val"].shape[0] == 3 for node in program.graph.nodes
                   if node.name == "x")
        return {node.name: Verdict(node.name == "relu", "only relu")
                for node in program.graph.nodes if node.op == "call_function"}
"""
_ENTRY = """[export_explorer.delegation_backends]
mine = mine_backend:Mine
broken = mine_backend:Missing
"""


def test_a_package_adds_a_backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine_backend.py").write_text(_BACKEND)
    info = tmp_path / "mine_backend-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine-backend\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(_ENTRY)
    monkeypatch.syspath_prepend(tmp_path)

    class Net(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x).sin()

    ex = explorer.explore(Net(), (torch.randn(3),), dynamic_shapes="x: n")
    found = ex.delegate("mine")
    assert [(op.name, op.reason) for op in found.outside] == [("sin", "only relu")]
    table = ex.op_table("mine", "broken")
    assert table.why("mine") == {"sin": "only relu"}
    assert "broken" in table.data.unavailable
    x = next(node.meta["val"] for node in ex.program.graph.nodes if node.name == "x")
    assert isinstance(read_size(x.shape[0]), Expression)  # lowering a copy fixed no size of it
    with pytest.raises(FixError, match="cannot be checked here"):
        ex.delegate("broken")

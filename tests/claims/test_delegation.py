"""Delegation: a reason for every op outside, ExecuTorch's own counts, and what CI says."""

import json
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

import explorer
from explorer.cli.main import main
from explorer.results.delegation import DelegationResult
from explorer.session.session import FixError

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
        m = x.max(1).values  # <- compiler rejects
        n = torch.cumsum(z, 0)  # <- no rule for cumsum
        p = torch.nn.functional.max_pool2d(x, 2, stride=3)  # <- it was then decomposed
        return u, s, m, n, p, z.long()  # <- int64


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
    (op,) = (each for each in planted.outside if each.op == "aten.slice_copy.Tensor")
    assert op.by == "rule"
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
    table = ex.delegate(["xnnpack", "onnxruntime", "arm"], dry_run=True)
    assert str(ex.program.graph) == before
    assert sys.gettrace() is traced
    said = table.why("xnnpack")
    assert "alpha" in said["add"]
    assert "arm" in table.data.unavailable or "arm" in table.data.backends


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

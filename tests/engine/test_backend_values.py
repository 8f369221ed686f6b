"""Runs of backends that tell what ops gave, held against the program op by op."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.exploration import Exploration
from export_engine.attempt import Exported, Request
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.generation import CallApart, first_op_apart
from export_engine.record import OpPlace
from export_engine.run import backend_registry, backends
from export_engine.run.backend import Job, Ready
from export_engine.run.op_origins import ops_of
from export_engine.shapes import Shapes
from export_engine.values import RunOf, backend_run, compare_values
from export_engine.values.given import program_inputs

from ..planted_numbers import faults


class Net(nn.Module):
    """Ops that become several, that give several, that write, and one with a branch."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 8)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        self.count.add_(1)
        z = self.down(nn.functional.gelu(self.norm(self.up(x))))
        largest, where = torch.max(z, -1, keepdim=True)
        z = torch.cond(x.sum() > 0, lambda z: z.sin(), lambda z: z.cos(), (z,))
        return (z * largest).softmax(-1), where


def made() -> tuple[Exported, Request]:
    torch.manual_seed(0)
    request = Request(target=Net().eval(), args=(torch.randn(4, 8),))
    attempt = capture(request)
    assert isinstance(attempt, Exported), attempt
    return attempt, request


@pytest.mark.slow
def test_parts_of_ops_are_known_by_what_torch_made_of_what() -> None:
    program = made()[0].program
    core = program.run_decompositions()

    found = ops_of(program, core.graph.nodes)

    op = {name: node for node, name in found.items()}
    target = {node.name: str(node.target) for node in core.graph.nodes}
    assert target[op["linear"]] == "aten.addmm.default"
    assert op["layer_norm"].startswith("getitem")
    one, other = (op[each] for each in ("getitem", "getitem_1"))  # of torch.max
    picked = {node.name: node.args for node in core.graph.nodes}
    assert (picked[one][1], picked[other][1]) == (0, 1)
    assert not {"max_1", "cond"} & set(op)


class Wrong:
    """A backend whose gelu is off, and which computes layer norms as parts of it."""

    name = "wrong"
    title = "Wrong"
    off = 1.1

    def missing(self, device: str) -> str | None:
        return None

    def without_values(self) -> str | None:
        return None

    def prepare(self, job: Job) -> Ready:
        raise NotImplementedError

    def values(self, job: Job, space: int) -> dict[str, torch.Tensor]:
        assert space >= 4 * 16 * 4 * 3
        found: dict[str, torch.Tensor] = {}
        off = self.off

        class Told(torch.fx.Interpreter):
            def run_node(self, n: torch.fx.Node) -> Any:
                value = super().run_node(n)
                if n.name == "gelu":
                    value = value * off
                if n.op == "call_function" and isinstance(value, torch.Tensor):
                    found[n.name] = value.detach().clone()
                return value

        Told(job.program.graph_module).run(*program_inputs(job.program, job.args, job.kwargs))
        return {name: each for name, each in found.items() if name in {"linear", "gelu", "mul"}}


@pytest.fixture
def ex(monkeypatch: pytest.MonkeyPatch) -> Exploration:
    monkeypatch.setattr(backend_registry, "BUILT_IN", (*backend_registry.BUILT_IN, Wrong))
    _, request = made()
    return explorer.explore(request.target, request.args)


@pytest.mark.slow
def test_the_op_at_which_a_backend_parts_is_named(ex: Exploration) -> None:
    found = ex.compare("wrong")

    assert (found.first, found.worst) == ("gelu", "gelu")
    assert "The error starts at `gelu`" in found.sentence
    assert list(found.rows) == ["linear", "gelu", "mul"]
    assert found.rows["gelu"].own.relative == pytest.approx(0.1 / 1.1, rel=1e-3)
    assert not found.rows["mul"].beyond  # it is right for what the backend gave it
    assert found.left_out[0].startswith("Wrong computes")
    assert "`layer_norm`" in found.left_out[0]
    pair = found.tensors("gelu")
    assert torch.allclose(pair.other, pair.one * 1.1)
    assert ex.session.entry.record.pairs is not None


@pytest.mark.slow
def test_a_generation_that_a_backend_gets_wrong_names_its_op_and_what_to_do(
    ex: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = ex.session.require_exported(0, "compare")
    assert attempt.request is not None
    apart = CallApart("decode", 1, attempt.request.args, {}, "output 0: off")

    def found(backend: str) -> str:
        return first_op_apart(attempt, ex.record, apart, backend).sentence

    said = found("wrong")
    assert said.startswith("the exported program matches, and in Wrong the error starts at `gelu`")
    assert 'kit["decode"].compare("wrong") lists its ops' in said
    assert found("program") == "every op of the exported program matches there"
    assert "is unknown: torch.compile inductor does not expose per-op values" in found("inductor")
    monkeypatch.setattr(Wrong, "off", 1.0)
    assert "so does every op of Wrong, run op by op: its fused kernels differ" in found("wrong")


@pytest.mark.slow
def test_a_backend_that_is_right_raises_no_alarm(
    ex: Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Wrong, "off", 1.0)
    model = ex.session.require_exported(0, "compare").request
    assert model is not None
    before = {name: each.clone() for name, each in model.target.state_dict().items()}

    assert ex.compare("wrong").ok

    for name, each in model.target.state_dict().items():
        assert torch.equal(each, before[name])


@pytest.mark.slow
def test_a_backend_that_fails_says_why(ex: Exploration, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("no kernel for gelu")

    monkeypatch.setattr(Wrong, "values", fails)
    with pytest.raises(
        explorer.errors.FixError, match="Wrong cannot compile this program: no kernel"
    ):
        ex.compare("wrong")


NEEDED = {"onnx": "onnxruntime", "executorch": "executorch", "aoti": "torch"}


@pytest.mark.slow
@pytest.mark.parametrize("name", NEEDED)
def test_backends_tell_values_and_the_op_that_parts_from_them(name: str) -> None:
    pytest.importorskip(NEEDED[name], reason=f"it is not installed: pip install '.[{name}]'")
    attempt, request = made()
    record, folder = describe(attempt), Path.cwd()
    right = backend_run(attempt, record, request, "cpu", name)

    clean = compare_values(RunOf("program", attempt, record, request), right)

    told = {clean.name(OpPlace(0, row.node)) for row in clean.rows}
    assert clean.pairs.agrees, clean.pairs.sentence
    assert {"linear", "gelu", "linear_1", "softmax", "getitem_1"} <= told
    for kind in ("another op", "another epsilon"):
        (planted,) = faults(attempt, kind, 1)
        wrong = RunOf("wrong", planted.attempt, describe(planted.attempt), request)
        found = compare_values(wrong, right).pairs
        assert not found.agrees, planted.right
    assert Path.cwd() == folder
    assert not list(folder.glob("tmp/aoti*"))


class Viewed(nn.Module):
    """Attention with a mask, whose result is viewed without a copy, and an input given back."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        split = x.view(x.shape[0], -1, 2, 4).transpose(1, 2)
        found = nn.functional.scaled_dot_product_attention(split, split, split, attn_mask=mask)
        return found.transpose(1, 2).view(x.shape[0], -1, 8), x


@pytest.mark.slow
def test_onnx_takes_a_view_of_attention_as_eager_does(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript", reason="it is not installed: pip install '.[onnx]'")
    pytest.importorskip("onnxruntime", reason="it is not installed: pip install '.[onnx]'")
    model, args = Viewed(), (torch.randn(3, 5, 8), torch.randn(3, 2, 5, 5))
    shapes = Shapes.parse("x: b, s, _; mask: b, _, s, s")
    attempt = capture(Request(target=model, args=args, dynamic_shapes=shapes))
    assert isinstance(attempt, Exported)
    job = Job(
        program=attempt.program, model=model, args=args, kwargs={}, device="cpu", folder=tmp_path
    )

    torch.testing.assert_close(backends()["onnx"].load(job)(*args), model(*args))

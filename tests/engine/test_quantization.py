"""Quantized programs: what is folded into which op, scales, bits, bytes, and accuracy by layer."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import explorer
from explorer.exploration import Exploration
from export_engine.record import Quantization, QuantizedTensor, check_record
from export_engine.run import Job
from export_engine.run.builtin_backends.aot_inductor import AOTInductor

pytest.importorskip("torchao", reason="torchao quantizes the models")
pytestmark = pytest.mark.slow


class Model(nn.Module):
    """A convolution with a batch norm, two linears, a product of activations."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.bn = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 32)
        self.out = nn.Linear(32, 32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.bn(self.conv(x))).mean((2, 3))
        return torch.softmax(self.out(torch.relu(self.fc(x))), -1)


X = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))


def _model() -> Model:
    torch.manual_seed(0)
    model = Model().eval()
    model.bn.weight.data.uniform_(1, 3)  # so that folding it changes the convolution
    model.bn.running_mean += 0.5
    return model


def _pt2e() -> nn.Module:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(_model(), (X,)).module(), quantizer)
    prepared(X)
    return convert_pt2e(prepared)


def _quantized(config: str, **options: Any) -> nn.Module:
    import torchao.quantization as ao

    model = copy.deepcopy(_model())
    ao.quantize_(model, getattr(ao, config)(**options))
    return model


MODELS: dict[str, Callable[[], nn.Module]] = {
    "pt2e": _pt2e,
    "weights": lambda: _quantized("Int8WeightOnlyConfig"),
    "dynamic": lambda: _quantized("Int8DynamicActivationInt8WeightConfig"),
    "groups": lambda: _quantized(
        "IntxWeightOnlyConfig", weight_dtype=torch.int4, granularity=_group(8)
    ),
    "float8": lambda: _quantized("Float8WeightOnlyConfig"),
}


def _group(size: int) -> Any:
    from torchao.quantization.granularity import PerGroup

    return PerGroup(size)


@pytest.fixture(scope="module")
def results() -> dict[str, Exploration]:
    return {name: explorer.explore(made(), (X,)) for name, made in MODELS.items()}


@pytest.fixture(scope="module")
def in_float() -> Exploration:
    return explorer.explore(_model(), (X,))


def _of(ex: Exploration) -> Quantization:
    found = ex.record.quantization
    assert found is not None
    return found


def _weight(ex: Exploration, module: str) -> QuantizedTensor:
    layer = next(each for each in ex.quantization.layers if each.module == module)
    assert layer.weight is not None
    return layer.weight


def test_a_float_program_has_no_quantization(in_float: Exploration) -> None:
    assert in_float.record.quantization is None
    assert not in_float.quantization
    assert repr(in_float.quantization) == "Nothing in this program is quantized."


@pytest.mark.parametrize("name", MODELS)
def test_whatever_quantizes_is_folded_and_only_that(
    results: dict[str, Exploration], name: str
) -> None:
    record = results[name].record
    check_record(record)
    graph = record.graphs[0]
    folded = [at for layer in _of(results[name]).layers for at in (layer.node, *layer.folded)]
    assert len(folded) == len(set(folded)), "a node is in one layer at most"
    rest = {
        record.targets[graph.target[at]].label
        for at in range(len(graph.name))
        if at not in folded and graph.target[at] >= 0 and not graph.housekeeping[at]
    }
    kept = {"conv2d", "batch_norm", "relu", "mean", "softmax"}
    assert rest <= kept


@pytest.mark.parametrize("name", MODELS)
def test_what_is_folded_is_read_by_its_layer_alone(
    results: dict[str, Exploration], name: str
) -> None:
    graph = results[name].record.graphs[0]
    for layer in _of(results[name]).layers:
        own = {layer.node, *layer.folded}
        for node in range(len(graph.name)):
            starts = graph.inputs.starts
            read = set(graph.inputs.items[starts[node] : starts[node + 1]])
            if node not in own and not graph.housekeeping[node]:
                assert not read & (own - {layer.result})


@pytest.mark.parametrize("shifted", [False, True])
def test_a_product_of_int8_is_one_layer_on_every_cpu(
    monkeypatch: pytest.MonkeyPatch, shifted: bool
) -> None:
    """torchao adds 128 to the input where a CPU multiplies uint8 by int8 alone."""
    monkeypatch.setattr("torchao.kernel.intmm._cpu_is_amx_tile_supported", lambda: False)
    monkeypatch.setattr("torchao.kernel.intmm._cpu_is_vnni_supported", lambda: shifted)
    ex = explorer.explore(MODELS["dynamic"](), (X,))
    names = [each.target.__name__ for each in ex.program.graph.nodes if each.op == "call_function"]
    assert ("sub_.Tensor" in names) is shifted
    assert {each.op for each in ex.quantization.layers} == {"_int_mm"}


def test_scales_and_zero_points_of_pt2e_are_those_of_the_data(
    results: dict[str, Exploration],
) -> None:
    layers = {each.module: each for each in results["pt2e"].quantization.layers}
    given = next(each for each in layers["conv"].tensors if each.role == "input")
    low, high = float(X.min()), float(X.max())  # the observer's histogram may clip a little
    assert given.scale[0] == pytest.approx((high - low) / 255, rel=1e-2)
    assert given.zero_point[0] == pytest.approx(-low / given.scale[0], abs=1)
    assert (given.dtype, given.bits, given.low, given.high) == ("uint8", 8, 0, 255)
    rows = _model().fc.weight.detach().abs().amax(1)
    weight = _weight(results["pt2e"], "fc")
    assert weight.scale == pytest.approx([float(rows.min()) / 127.5, float(rows.max()) / 127.5])
    assert (weight.granularity, weight.axis, weight.scales) == ("channel", 0, 32)


def test_bytes_are_those_of_the_stored_tensors(results: dict[str, Exploration]) -> None:
    fc = _model().fc
    for name, zeros in (("weights", 0), ("dynamic", 0), ("float8", 0), ("pt2e", 8)):
        weight = _weight(results[name], "fc")
        assert weight.bytes == fc.weight.numel() + 32 * (4 + zeros)
        assert weight.float_bytes == fc.weight.numel() * 4
    whole = results["weights"].quantization
    model = _model()
    plain = sum(each.nbytes for each in model.state_dict().values())
    counter = model.bn.num_batches_tracked.nbytes
    assert whole.float_bytes == plain - counter
    assert whole.unread_bytes == counter
    linears = model.fc.weight.numel() + model.out.weight.numel()
    assert whole.bytes == whole.float_bytes - 3 * linears + 4 * (32 + 32)


def test_pt2e_says_what_float_weights_it_still_holds(results: dict[str, Exploration]) -> None:
    model = _model()
    kept = sum(each.weight.nbytes for each in (model.conv, model.fc, model.out))
    assert results["pt2e"].quantization.unread_bytes == kept


def test_groups_of_int4_have_four_bits_and_their_scales(results: dict[str, Exploration]) -> None:
    weight = _weight(results["groups"], "out")
    assert (weight.bits, weight.low, weight.high) == (4, -8, 7)
    assert (weight.granularity, weight.group, weight.scales) == ("group", 8, 32 * 4)
    rows = _model().out.weight.detach().reshape(32, 4, 8)
    most = rows.abs().amax(2) / 7.5  # symmetric, of the range from -8 to 7
    assert weight.scale == pytest.approx([float(most.min()), float(most.max())], rel=1e-2)


def test_dynamic_inputs_have_no_scale_before_a_run(results: dict[str, Exploration]) -> None:
    layer = results["dynamic"].quantization.layers[0]
    given = next(each for each in layer.tensors if each.role == "input")
    assert given.dynamic
    assert given.granularity == "token"
    assert given.scale == []
    assert layer.scheme == "int8 weights, dynamic int8 inputs"


def test_what_stayed_in_float_says_why(results: dict[str, Exploration]) -> None:
    (left,) = results["weights"].quantization.in_float
    assert (left.op, left.module) == ("conv2d", "conv")
    assert left.why == "no convolution of the program is quantized: the config excludes them"
    assert left.bytes == _model().conv.weight.nbytes
    assert results["pt2e"].quantization.in_float == ()


def test_what_several_read_is_quantized_by_the_op_that_gives_it() -> None:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.LayerNorm(8)
            self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.norm(x)
            return torch.cat([self.one(x), self.two(x)]).softmax(-1)

    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    given = (torch.randn(4, 8),)
    prepared = prepare_pt2e(torch.export.export(Two().eval(), given).module(), quantizer)
    prepared(*given)
    found = explorer.explore(convert_pt2e(prepared), given).quantization
    assert [(each.op, each.scheme) for each in found.layers[:3]] == [
        ("layer_norm", "uint8 outputs"),
        ("linear", "int8 weights, uint8 inputs"),
        ("linear", "int8 weights, uint8 inputs"),
    ]


def test_a_rounded_output_is_folded_into_the_op_that_gives_it() -> None:
    import torchao.quantization.pt2e  # noqa: F401 - it registers the ops

    ops, args = torch.ops.quantized_decomposed, (0.1, 0, 0, 255, torch.uint8)

    class Rounded(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return ops.dequantize_per_tensor(ops.quantize_per_tensor(x.relu(), *args), *args)

    found = explorer.explore(Rounded(), (torch.randn(4),))
    (layer,) = _of(found).layers
    graph = found.record.graphs[0]
    names = [found.record.strings[graph.name[at]] for at in (layer.node, layer.result)]
    assert names == ["relu", "dequantize_per_tensor"]
    assert len(layer.folded) == 2


@pytest.mark.parametrize("name", MODELS)
def test_accuracy_by_layer_is_that_of_the_quantized_weights(
    results: dict[str, Exploration], in_float: Exploration, name: str
) -> None:
    found = {each.layer.module: each for each in results[name].quantization.accuracy(in_float)}
    assert set(found) == {each.module for each in results[name].quantization.layers}
    assert all(0 < each.own < 0.2 for each in found.values())
    assert results[name].record.pairs is not None
    assert results[name].record.pairs.agrees, "rounding to steps is no fault"


def test_the_error_of_a_layer_is_that_of_its_rounded_weight(
    results: dict[str, Exploration], in_float: Exploration
) -> None:
    model = _model()
    found = {e.layer.module: e for e in results["weights"].quantization.accuracy(in_float)}
    stored = results["weights"].program.state_dict["fc.weight"]
    rounded = stored.qdata.float() * stored.scale
    with torch.no_grad():
        given = torch.relu(model.bn(model.conv(X))).mean((2, 3))
        right = model.fc(given)
        off = nn.functional.linear(given, rounded, model.fc.bias) - right
    assert found["fc"].own == pytest.approx(float(off.norm() / right.norm()), rel=1e-2)


class Kept(torch.fx.Interpreter):
    """Keeps what each node gives."""

    def run_node(self, n: torch.fx.Node) -> Any:
        self.env_of[n.name] = super().run_node(n)
        return self.env_of[n.name]

    @classmethod
    def values(cls, ex: Exploration) -> dict[str, Any]:
        run = cls(ex.program.module())  # type: ignore[arg-type]
        run.env_of = {}
        with torch.no_grad():
            run.run(X)
        return run.env_of

    env_of: dict[str, Any]


def test_the_accuracy_of_pt2e_is_that_of_running_both_programs(
    results: dict[str, Exploration], in_float: Exploration
) -> None:
    ours, right = Kept.values(results["pt2e"]), Kept.values(in_float)
    told = {each.layer.module: each for each in results["pt2e"].quantization.accuracy(in_float)}
    for module, name in {"conv": "batch_norm", "fc": "linear", "out": "linear_1"}.items():
        off = ours[told[module].layer.result] - right[name]
        relative = float(off.norm() / right[name].norm())
        assert told[module].relative == pytest.approx(relative, rel=1e-4)
        assert told[module].sqnr == pytest.approx(-20 * math.log10(relative), abs=1e-3)


def test_the_result_of_a_lowered_linear_can_be_watched(results: dict[str, Exploration]) -> None:
    run = results["weights"].record_values()
    layer = results["weights"].quantization.layers[0]
    assert run.tensor(layer.result).shape == (2, 32)


def test_a_file_that_is_only_read_shows_the_same_layers(
    results: dict[str, Exploration], tmp_path: Any
) -> None:
    for name, ex in results.items():
        torch.export.save(ex.program, tmp_path / "program.pt2")
        read = explorer.load(tmp_path / "program.pt2")
        assert [each.scheme for each in _of(read).layers] == [
            each.scheme for each in _of(ex).layers
        ]
        assert _of(read).bytes == _of(ex).bytes, name


def test_the_table_has_layers_bytes_and_reasons(results: dict[str, Exploration]) -> None:
    said = repr(results["dynamic"].quantization)
    assert said.startswith(
        "2 quantized ops; weights and buffers take 2.82 kB, instead of 6.4 kB in float"
    )
    assert "int8 per channel, ×" in said
    assert "dynamic int8 per token" in said
    assert "In float:\n  conv" in said


class Scaled(nn.Module):
    """A block that scales what its linear gives."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.fc = nn.Parameter(torch.full((8,), 1e-6)), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * self.fc(x)


def test_a_scale_outside_of_a_layer_is_no_part_of_it() -> None:
    import torchao.quantization as ao
    from torch.ao.ns.fx.utils import compute_sqnr

    torch.manual_seed(0)
    model, x = Scaled().eval(), torch.randn(4, 8)
    plain, right = explorer.explore(model, (x,)), model.fc(x)
    quantized = copy.deepcopy(model)
    ao.quantize_(quantized, ao.Int8WeightOnlyConfig())

    (layer,) = explorer.explore(quantized, (x,)).quantization.accuracy(plain)

    assert layer.sqnr == pytest.approx(float(compute_sqnr(right, quantized.fc(x))), abs=0.1)


@pytest.mark.thorough
def test_code_without_weights_takes_the_tensors_of_a_quantized_weight(tmp_path: Path) -> None:
    if missing := AOTInductor().missing("cpu"):
        pytest.skip(f"{missing}.")
    from torchao.quantization import Int8WeightOnlyConfig, quantize_

    torch.manual_seed(0)
    net, x = nn.Sequential(nn.Linear(16, 16)).eval(), torch.randn(2, 16)
    quantize_(net, Int8WeightOnlyConfig())
    program = torch.export.export(net, (x,))
    job = Job(program=program, model=net, args=(x,), kwargs={}, device="cpu", folder=tmp_path)
    call = AOTInductor().load(job)

    torch.testing.assert_close(call(x), net(x))

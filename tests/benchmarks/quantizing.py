"""Quantized programs: what is said of each layer, against the program's own tensors and calls.

Four models, by PT2E's flow and, where they have linears, by two configs of torchao's `quantize_`.
A layer is right if its weight's dtype, bytes, float bytes, number of scales, their least and
greatest, and the scales, zero points and ranges of its inputs are. The accuracy of each linear is
held against what hooks on the modules see, in dB by `torch.ao.ns`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.export import ExportedProgram

import explorer
from explorer.exploration import Exploration
from explorer.results.quantization import Layer

from .table import Row
from .zoo import MODELS

NAMES = ("resnet", "bert", "vit", "convnext")

_DECIBELS = 0.1


def run() -> list[Row]:
    """The table's rows."""
    return [row for name in NAMES for row in _rows(name)]


def _rows(name: str) -> Iterator[Row]:
    model = next(each for each in MODELS if each.name == name)
    torch.manual_seed(0)
    args, kwargs = model.call(**model.sizes)
    plain = model.build().eval()
    in_float = explorer.explore(plain, args, kwargs)
    for flow, make in _FLOWS.items():
        if flow != "PT2E" and not _linears(plain):
            continue
        made = make(plain, args, kwargs)
        quantized = explorer.explore(made, args, kwargs)
        layers = quantized.quantization.layers
        expected = _linears(plain) if flow != "PT2E" else 0
        right = [each for each in layers if _is_right(quantized.program, each)]
        known = quantized.quantization.accuracy(in_float)
        yield Row(
            f"{name}, {flow}",
            "layers right",
            len(right) / max(len(layers), 1) if len(layers) >= max(expected, 1) else 0,
            "share",
            least=1,
            means=f"{len(right)} of {len(layers)} layers have the numbers of the stored tensors",
        )
        yield Row(
            f"{name}, {flow}",
            "left outside of layers",
            _outside(quantized),
            "ops",
            most=0,
            means="ops that quantize or dequantize and are folded into no op",
        )
        yield Row(
            f"{name}, {flow}",
            "layers with accuracy",
            len(known) / max(len(layers), 1),
            "share",
            means=f"weights {quantized.quantization.bytes:,} B, in float "
            f"{quantized.quantization.float_bytes:,} B; "
            f"worst layer off by {max((each.own for each in known), default=0):.2g}",
        )
        if flow != "PT2E":
            seen = _seen_by_hooks(plain, made, args, kwargs)
            agree = [each for each in known if abs(each.sqnr - seen[each.layer.module]) < _DECIBELS]
            yield Row(
                f"{name}, {flow}",
                "accuracy as hooks see it",
                len(agree) / max(len(seen), 1),
                "share",
                least=1,
                means=f"{len(agree)} of {len(seen)} linears: signal to noise within "
                f"{_DECIBELS} dB of compute_sqnr of the modules' outputs",
            )


def _seen_by_hooks(plain: nn.Module, made: nn.Module, args: Any, kwargs: Any) -> dict[str, float]:
    """Signal to noise of what each linear of the quantized module gives, in dB."""
    from torch.ao.ns.fx.utils import compute_sqnr

    outputs: list[dict[str, torch.Tensor]] = [{}, {}]
    for model, found in zip((plain, made), outputs, strict=True):
        hooks = [
            each.register_forward_hook(
                lambda _, __, value, name=name, found=found: found.__setitem__(name, value)
            )
            for name, each in model.named_modules()
            if isinstance(each, nn.Linear)
        ]
        with torch.no_grad():
            model(*args, **kwargs)
        for hook in hooks:
            hook.remove()
    return {
        name: float(compute_sqnr(outputs[0][name], value)) for name, value in outputs[1].items()
    }


def _pt2e(model: nn.Module, args: Any, kwargs: Any) -> nn.Module:
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

    quantizer = x86.X86InductorQuantizer()
    quantizer.set_global(x86.get_default_x86_inductor_quantization_config())
    prepared = prepare_pt2e(torch.export.export(model, args, kwargs).module(), quantizer)
    prepared(*args, **kwargs)
    return convert_pt2e(prepared)


def _config(name: str) -> Callable[[nn.Module, Any, Any], nn.Module]:
    def make(model: nn.Module, args: Any, kwargs: Any) -> nn.Module:
        import torchao.quantization as ao

        made = copy.deepcopy(model)
        ao.quantize_(made, getattr(ao, name)())
        return made

    return make


_FLOWS: dict[str, Callable[[nn.Module, Any, Any], nn.Module]] = {
    "PT2E": _pt2e,
    "int8 weights": _config("Int8WeightOnlyConfig"),
    "dynamic int8": _config("Int8DynamicActivationInt8WeightConfig"),
}


def _linears(model: nn.Module) -> int:
    return sum(isinstance(each, nn.Linear) for each in model.modules())


def _outside(ex: Exploration) -> int:
    found = ex.record.quantization
    assert found is not None
    inside = {at for layer in found.layers for at in (layer.node, *layer.folded)}
    calls = [(at, node) for at, node in enumerate(ex.program.graph.nodes) if "quant" in node.name]
    return sum(node.op == "call_function" and at not in inside for at, node in calls)


def _is_right(program: ExportedProgram, layer: Layer) -> bool:
    """Whether what is said of a layer is what torch tells of the program."""
    nodes = {node.name: node for node in program.graph.nodes}
    for each in layer.tensors:
        if each.role == "weight":
            if not _is_right_weight(program, each):
                return False
        elif not each.dynamic:
            said = next(
                user
                for user in nodes[each.name].users
                if "quantize_per_tensor" in user.name and user.args[1:3]
            )
            ends = (each.scale[0], each.zero_point[0], each.low, each.high)
            if ends != tuple(said.args[1:5]):
                return False
    return True


def _is_right_weight(program: ExportedProgram, said: Any) -> bool:
    held = program.state_dict[said.name]
    if hasattr(held, "qdata"):
        data, parts, floats = held.qdata, [held.scale], held.dtype
    else:
        (placeholder,) = (
            each.arg.name
            for each in program.graph_signature.input_specs
            if each.target == said.name
        )
        node = next(each for each in program.graph.nodes if each.name == placeholder)
        call = next(iter(node.users))
        targets = program.graph_signature.inputs_to_buffers
        data, floats = held, torch.float32
        parts = [program.state_dict[targets[each.name]] for each in call.args[1:3]]
    size = math.prod(data.shape)
    return bool(
        said.bytes == data.nbytes + sum(each.nbytes for each in parts)
        and said.float_bytes == size * floats.itemsize
        and said.scales == parts[0].numel()
        and math.isclose(said.scale[0], float(parts[0].min()), rel_tol=1e-6)
        and math.isclose(said.scale[1], float(parts[0].max()), rel_tol=1e-6)
        and said.dtype == str(data.dtype).removeprefix("torch.")
    )

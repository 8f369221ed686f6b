"""Real models on XNNPACK: reasons, counts as ExecuTorch's, and the share by FLOPs before and after.

Budgets: a reason or a rule for 95 % of the ops outside, the counts are ExecuTorch's, and rewritten
programs agree with eager. Before anything is lowered, four backends say what they can take: at
least 98 % of it is what lowering then does. `EVERY=4` takes one model of four; `ONLY=bert,resnet`
these.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

import explorer
from explorer.exploration import Exploration
from explorer.results.delegation import DelegationResult
from export_engine.record import CountedNodes

from .kernels import OF_PACKAGES, PLAIN
from .removed_causes import judge
from .table import Row
from .zoo import MODELS, Model

AUDIO = ("wav2vec2", "spectra")
QUANTIZED = (
    "perceptron",
    "resnet",
    "transformer encoder",
    "unet",
    "lstm",
    "mobilenet-v2",
    "convnext",
    "vit",
)
BACKENDS = ("xnnpack", "openvino", "onnxruntime", "vulkan")
COMPARED = ("perceptron", "lstm", "unet", "resnet", "transformer encoder", "spectra")
"""Models whose table of ops by backend is held against what lowering does."""


def run() -> list[Row]:
    """The rows of all models, then those of quantized ones."""
    every = int(os.environ.get("EVERY", "1"))
    only = [name for name in os.environ.get("ONLY", "").split(",") if name]
    named = {model.name: model for model in [*MODELS, *PLAIN]}
    names = [model.name for model in PLAIN] + [*OF_PACKAGES, *AUDIO]
    chosen = [(named[name], False) for name in names if name in named]
    chosen += [(named[name], True) for name in QUANTIZED if name in named]
    rows: list[Row] = []
    for model, is_quantized in chosen[::every]:
        subject = f"{model.name} quantized" if is_quantized else model.name
        if only and subject not in only:
            continue
        for row in _of_model(subject, model, is_quantized):
            print(f"{row.subject}: {row.name} {row.figure}; {row.means}", flush=True)
            rows.append(row)
    return rows


def _of_model(subject: str, model: Model, is_quantized: bool) -> Iterator[Row]:
    torch.manual_seed(0)
    try:
        ex, found = _lowered(model, is_quantized)
    except Exception as error:  # noqa: BLE001 - a package that is not here, or what is not lowered
        said = " ".join(str(error).split())[:160]
        yield Row(subject, "delegation", None, means=f"{type(error).__name__}: {said}")
        return
    yield from _reasons(subject, found)
    yield _judge(subject, ex, found)
    if model.name in COMPARED and not is_quantized:
        yield from (_as_foretold(subject, ex, backend) for backend in BACKENDS)
    fix = found.autofix()
    after = found.data if fix is None else fix.delegation
    yield Row(
        subject,
        "delegated before, after fixes",
        100 * after.share_of_flops,
        "% of FLOPs",
        least=100 * found.share,
        means=f"from {found.share:.1%}, {len(found.outside)} → {len(after.outside)} ops outside, "
        f"{len(found.partitions)} → {len(after.partitions)} partitions; "
        f"{'no fix gains' if fix is None else fix.kind}",
    )
    sizes = "nothing rewritten" if fix is None else f"{len(fix.agreement.trials)} sizes"
    equal = fix is None or fix.is_lossless
    yield Row(subject, "rewritten equals eager", float(equal), least=1, means=sizes)


def _lowered(model: Model, is_quantized: bool) -> tuple[Exploration, DelegationResult]:
    """Lowered with the sizes that the model is to take; with static ones where that fails."""
    args, kwargs = model.call(**model.sizes)
    if is_quantized:
        ex = explorer.explore(_quantize(model.build(), args, kwargs), args, kwargs)
        return ex, ex.delegate("xnnpack")
    for shapes in (model.shapes or None, None):
        ex = explorer.explore(model.build(), args, kwargs, dynamic_shapes=shapes, fix=True)
        if not ex.ok and shapes is not None:
            continue
        try:
            return ex, ex.delegate("xnnpack")
        except explorer.FixError:
            if shapes is None:
                raise
    raise AssertionError("not reached")


def _quantize(module: nn.Module, args: Any, kwargs: Any) -> nn.Module:
    """By PT2E's flow for XNNPACK."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config())
    prepared = prepare_pt2e(torch.export.export(module.eval(), args, kwargs).module(), quantizer)
    prepared(*args, **kwargs)
    converted: nn.Module = convert_pt2e(prepared)
    return converted


def _reasons(name: str, found: DelegationResult) -> list[Row]:
    outside = found.outside
    explained = sum(bool(each.reason) for each in outside)
    counted = found.data.counted
    inside = sum(each.is_inside for each in found.data.ops)
    nested = any(each.graph for each in found.data.ops)  # ExecuTorch counts the call of a graph
    left = sum(not each.is_inside and not each.graph for each in found.data.ops)
    left = counted.outside if nested and counted is not None else left
    same = counted is None or counted == CountedNodes(
        inside=inside, outside=left, partitions=len(found.partitions)
    )
    pairs = found.data.pairs
    folded = sum(pair.is_folded for pair in pairs)
    return [
        Row(
            name,
            "ops outside with a reason",
            100 * explained / len(outside) if outside else 100.0,
            "%",
            least=95,
            means=f"of {len(outside)}; {len(found.data.inside)} inside"
            + (f"; {folded} of {len(pairs)} q and dq ops folded" if pairs else ""),
        ),
        Row(name, "counts are ExecuTorch's", float(same), least=1, means="nodes and partitions"),
    ]


def _judge(name: str, ex: Exploration, found: DelegationResult) -> Row:
    """Reasons whose cause is not one: without it, the partitioner still refuses the op."""
    judged = judge(ex.program, found)
    for text, count in judged.classes.most_common():
        print(f"  right ×{count}: {text}", flush=True)
    return Row(
        name,
        "reasons that are wrong",
        len(judged.wrong),
        most=0,
        means=f"{', '.join(judged.wrong[:3]) or 'none'}; {judged.right} hold if the cause is "
        f"removed; not judged: {', '.join(judged.open[:3]) or 'none'}",
    )


def _as_foretold(subject: str, ex: Exploration, backend: str) -> Row:
    """How many calls are taken, or left, as the table says before anything is lowered."""
    name = f"{backend}: the table is what lowering does"
    try:
        table = ex.op_table(backend).data
        if not table.answers:
            return Row(subject, name, None, means=table.unavailable.get(backend, "")[:160])
        (answer,) = table.answers
        ops = ex.delegate(backend).data.ops
    except Exception as error:  # noqa: BLE001 - a backend that is not here
        return Row(subject, name, None, means=" ".join(str(error).split())[:160])
    left = {op.origin for op in ops if op.kind == "tensor" and not op.is_inside}
    lowered = {op.origin: op.origin not in left for op in ops if op.kind == "tensor" and op.origin}
    foretold = dict.fromkeys(answer.refused, False) | dict.fromkeys(answer.taken, True)
    both = [origin for origin in lowered if origin in foretold]
    wrong = [origin for origin in both if lowered[origin] != foretold[origin]]
    share = 100 * (1 - len(wrong) / len(both)) if both else 100.0
    told = f"of {len(both)} calls; wrong: {', '.join(wrong[:6]) or 'none'}"
    return Row(subject, name, share, "%", least=98, means=told)

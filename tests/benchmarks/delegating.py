"""Real models on XNNPACK: reasons, counts as ExecuTorch's, and the share by FLOPs before and after.

Budgets: a reason or a rule for 95 % of the ops outside, the counts are ExecuTorch's, and rewritten
programs agree with eager. `EVERY=4` takes one model of four.
"""

from __future__ import annotations

import os

import torch

import explorer
from explorer.results.delegation import DelegationResult

from .kernels import OF_PACKAGES, PLAIN
from .table import Row
from .zoo import MODELS, Model


def run() -> list[Row]:
    """Four rows a model."""
    every = int(os.environ.get("EVERY", "1"))
    named = {model.name: model for model in MODELS}
    models = [*PLAIN, *(named[name] for name in OF_PACKAGES if name in named)][::every]
    rows: list[Row] = []
    for model in models:
        made = _of_model(model)
        print(*(f"{row.subject}: {row.name} {row.figure}" for row in made), sep="\n", flush=True)
        rows += made
    return rows


def _of_model(model: Model) -> list[Row]:
    torch.manual_seed(0)
    try:
        args, kwargs = model.call(**model.sizes)
        shapes = model.shapes or None
        ex = explorer.explore(model.build(), args, kwargs, dynamic_shapes=shapes, fix=True)
        found = ex.delegate("xnnpack")
    except Exception as error:  # noqa: BLE001 - a package that is not here, or what is not lowered
        said = " ".join(str(error).split())[:160]
        return [Row(model.name, "delegation", None, means=f"{type(error).__name__}: {said}")]
    fix = found.autofix()
    after = found.data if fix is None else fix.delegation
    agrees = fix is None or fix.is_lossless
    return [
        *_reasons(model.name, found),
        Row(
            model.name,
            "delegated before, after fixes",
            100 * after.share_of_flops,
            "% of FLOPs",
            least=100 * found.share,
            means=f"from {found.share:.1%}; {'no fix gains' if fix is None else fix.kind}",
        ),
        Row(model.name, "rewritten equals eager", float(agrees), least=1, means="five sizes"),
    ]


def _reasons(name: str, found: DelegationResult) -> list[Row]:
    outside = found.outside
    explained = sum(bool(each.reason) for each in outside)
    counted = found.data.counted
    inside = sum(each.is_inside for each in found.data.ops)
    same = counted is None or (counted.inside, counted.partitions) == (
        inside,
        len(found.partitions),
    )
    return [
        Row(
            name,
            "ops outside with a reason",
            100 * explained / len(outside) if outside else 100.0,
            "%",
            least=95,
            means=f"of {len(outside)}",
        ),
        Row(name, "counts are ExecuTorch's", float(same), least=1, means="nodes and partitions"),
    ]

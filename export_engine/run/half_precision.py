"""Results in float16 or bfloat16, judged by how near each is to float32.

Two right programs differ there by more than a tolerance of their values: one rounds after each op,
one that fuses ops does not. As in torch's own benchmarks, the model in float32 is the judge.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from export_engine.run.eager_baseline import HALF, LOOSE, Bench, to_cpu
from export_engine.torch_internals import pytree
from export_engine.verify import compare

_TIMES = 3.0
"""How many times as far from float32 as eager a result may be: torch's benchmarks take 2 to 3."""


def as_near_as_eager(bench: Bench, result: Any) -> str:
    """The dtype within whose rounding a result is eager's; empty where it is not.

    Args:
        bench: what eager gives, and gives in float32.
        result: in the order of eager's leaves.
    """
    leaves = [_leaves(value) for value in (result, bench.reference)]
    halves = {value.dtype for value in leaves[1] if isinstance(value, torch.Tensor)} & set(HALF)
    if not halves or bench.exact is None:
        return ""
    leaves.append(_leaves(bench.exact))
    if len({len(leaf) for leaf in leaves}) > 1:
        return ""
    if all(_is_near(*group) for group in zip(*leaves, strict=True)):
        return " and ".join(sorted(str(half).removeprefix("torch.") for half in halves))
    return ""


def _leaves(result: Any) -> list[Any]:
    return [leaf for leaf in pytree.tree_leaves(to_cpu(result)) if leaf is not None]


def _is_near(found: Any, eager: Any, exact: Any) -> bool:
    tensors = all(isinstance(value, torch.Tensor) for value in (found, eager, exact))
    if not tensors or eager.dtype not in HALF:
        return compare(found, eager, loose=LOOSE).same
    if found.shape != eager.shape or found.dtype != eager.dtype or exact.shape != eager.shape:
        return False
    wide = exact.double()
    own, eagers = _size(found.double() - wide), _size(eager.double() - wide)
    if not math.isfinite(own) or not math.isfinite(eagers):
        return compare(found, eager, loose=LOOSE).same
    return own <= _TIMES * eagers + torch.finfo(eager.dtype).eps * _size(wide)


def _size(values: torch.Tensor) -> float:
    """The root of the mean square."""
    return float(values.square().mean().sqrt()) if values.numel() else 0.0

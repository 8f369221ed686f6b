"""Pools whose kernel is a dynamic size: over a whole dim a mean or a maximum, else over windows.

`F.avg_pool2d` and its kin take a kernel as plain ints, which fixes the size that it comes from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from export_engine.fixes.code.editing.text_edits import Source

POOLS = {f"{kind}_pool{count}d": count for kind in ("avg", "max") for count in (1, 2, 3)}
"""How many dims each pools."""


def pooled(
    name: str, given: Mapping[str, ast.expr], said: Mapping[str, str], source: Source
) -> str | None:
    """What gives the same as a pool without padding, for every size; None where it is not told.

    Args:
        name: of the pool.
        given: what its parameters are.
        said: the text of each.
        source: of the function.
    """
    if not {"input", "kernel_size"} <= given.keys():
        return None
    values, count = said["input"], POOLS[name]
    kernels = _each(given["kernel_size"], said["kernel_size"], count)
    strides = kernels
    if "stride" in given and said["stride"] != "None":
        strides = _each(given["stride"], said["stride"], count)
    if _covers(kernels, values, count):
        dims = str(tuple(range(-count, 0))) if count > 1 else "-1"
        return f"{values}.{'mean' if name.startswith('avg') else 'amax'}({dims}, keepdim=True)"
    if count > 2:
        return None
    reduced = "mean(-1)" if name.startswith("avg") else "max(-1)[0]"
    made = _windows(values, kernels[-1], strides[-1], reduced, source.torch)
    if count == 1:
        return made
    turned = f"{made}.mT"
    return f"{_windows(turned, kernels[0], strides[0], reduced, source.torch)}.mT.contiguous()"


def _each(node: ast.expr, text: str, count: int) -> list[str]:
    """The number of each dim."""
    if isinstance(node, ast.Tuple | ast.List):
        inner = [f"({ast.unparse(each)})" for each in node.elts]
        return inner * count if len(inner) == 1 else inner[:count]
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return [f"{text}[{at}]" for at in range(count)]
    if isinstance(node, ast.Attribute) or text.isidentifier() or isinstance(node, ast.Constant):
        return [text] * count
    return [f"({text})"] * count


def _covers(kernels: list[str], values: str, count: int) -> bool:
    """Whether each kernel is the size of its dim, as far as their text says."""
    for at, kernel in enumerate(kernels):
        back, front = at - count, at + 2
        known = {f"{values}.shape[{n}]" for n in (back, front)}
        known |= {f"{values}.size({n})" for n in (back, front)}
        known |= {
            f"{values}.{whole}[{n}:][{at}]" for whole in ("shape", "size()") for n in (-count, 2)
        }
        if kernel.strip("()") not in {each.strip("()") for each in known}:
            return False
    return True


def _windows(values: str, kernel: str, stride: str, reduced: str, torch: str) -> str:
    """What is left of the windows along the last dim."""
    device = "device=_wide.device"
    starts = f"{torch}.arange((_wide.shape[-1] - {kernel}) // {stride} + 1, {device})"
    at = f"{starts}[:, None] * {stride} + {torch}.arange({kernel}, {device})"
    return f"(lambda _wide: _wide[..., {at}].{reduced})({values})"

"""Which ops of a program a backend lacks: those not in its opset."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from export_engine.record import Graph, Target


def outside(
    graphs: Iterable[Graph], targets: Sequence[Target], opset: Collection[str] | None = None
) -> Counter[str]:
    """How often each op is called that is not of a set; ops on sizes are left out.

    Args:
        graphs: a Record's, or some of them.
        targets: the Record's.
        opset: names of ops, `aten.linear.default`, or `aten.linear` for all its overloads. By
            default Core ATen, which torch tags ops with.
    """
    counts: Counter[str] = Counter()
    for graph in graphs:
        for node, number in enumerate(graph.target):
            if number < 0 or graph.housekeeping[node]:
                continue
            target = targets[number]
            if target.kind in ("aten", "custom", "prim") and not _is_in(target, opset):
                counts[target.name] += 1
    return counts


def _is_in(target: Target, opset: Collection[str] | None) -> bool:
    if opset is None:
        return target.core or target.kind == "prim"
    return target.name in opset or target.name.rpartition(".")[0] in opset

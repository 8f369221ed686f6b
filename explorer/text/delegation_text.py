"""What a backend took of a program, as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from explorer.text.attempt_text import counted, cut, pair
from explorer.text.cost_text import scaled
from explorer.text.run_text import amount

if TYPE_CHECKING:
    from export_engine.delegate import DelegatedOp, Delegation, OpTable

_FEW = 12
_FEW_SPLITS = 5


def delegation_lines(found: Delegation, most: int = _FEW) -> list[str]:
    """The shares, the partitions and what splits them, then each op outside with its reason.

    Args:
        found: what a backend took.
        most: how many reasons are shown; those of the most FLOPs first.
    """
    inside, outside = len(found.inside), len(found.outside)
    lines = [
        f"{found.title} takes {inside} of {counted(inside + outside, 'op')}, "
        f"{found.share_of_ops:.0%}, in {counted(len(found.partitions), 'partition')}.",
        pair("FLOPs inside", f"{found.share_of_flops:.1%}"),
        pair("over their edges", amount(found.edge_bytes)),
        pair("asked", found.version),
    ]
    if found.counted is not None:
        told = f"{found.counted.inside} inside, {found.counted.outside} outside with calls on sizes"
        lines.append(pair("ExecuTorch counts", told))
    lines += list(_outside(found, most))
    lines += list(_splits(found))
    lines += list(_pairs(found))
    if found.unloadable:
        lines.append(f"{found.runtime} has no kernel for these: the program cannot be loaded.")
        lines += [cut(f"  {each.missing_kernel}  {each.place}") for each in found.unloadable]
    return [*lines, *(cut(each) for each in found.notes)]


def outside_line(op: DelegatedOp) -> str:
    """An op outside, its reason and its line."""
    place = f"  {op.place}" if str(op.place) else ""
    return f"{op.op}: {reason_of(op)}.{place}"


def reason_of(op: DelegatedOp) -> str:
    """Why an op is outside; that it is not known, where nobody says."""
    return op.reason or "the backend does not say why"


def _outside(found: Delegation, most: int) -> Iterator[str]:
    groups: dict[tuple[str, str], list[DelegatedOp]] = {}
    for each in found.outside:
        groups.setdefault((each.op, reason_of(each)), []).append(each)
    if not groups:
        return
    yield "Outside, and why:"
    ordered = sorted(groups.values(), key=lambda ops: -sum(each.flops or 0 for each in ops))
    for ops in ordered[:most]:
        times = f" ×{len(ops)}" if len(ops) > 1 else ""
        flops = sum(each.flops or 0 for each in ops)
        cost = f", {scaled(flops)} FLOPs" if flops else ""
        yield cut(f"  {ops[0].op}{times}{cost}: {reason_of(ops[0])}")
        places = dict.fromkeys(str(each.place) for each in ops if str(each.place))
        named = [*places]
        for place in named[:_PLACES]:
            code = next(each.place.code for each in ops if str(each.place) == place)
            yield cut(f"      {place}  {code}".rstrip())
        if len(named) > _PLACES:
            yield f"      and {counted(len(named) - _PLACES, 'more place')}"
    if len(ordered) > most:
        yield f"  and {counted(len(ordered) - most, 'more reason')}: .outside has all"


_PLACES = 2


def _splits(found: Delegation) -> Iterator[str]:
    names = {each.name: each for each in found.ops}
    if found.splits:
        yield "What splits partitions:"
    for split in found.splits[:_FEW_SPLITS]:
        ops = [names[each] for each in split.ops if each in names and names[each].kind == "tensor"]
        told = ", ".join(dict.fromkeys(each.op for each in ops)) or "ops on sizes"
        yield cut(f"  {split.before} and {split.after}: {told}")
    if len(found.splits) > _FEW_SPLITS:
        yield f"  and {counted(len(found.splits) - _FEW_SPLITS, 'more pair')}"


def _pairs(found: Delegation) -> Iterator[str]:
    if not found.pairs:
        return
    folded = sum(each.is_folded for each in found.pairs)
    yield pair("q and dq ops", f"{folded} of {len(found.pairs)} are in the delegate")
    for each in [each for each in found.pairs if not each.is_folded][:_FEW_SPLITS]:
        yield cut(f"  {each.op} stays outside: {each.reason or 'no reason is known'}")


def table_lines(table: OpTable) -> list[str]:
    """Ops by backend: ✓ taken, ✗ not, · not known."""
    names = list(table.backends)
    width = max((len(row.op) for row in table.rows), default=2)
    head = "  ".join(names)
    lines = [f"{'':<{width}}  {head}"]
    for row in table.rows:
        marks = "  ".join(f"{_mark(row.taken.get(name, (0, 0, 0))):^{len(name)}}" for name in names)
        lines.append(f"{row.op:<{width}}  {marks}".rstrip())
    lines += [f"{name}: {reason}" for name, reason in table.unavailable.items()]
    return lines


def _mark(counts: tuple[int, int, int]) -> str:
    taken, left, _ = counts
    if taken and left:
        return f"{taken}/{taken + left}"
    return "✓" if taken else "✗" if left else "·"

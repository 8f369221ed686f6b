"""A delegation as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from explorer.text.attempt_text import cut, fold, format_count, pair
from explorer.text.cost_text import format_scaled
from explorer.text.escape import harmless
from explorer.text.run_text import amount

if TYPE_CHECKING:
    from export_engine.record import BackendAnswer, DelegatedOp, Delegation, OpTable, TriedFix

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
        f"{found.title} takes {inside} of {format_count(inside + outside, 'op')}, "
        f"{found.share_of_ops:.0%}, in {format_count(len(found.partitions), 'partition')}.",
        pair("FLOPs inside", f"{found.share_of_flops:.1%}"),
        *_times(found),
        pair("across partition edges", amount(found.edge_bytes)),
        pair("asked", found.version),
    ]
    if found.counted is not None:
        told = (
            f"{found.counted.inside} inside, {found.counted.outside} outside, calls on sizes "
            "included"
        )
        lines.append(pair("ExecuTorch counts", told))
    lines += list(_outside(found, most))
    lines += list(_splits(found))
    lines += list(_pairs(found))
    if found.unloadable:
        lines.append(f"{found.runtime} has no kernel for these: the program cannot be loaded.")
        lines += [cut(f"  {op.missing_kernel}  {op.place}") for op in found.unloadable]
    return [*lines, *(fold(note) for note in found.notes)]


def _times(found: Delegation) -> Iterator[str]:
    share = found.share_of_time
    if share is not None:
        yield pair(
            "time inside", f"{share:.1%} of {found.call / 1000:.3g} ms a call, measured here"
        )


def outside_line(op: DelegatedOp) -> str:
    """An op outside, its reason and its line."""
    place = f"  {op.place}" if str(op.place) else ""
    return f"{op.op}: {reason_of(op)}.{place}"


def fix_sentence(fix: TriedFix) -> str:
    """The gain of an applied fix, and whether it equals eager."""
    return harmless(f"{fix.gain}. {fix.agreement}")


def reason_of(op: DelegatedOp) -> str:
    """Why an op is outside; that it is not known, where nobody says."""
    return op.reason or "the backend reports no reason"


def _outside(found: Delegation, most: int) -> Iterator[str]:
    groups: dict[tuple[str, str], list[DelegatedOp]] = {}
    for op in found.outside:
        groups.setdefault((op.op, reason_of(op)), []).append(op)
    if not groups:
        return
    yield "Outside, and why:"
    ordered = sorted(groups.values(), key=_rank_of_ops)
    for ops in ordered[:most]:
        times = f" ×{len(ops)}" if len(ops) > 1 else ""
        flops = sum(op.flops or 0 for op in ops)
        cost = f", {format_scaled(flops)} FLOPs" if flops else ""
        took = sum(max(op.microseconds, 0) for op in ops)
        cost += f", {took:.3g} µs" if took else ""
        yield fold(f"  {ops[0].op}{times}{cost}: {reason_of(ops[0])}")
        places = dict.fromkeys(str(op.place) for op in ops if str(op.place))
        named = [*places]
        for place in named[:_PLACES]:
            code = next(op.place.code for op in ops if str(op.place) == place)
            yield cut(f"      {place}  {code}".rstrip())
        if len(named) > _PLACES:
            yield f"      and {format_count(len(named) - _PLACES, 'more place')}"
    if len(ordered) > most:
        yield f"  and {format_count(len(ordered) - most, 'more reason')}; .outside lists all"


def _rank_of_ops(ops: list[DelegatedOp]) -> tuple[float, int]:
    """By which the dearest come first: time where it was measured, then FLOPs."""
    return -sum(max(op.microseconds, 0) for op in ops), -sum(op.flops or 0 for op in ops)


_PLACES = 2


def _splits(found: Delegation) -> Iterator[str]:
    names = {op.name: op for op in found.ops}
    if found.splits:
        yield "Ops that split partitions:"
    for split in found.splits[:_FEW_SPLITS]:
        ops = [names[op] for op in split.ops if op in names and names[op].kind == "tensor"]
        told = ", ".join(dict.fromkeys(op.op for op in ops)) or "ops on sizes"
        yield fold(f"  {split.before} and {split.after}: {told}")
    if len(found.splits) > _FEW_SPLITS:
        yield f"  and {format_count(len(found.splits) - _FEW_SPLITS, 'more pair')}"


def _pairs(found: Delegation) -> Iterator[str]:
    if not found.pairs:
        return
    folded = sum(item.is_folded for item in found.pairs)
    yield pair("q and dq ops", f"{folded} of {len(found.pairs)} are in the delegate")
    for split in [item for item in found.pairs if not item.is_folded][:_FEW_SPLITS]:
        yield fold(f"  {split.op} stays outside: {split.reason or 'no reason is known'}")


def table_lines(table: OpTable) -> list[str]:
    """Ops by backend: ✓ taken, ✗ not, · not known."""
    width = max((len(op) for op in table.calls), default=2)
    lines = [f"{'':<{width}}  {'  '.join(table.backends)}"]
    for op, names in table.calls.items():
        marks = "  ".join(
            f"{_mark(answer, names):^{len(answer.backend)}}" for answer in table.answers
        )
        lines.append(f"{op:<{width}}  {marks}".rstrip())
    lines += [f"{name}: {reason}" for name, reason in table.unavailable.items()]
    return lines


def _mark(answer: BackendAnswer, names: list[str]) -> str:
    taken = len({*names} & {*answer.taken})
    left = len({*names} & {*answer.refused})
    if taken and left:
        return f"{taken}/{taken + left}"
    return "✓" if taken else "✗" if left else "·"

"""What two compilations made differently: kernels that appeared, went, merged or split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from export_engine.record import Kernel, Stages


class KernelChange(NamedTuple):
    """Kernels before and after that compute the same lines of the program."""

    kind: str
    """`same`, `merged`, `split`, `regrouped`, `appeared`, `gone`."""
    before: tuple[int, ...]
    """Into the kernels of the first."""
    after: tuple[int, ...]
    """Into the kernels of the second."""
    lines: tuple[str, ...]
    """`net.py:12`."""
    microseconds: float
    """After less before; 0 where either was not measured."""


class StagesDiff(NamedTuple):
    """Two compilations side by side. `print` it."""

    before: Stages
    after: Stages
    changes: tuple[KernelChange, ...]
    """The largest change of time first."""

    def __str__(self) -> str:
        return "\n".join(_diff_lines(self))

    def __repr__(self) -> str:
        return str(self)


def compare_stages(before: Stages, after: Stages) -> StagesDiff:
    """Which kernels of two compilations compute the same, and what that costs.

    Kernels are joined by the code of their lines, so that lines may have moved: those that share a
    line, on either side, are one group. Where no line is known, by what they call.

    Args:
        before: the first.
        after: the second, of the same program or of another version of it.
    """
    keys = [_keys(before), _keys(after)]
    groups = _groups(keys)
    changes = [_change(before, after, sides) for sides in groups]
    order = sorted(changes, key=lambda each: (-abs(each.microseconds), each.kind == "same"))
    return StagesDiff(before, after, tuple(order))


def _keys(stages: Stages) -> list[frozenset[str]]:
    """What each kernel is joined by."""
    return [
        frozenset(_line_key(stages, line) for line in kernel.lines)
        or frozenset({kernel.calls or kernel.name.rpartition(":")[0]})
        for kernel in stages.kernels
    ]


def _line_key(stages: Stages, line: int) -> str:
    row = stages.lines[line]
    return row.code or f"{row.name}:{row.line}"


def _groups(keys: Sequence[Sequence[frozenset[str]]]) -> list[tuple[list[int], list[int]]]:
    """Kernels of both sides that hang together by a line."""
    heads: dict[str, str] = {}

    def head(key: str) -> str:
        while heads.setdefault(key, key) != key:
            key = heads[key]
        return key

    for side in keys:
        for own in side:
            first, *rest = sorted(own)
            for text in rest:
                heads[head(text)] = head(first)
    groups: dict[str, tuple[list[int], list[int]]] = {}
    for number, side in enumerate(keys):
        for kernel, own in enumerate(side):
            groups.setdefault(head(min(own)), ([], []))[number].append(kernel)
    return list(groups.values())


def _change(before: Stages, after: Stages, sides: tuple[list[int], list[int]]) -> KernelChange:
    old = [before.kernels[number] for number in sides[0]]
    new = [after.kernels[number] for number in sides[1]]
    shown = after if new else before
    lines = sorted({line for kernel in new or old for line in kernel.lines})
    return KernelChange(
        _kind(old, new),
        tuple(sides[0]),
        tuple(sides[1]),
        tuple(f"{shown.lines[n].name}:{shown.lines[n].line}" for n in lines),
        round(_time(new) - _time(old), 3) if _is_timed(old) and _is_timed(new) else 0.0,
    )


def _kind(old: Sequence[Kernel], new: Sequence[Kernel]) -> str:
    if not old or not new:
        return "appeared" if new else "gone"
    if sorted(map(_shape, old)) == sorted(map(_shape, new)):
        return "same"
    if len(old) == len(new):
        return "regrouped"
    return "merged" if len(new) < len(old) else "split"


def _shape(kernel: Kernel) -> tuple[str, str, int]:
    """What makes kernels alike: generated code has a number in its name, which says nothing."""
    return kernel.kind, kernel.calls or kernel.name.rpartition(":")[0].rstrip("0123456789"), 0


def _time(kernels: Sequence[Kernel]) -> float:
    return sum(max(kernel.microseconds, 0.0) for kernel in kernels)


def _is_timed(kernels: Sequence[Kernel]) -> bool:
    return all(kernel.microseconds >= 0 for kernel in kernels)


def _diff_lines(diff: StagesDiff) -> list[str]:
    before, after = diff.before, diff.after
    rows = [
        f"{_name(before)} → {_name(after)}",
        f"  kernels {len(before.kernels)} → {len(after.kernels)}",
    ]
    if before.times is not None and after.times is not None:
        change = after.times.kernels - before.times.kernels
        rows.append(
            f"  time of kernels {before.times.kernels:.1f} → {after.times.kernels:.1f} µs "
            f"({change:+.1f} µs)"
        )
    for kernel_change in diff.changes:
        if kernel_change.kind != "same":
            rows.append(f"  {_sentence(diff, kernel_change)}")
    alike = sum(other_change.kind == "same" for other_change in diff.changes)
    if alike:
        rows.append(f"  the same: {alike} group{'s' if alike > 1 else ''} of kernels")
    return rows


def _name(stages: Stages) -> str:
    return f"{stages.title} ({stages.settings})" if stages.settings else stages.title


def _sentence(diff: StagesDiff, change: KernelChange) -> str:
    old = " + ".join(diff.before.kernels[n].name for n in change.before)
    new = " + ".join(diff.after.kernels[n].name for n in change.after)
    names = " → ".join(value for value in (old, new) if value)
    time = f" {change.microseconds:+.1f} µs" if change.microseconds else ""
    return f"{change.kind}: {names}{time}  {', '.join(change.lines)}".rstrip()

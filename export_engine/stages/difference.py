"""Differences of two compilations: kernels that appeared, went, merged or split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from export_engine.record import Kernel, Record, Stages
from export_engine.source import find_last_user_frame, source_line


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


class GraphChange(NamedTuple):
    """A stage before the kernels, in both compilations."""

    name: str
    """`decomposed`, `post-grad`."""
    before: int
    """How many ops it has in the first."""
    after: int
    added: dict[str, int]
    """Ops that the second calls more often, and by how many: `{"aten.clone.default": 2}`."""
    removed: dict[str, int]
    """Ops that the first calls more often."""


class StagesDiff(NamedTuple):
    """Two compilations side by side. `print` it."""

    before: Stages
    after: Stages
    graphs: tuple[GraphChange, ...]
    """The stages that both have, in order."""
    changes: tuple[KernelChange, ...]
    """The largest change of time first."""

    def __str__(self) -> str:
        return "\n".join(_diff_lines(self))

    def __repr__(self) -> str:
        return str(self)


def compare_stages(
    before: Stages,
    after: Stages,
    records: tuple[Record | None, Record | None] = (None, None),
) -> StagesDiff:
    """Which kernels of two compilations compute the same, and what that costs.

    Kernels that compute for the same ops are one group. Ops of one program are known by
    themselves; those of two versions by their module and the code of their line, so that lines may
    have moved. Without Records, kernels are joined by the code of their lines, and where no line is
    known, by what they call.

    Args:
        before: the first.
        after: the second, of the same program or of another version of it.
        records: of both programs, where they are at hand.
    """
    keys = _keys(before, after, records)
    groups = _groups(keys)
    changes = [_change(before, after, sides) for sides in groups]
    order = sorted(changes, key=lambda each: (-abs(each.microseconds), each.kind == "same"))
    return StagesDiff(before, after, tuple(_graph_changes(before, after)), tuple(order))


def _graph_changes(before: Stages, after: Stages) -> Iterator[GraphChange]:
    olds = {graph.name: graph for graph in before.graphs}
    for new in after.graphs:
        old = olds.get(new.name)
        if old is not None:
            counts = Counter(old.targets), Counter(new.targets)
            yield GraphChange(
                new.name,
                len(old.ops),
                len(new.ops),
                dict(counts[1] - counts[0]),
                dict(counts[0] - counts[1]),
            )


def _keys(
    before: Stages, after: Stages, records: tuple[Record | None, Record | None]
) -> list[list[frozenset[str]]]:
    """The join key of each kernel, for both."""
    first, second = records
    if first is not None and second is not None:
        if first.graphs == second.graphs:
            return [[_node_key(kernel) for kernel in side.kernels] for side in (before, after)]
        return [_place_keys(before, first), _place_keys(after, second)]
    return [[_code_key(side, kernel) for kernel in side.kernels] for side in (before, after)]


def _node_key(kernel: Kernel) -> frozenset[str]:
    return frozenset(map(str, kernel.nodes)) or _call_key(kernel)


def _place_keys(stages: Stages, record: Record) -> list[frozenset[str]]:
    """By the modules of ops, and the code of their lines."""
    graph = record.graphs[0]

    def key(node: int) -> str:
        scope, frame = graph.scope[node], find_last_user_frame(record, graph.stack[node])
        path = record.scopes[scope].path if scope >= 0 else ""
        code = source_line(record, frame.file, frame.line) if frame is not None else ""
        return f"{path}: {code}"

    return [frozenset(map(key, kernel.nodes)) or _call_key(kernel) for kernel in stages.kernels]


def _code_key(stages: Stages, kernel: Kernel) -> frozenset[str]:
    return frozenset(_line_key(stages, line) for line in kernel.lines) or _call_key(kernel)


def _call_key(kernel: Kernel) -> frozenset[str]:
    return frozenset({kernel.calls or kernel.name.rpartition(":")[0]})


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
    """A key for equal kernels, without the meaningless number in generated names."""
    return kernel.kind, kernel.calls or kernel.name.rpartition(":")[0].rstrip("0123456789"), 0


def _time(kernels: Sequence[Kernel]) -> float:
    return sum(max(kernel.microseconds, 0.0) for kernel in kernels)


def _is_timed(kernels: Sequence[Kernel]) -> bool:
    return all(kernel.microseconds >= 0 for kernel in kernels)


def _diff_lines(diff: StagesDiff) -> list[str]:
    before, after = diff.before, diff.after
    rows = [
        f"{_name(before)} → {_name(after)}",
        *(f"  {_graph_sentence(change)}" for change in diff.graphs),
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
    alike = sum(change.kind == "same" for change in diff.changes)
    if alike:
        rows.append(f"  the same: {alike} group{'s' if alike > 1 else ''} of kernels")
    return rows


def _name(stages: Stages) -> str:
    return f"{stages.title} ({stages.settings})" if stages.settings else stages.title


def _graph_sentence(change: GraphChange) -> str:
    signs = (("+", change.added), ("-", change.removed))
    ops = [f"{sign}{count} {name}" for sign, row in signs for name, count in row.items()]
    sizes = f"{change.name} {change.before} → {change.after} ops"
    return f"{sizes}: {', '.join(ops)}" if ops else sizes


def _sentence(diff: StagesDiff, change: KernelChange) -> str:
    old = " + ".join(diff.before.kernels[n].name for n in change.before)
    new = " + ".join(diff.after.kernels[n].name for n in change.after)
    names = " → ".join(value for value in (old, new) if value)
    time = f" {change.microseconds:+.1f} µs" if change.microseconds else ""
    return f"{change.kind}: {names}{time}  {', '.join(change.lines)}".rstrip()

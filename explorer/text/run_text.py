"""Runs and profiles as text that reads well in a terminal of 80 columns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from export_engine.record import OPS, Profile, Record, RunRow, RunTimes
from export_engine.source import find_last_frame, source_line

_MARKS = {"agrees": "✓", "differs": "✗", "refused": "–", "failed": "✗", "unavailable": "–"}
_AGREES = "Agrees with eager."
_FEW = 8
_LITTLE = 1_000_000
"""Bytes below which pages of a CPU tell nothing of a call: the allocator may hold as much."""
_NOISY = 0.3
"""The largest interquartile range of a quiet measurement, as a share of the median."""


def run_lines(rows: Sequence[RunRow]) -> list[str]:
    """The runs as a table per device and inputs; what failed, with why."""
    groups: dict[str, list[RunRow]] = defaultdict(list)
    for row in rows:
        where = f" on {row.where}" if row.where else ""
        groups[f"{row.device}{where}, {row.inputs}"].append(row)
    lines: list[str] = []
    for title, group in groups.items():
        base = _baseline(group)
        beside = "vs program" if base is not None and base.backend == "program" else "vs eager"
        head = _columns("", "time", beside, "error", "compile", "memory", "disk")
        lines += [title, f"  {head}"]
        for row in group:
            lines += _row(row, base.times.median if base and base.times else None)
    return lines


def profile_lines(record: Record) -> list[str]:
    """The most expensive ops, scopes and source lines."""
    profile = record.profile
    if profile is None:
        return []
    lines = [
        f"{duration(profile.total / 1e6)} in all, {profile.device}, {profile.inputs}, op by op, "
        f"medians of {profile.runs} runs"
    ]
    for title, totals in (
        ("ops", _by_op(record, profile)),
        ("scopes", _by_scope(record, profile)),
        ("lines", _by_line(record, profile)),
    ):
        if totals:
            lines.append(f"{title}:")
            lines += [
                f"  {duration(micro / 1e6):>8} {micro / max(profile.total, 1e-9):>4.0%}  {name}"
                for name, micro in sorted(totals.items(), key=lambda each: -each[1])[:_FEW]
            ]
    return lines


def duration(seconds: float) -> str:
    """`90 ns`, `812 µs`, `12.3 ms`, `4.1 s`."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= 0.9995 * scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def speed(median: float, base: float) -> str:
    """`1.4x slower`, `2.1x faster`, `same` within 5 %: a call's seconds against eager's."""
    ratio = median / base
    if abs(ratio - 1) < 0.05:
        return "same"
    times = max(ratio, 1 / ratio)
    text = f"{times:,.0f}" if times >= 999.5 else f"{times:.3g}"
    return f"{text}x {'slower' if ratio > 1 else 'faster'}"


def is_noisy(times: RunTimes) -> bool:
    """Whether calls vary so much that their median says little."""
    return times.spread > _NOISY * times.median


def amount(count: int) -> str:
    """`1.6 MB`; a dash for what is not known."""
    if count < 0:
        return "–"
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 999.5:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


def _memory(row: RunRow) -> str:
    little = row.device == "cpu" and 0 <= row.memory < _LITTLE
    return f"<{amount(_LITTLE)}" if little else amount(row.memory)


def _row(row: RunRow, base: float | None) -> list[str]:
    mark = _MARKS[row.outcome]
    if row.times is None:
        return [f"{mark} {row.title}: {row.sentence}"]
    times = row.times
    error = f"{row.error.absolute:.1e}" if row.error and row.error.absolute else "0"
    cells = _columns(
        row.title,
        duration(times.median),
        speed(times.median, base) if base and times.median and row.backend != "eager" else "",
        error if row.error else "∞",
        duration(times.prepare),
        _memory(row),
        amount(row.size),
    )
    plain = row.outcome == "agrees" and row.calls == 1 and row.sentence in ("", _AGREES)
    texts = [] if plain else [row.sentence]
    if is_noisy(times):
        texts.append(f"noisy: calls vary by {duration(times.spread)}; time it on a quiet machine")
    return [f"{mark} {cells}", *(f"    {text}" for text in texts)]


def _columns(title: str, *cells: str) -> str:
    widths = (8, 15, 8, 8, 8, 8)
    shown = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    return f"{title[:22]:<22}{shown}".rstrip()


def _baseline(rows: Sequence[RunRow]) -> RunRow | None:
    """The run of eager, else of the exported program."""
    for name in ("eager", "program"):
        for row in rows:
            if row.backend == name and row.times is not None:
                return row
    return None


def _by_op(record: Record, profile: Profile) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    graph = record.graphs[0]
    for node, micro in enumerate(profile.microseconds):
        if micro >= 0 and graph.target[node] >= 0:
            totals[record.targets[graph.target[node]].name] += micro
    return totals


def _by_scope(record: Record, profile: Profile) -> dict[str, float]:
    """Totals per scope, with everything inside it."""
    totals: dict[str, float] = defaultdict(float)
    graph = record.graphs[0]
    for node, micro in enumerate(profile.microseconds):
        if micro < 0:
            continue
        scope = graph.scope[node]
        while scope >= 0:
            named = record.scopes[scope]
            if named.path:
                totals[named.path] += micro
            scope = named.parent
    return totals


def _by_line(record: Record, profile: Profile) -> dict[str, float]:
    totals: dict[str, float] = defaultdict(float)
    graph = record.graphs[0]
    for node, micro in enumerate(profile.microseconds):
        frame = find_last_frame(record, graph.stack[node])
        if micro < 0 or frame is None or OPS[graph.op[node]] != "call_function":
            continue
        code = source_line(record, frame.file, frame.line).strip()
        totals[f"{frame.name}:{frame.line}  {code}".rstrip()] += micro
    return totals

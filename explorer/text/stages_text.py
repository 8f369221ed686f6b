"""Stages after export as text for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from explorer.text.attempt_text import cut, fold, format_count, pair, wrap_text
from explorer.text.run_text import duration
from export_engine.record import Kernel, Record, StageLine, Stages
from export_engine.stages import times_by_line_set

_SLOWEST = 10
_KERNELS = 12
_REMARKS = 8


def stages_lines(record: Record | None, stages: Stages) -> list[str]:
    """The ladder, the slowest lines, the kernels, and what is remarkable of them.

    Args:
        record: of the program; None where it is not at hand.
        stages: of it.
    """
    lines = [
        fold(_head(stages)),
        *ladder_lines(stages),
        *time_lines(record, stages),
        *slowest_lines(stages),
        *_kernel_lines(stages),
        *_remark_lines(stages),
        *_list_removed(record, stages),
        *_guard_lines(stages),
    ]
    return [*lines, *(fold(text) for text in stages.left_out)]


def _guard_lines(stages: Stages) -> list[str]:
    if not stages.guards:
        return []
    rows = [f"  {row}" for guard in stages.guards for row in wrap_text(guard.text)]
    return ["Guards that compiling adds to those of the program:", *rows[: 2 * _REMARKS]]


def _head(stages: Stages) -> str:
    """The compiled program, its device, and the time."""
    named = ", ".join(text for text in (stages.title, stages.settings) if text)
    where = f" on {stages.device}, {stages.inputs}" if stages.device else ""
    cached = " from torch's cache" if stages.cached else ""
    return f"{named}{where}: compiled in {duration(stages.seconds)}{cached}" if where else named


def ladder_lines(stages: Stages) -> list[str]:
    """How many ops each stage has."""
    rungs = [f"exported {format_count(stages.exported, 'op')}"] if stages.exported else []
    rungs += [f"{graph.name} {format_count(len(graph.ops), 'op')}" for graph in stages.graphs]
    if stages.kernels:
        fused = sum(kernel.kind == "fused" for kernel in stages.kernels)
        extern = len(stages.kernels) - fused
        later = (
            f", {len(stages.kernels) - stages.backward} backward" if stages.backward >= 0 else ""
        )
        rungs.append(
            f"{format_count(len(stages.kernels), 'kernel')} ({fused} fused, {extern} extern{later})"
        )
    return [fold("  " + " → ".join(rungs))]


def time_lines(record: Record | None, stages: Stages) -> list[str]:
    """A call and its parts; beside it the same, op by op, if that was measured."""
    times = stages.times
    if times is None:
        return []
    spread = f" ± {duration(times.spread / 2e6)}" if times.spread > 0 else ""
    rows = [
        pair("a call", f"{_time(times.call)}{spread}"),
        pair("kernels", f"{_time(times.kernels)}, {times.owned:.0%} of it on known lines"),
        *_pass_lines(stages),
        pair("rest of the call", f"{_time(times.overhead)}: Python, allocations, launches"),
    ]
    if times.between > 0:
        rows.append(pair("between kernels", f"{_time(times.between)}: {times.other}"))
    if record is not None and record.profile is not None and record.profile.device == stages.device:
        rows.append(pair("op by op, in eager", _time(record.profile.total)))
    return [*rows, fold(f"  {times.method}")]


def _pass_lines(stages: Stages) -> list[str]:
    """The kernels' time of each pass of a training step."""
    if stages.backward < 0:
        return []
    passes = (stages.kernels[: stages.backward], stages.kernels[stages.backward :])
    sums = (sum(max(kernel.microseconds, 0.0) for kernel in kernels) for kernels in passes)
    return [pair("forward, backward", ", ".join(map(_time, sums)))]


def slowest_lines(stages: Stages, most: int = _SLOWEST) -> list[str]:
    """The slowest lines; the lines of one kernel are one row, and their time is not split."""
    total = sum(max(kernel.microseconds, 0.0) for kernel in stages.kernels)
    if total <= 0:
        return []
    rows = ["Slowest lines; lines that share a kernel are one row:"]
    for row in times_by_line_set(stages)[:most]:
        share = f"{_time(row.microseconds):>9} {row.microseconds / total:>4.0%}  "
        rows.append(cut("  " + share + name_lines([stages.lines[n] for n in row.lines])))
    return rows


def name_lines(lines: Sequence[StageLine]) -> str:
    """`net.py:12  y = x + 1`; of several, `net.py:12, 14 +1`; of none, that none is known."""
    if not lines:
        return "(line unknown)"
    if len(lines) == 1:
        return f"{lines[0].name}:{lines[0].line}  {lines[0].code}".rstrip()
    files: dict[str, list[str]] = {}
    for line in sorted(lines, key=lambda row: row.line):
        files.setdefault(line.name, []).append(str(line.line))
    return "; ".join(f"{name}:{', '.join(numbers)}" for name, numbers in files.items())


def kernel_line(stages: Stages, number: int) -> str:
    """A kernel in a line: its time, its name, its ops and its lines."""
    kernel = stages.kernels[number]
    named = name_lines([stages.lines[n] for n in kernel.lines])
    calls = f" calls {kernel.calls}" if kernel.calls else ""
    later = "backward " if 0 <= stages.backward <= number else ""
    return cut(f"  {_time(kernel.microseconds):>9}  {later}{kernel.name}{calls}  {named}")


def kernel_details(record: Record | None, stages: Stages, number: int) -> list[str]:
    """All that is known of a kernel, with its call in the generated code."""
    kernel = stages.kernels[number]
    nodes = kernel_nodes(record, kernel)
    rows = [
        kernel.name,
        pair("time", _format_time(kernel)),
        pair("ops of the program", ", ".join(nodes) or "none is known"),
        pair(_name_ops(stages), ", ".join(_ops_of(stages, kernel)) or "none is known"),
    ]
    if kernel.calls:
        rows.append(pair("calls", kernel.calls))
    rows += [
        pair("line" if at == 0 else "", name_lines([stages.lines[line]]))
        for at, line in enumerate(kernel.lines)
    ]
    remarks = [remark.text for remark in stages.remarks if remark.kernel == number]
    rows += [f"  {row}" for text in remarks for row in wrap_text(text)]
    if kernel.code >= 0:
        code = stages.codes[kernel.code]
        text = code.text.splitlines()[kernel.call_line - 1].strip()
        rows.append(pair(f"{code.title}, line {kernel.call_line}", text))
    return rows


def kernel_nodes(record: Record | None, kernel: Kernel) -> list[str]:
    """The names of the program's ops that a kernel computes; none where it is not at hand."""
    if record is None:
        return []
    return [record.strings[record.graphs[0].name[node]] for node in kernel.nodes]


def _name_ops(stages: Stages) -> str:
    return (
        "runtime nodes"
        if stages.graphs[-1:] and stages.graphs[-1].name == "runtime"
        else ("post-grad ops")
    )


def _ops_of(stages: Stages, kernel: Kernel) -> list[str]:
    return [stages.graphs[-1].ops[op] for op in kernel.ops] if stages.graphs else []


def _kernel_lines(stages: Stages) -> list[str]:
    slowest = sorted(range(len(stages.kernels)), key=lambda n: -stages.kernels[n].microseconds)
    if not slowest:
        return []
    more = len(slowest) - _KERNELS
    rows = ["Kernels, the slowest first:" if stages.times else "Kernels:"]
    rows += [kernel_line(stages, number) for number in slowest[:_KERNELS]]
    return [*rows, f"  and {more:,} more"] if more > 0 else rows


def _remark_lines(stages: Stages) -> list[str]:
    if not stages.remarks:
        return []
    rows = ["Worth a look:"]
    for remark in stages.remarks[:_REMARKS]:
        named = name_lines([stages.lines[n] for n in remark.lines])
        rows += [f"  {row}" for row in wrap_text(f"{named.partition('  ')[0]}: {remark.text}")]
    more = len(stages.remarks) - _REMARKS
    return [*rows, f"  and {more:,} more"] if more > 0 else rows


def _list_removed(record: Record | None, stages: Stages) -> list[str]:
    if record is None or not stages.removed:
        return []
    graph = record.graphs[0]
    names = [record.strings[graph.name[node]] for node in stages.removed]
    return [fold(f"Removed; no kernel computes them: {', '.join(names)}")]


def _format_time(kernel: Kernel) -> str:
    if kernel.microseconds < 0:
        return "not measured"
    return f"{_time(kernel.microseconds)} ± {duration(kernel.spread / 2e6)}"


def _time(microseconds: float) -> str:
    return duration(microseconds / 1e6) if microseconds >= 0 else "–"

"""Statistics of values as text that reads well in a terminal."""

from __future__ import annotations

from explorer.text.run_text import amount, duration
from export_engine.record import OPS, Record, Values, floats

_MOST = 60
_CALL = OPS.index("call_function")


def value_lines(record: Record, values: Values) -> list[str]:
    """A head, then a line per op in the order of execution; those with NaN or inf are marked.

    What ran several times, as a loop's body does, has its runs together: `sin ×5`.
    """
    lines = [
        f"{duration(values.seconds)} on {values.device}, {values.inputs}; values of ops held "
        f"at most {amount(values.memory)} at one time",
        f"  {'op':<28}{'min':>10}{'max':>10}{'mean':>10}{'std':>10}{'zeros':>7}  NaN, inf",
    ]
    rows: list[str] = []
    for other_graph in values.graphs:
        graph = record.graphs[other_graph.graph]
        columns = [
            floats(one)
            for one in (other_graph.minimum, other_graph.maximum, other_graph.mean, other_graph.std)
        ]
        zeros = floats(other_graph.zeros)
        for node, runs in enumerate(other_graph.runs):
            if not runs or graph.op[node] != _CALL:
                continue
            name = record.strings[graph.name[node]]
            name = f"{graph.title}.{name}" if other_graph.graph else name
            odd = other_graph.nans[node] + other_graph.infs[node]
            none = odd >= other_graph.count[node]  # the numbers are of the finite elements
            numbers = "".join(f"{'–' if none else f'{c[node]:.3g}':>10}" for c in columns)
            told = (
                f"  {other_graph.nans[node]:,} NaN, {other_graph.infs[node]:,} inf" if odd else ""
            )
            times = f" ×{runs:,}" if runs > 1 else ""
            name = f"{name[: 27 - len(times)]}{times}"
            rows.append(f"{'!' if odd else ' '} {name:<28}{numbers}{zeros[node]:>7.0%}{told}")
    lines += rows[:_MOST]
    if len(rows) > _MOST:
        lines.append(f"  … {len(rows) - _MOST:,} more ops")
    return [*lines, *values.left_out]

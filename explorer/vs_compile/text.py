"""The comparison of torch.compile and torch.export as text for a terminal."""

from __future__ import annotations

import textwrap

from explorer.text.attempt_text import format_count
from explorer.text.escape import harmless
from export_engine.record import CodePlace, CompiledCall, CompiledGraph, CompileReport, Recompile

WIDTH = 92
MOST_GUARDS = 3
"""Of one call."""
_MOST_OPS = 12

EXPORT_SAYS = {
    "takes": "accepts it, with its single graph",
    "refuses": "rejects it",
    "unchecked": "accepts it, outside its ranges",
    "no program": "has no program for it",
}


def report_text(report: CompileReport) -> str:
    """All of it."""
    lines = [f"{report.title}: torch.compile and torch.export", "", *summary_lines(report), ""]
    for call in report.calls:
        lines += _call(report, call)
    lines += ["", "Graphs made by torch.compile"]
    lines += [f"  {number} {graph_text(graph)}" for number, graph in enumerate(report.graphs, 1)]
    if report.gaps:
        lines += ["", "Graph breaks, run by the interpreter"]
    for number, gap in enumerate(report.gaps, 1):
        lines.append(f"  {number} {gap.reason}{f' ({gap.page})' if gap.page else ''}")
        lines += [f"      {place_text(place)}" for place in gap.places[-1:]]
        lines += _wrap(gap.explanation, "      ")
    return "\n".join(harmless(line) for line in lines)


def summary_lines(report: CompileReport) -> list[str]:
    """A line for each side."""
    return [f"torch.compile  {compile_sentence(report)}", f"torch.export   {report.verdict}"]


def compile_sentence(report: CompileReport) -> str:
    """`3 graphs in 3 compilations; no gap`."""
    graphs, gaps = len(report.graphs), len(report.gaps)
    again = sum(call.outcome == "recompiled" for call in report.calls)
    parts = [format_count(graphs, "graph"), format_count(gaps, "gap") if gaps else "no graph break"]
    if len(report.calls) > 1:
        parts.append(f"compiled again at {again} of {len(report.calls)} sizes")
    return ", ".join(parts)


def call_sentence(report: CompileReport, call: CompiledCall) -> str:
    """torch.compile's reaction to a call: `compiles graph 1, for these sizes only`."""
    text = f"{_numbers(call.made)}, for {_sizes(report, call.made)}" if call.made else ""
    match call.outcome:
        case "compiled":
            return f"compiles {text}" if text else "compiles, and finds no graph"
        case "recompiled":
            return f"compiles again: {text}" if text else "compiles again, and finds no graph"
        case "reused":
            used = dict.fromkeys(step.number for step in call.steps if step.kind == "graph")
            return f"runs {_numbers(list(used))} again"
        case "interpreted":
            why = f": {call.detail}" if call.detail else ""
            return f"falls back to the interpreter for all of it{why}"
        case "failed":
            return f"raises {call.detail}"


def recompile_sentences(call: CompiledCall) -> list[str]:
    """The guards that a call did not meet, the newest graph's first."""
    shown = [recompile_sentence(recompile) for recompile in call.recompiles[:MOST_GUARDS]]
    left = guards_left(call)
    return [*shown, left] if left else shown


def guards_left(call: CompiledCall) -> str:
    """A note on guards that are not shown; empty if all are."""
    left = len(call.recompiles) - MOST_GUARDS
    return f"and so on, for {left:,} earlier graphs" if left > 0 else ""


def asker(given: Recompile) -> str:
    """The graph that has the guard."""
    return f"graph {given.graph}" if given.graph else "an earlier graph"


def recompile_sentence(given: Recompile) -> str:
    """`graph 1 requires x.shape[0] == 512`."""
    place = f", for {place_text(given.place)}" if given.place else ""
    return f"{asker(given)} requires {given.guard}{place}"


def rule_sentence(call: CompiledCall) -> str:
    """The guard that rejects a call: `x.shape[0] <= 1024, for Cell In[2], line 3`."""
    place = f", for {place_text(call.rule_place)}" if call.rule_place else ""
    return f"{call.rule}{place}"


def graph_text(given: CompiledGraph) -> str:
    """A graph in a line."""
    sizes = ", ".join(given.sizes) if given.sizes else "for these sizes only"
    where = f"; {given.place.file}, line {given.place.line}" if given.place else ""
    return f"{ops_text(given)}; {', '.join(given.inputs)}; {sizes}{where}"


def ops_text(given: CompiledGraph) -> str:
    """The ops of a graph: `matmul, relu`."""
    left = len(given.ops) - _MOST_OPS
    shown = ", ".join(given.ops[:_MOST_OPS]) or "no op"
    return f"{shown} and {left:,} more" if left > 0 else shown


def place_text(place: CodePlace) -> str:
    """`if x.sum() > 0:  (Cell In[3], line 4, in forward)`."""
    where = f"{place.file}, line {place.line}, in {place.function}"
    return f"{place.text}  ({where})" if place.text else where


def _call(report: CompileReport, call: CompiledCall) -> list[str]:
    pieces = " → ".join(
        f"graph {step.number}" if step.kind == "graph" else f"[gap {step.number + 1}]"
        for step in call.steps[:40]
    )
    first, *rest = textwrap.wrap(call_sentence(report, call), WIDTH - 11) or [""]
    lines = [
        call.sizes or "the call",
        f"  compile  {first}",
        *(f"           {text}" for text in rest),
    ]
    lines += [f"           {text}" for text in recompile_sentences(call)]
    if len(call.steps) > 1:
        lines.append(f"           {pieces}")
    lines.append(f"  export   {EXPORT_SAYS[call.export]}")
    if call.rule:
        lines.append(f"           {rule_sentence(call)}")
    if call.export == "no program":
        lines += _wrap(report.sentence, "           ")
    return lines


def _sizes(report: CompileReport, numbers: list[int]) -> str:
    """The sizes that graphs are for."""
    sizes = dict.fromkeys(size for number in numbers for size in report.graphs[number - 1].sizes)
    return ", ".join(sizes) or "these sizes only"


def _numbers(numbers: list[int]) -> str:
    if not numbers:
        return ""
    shown = [str(number) for number in numbers]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return f"{'graph' if len(shown) == 1 else 'graphs'} {listed}"


def _wrap(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)

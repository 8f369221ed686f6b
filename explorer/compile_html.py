"""torch.compile beside torch.export, as HTML that needs no script. All text is escaped."""

from __future__ import annotations

from explorer.compile_text import (
    EXPORT_SAYS,
    call_sentence,
    compile_sentence,
    ops_text,
    place_text,
    recompile_sentence,
    rule_sentence,
)
from explorer.escape import escaped
from export_engine.record_compile import CompiledCall, CompiledGraph, CompileReport, Gap, Step

_GOOD, _BAD, _GAP = "#2b9a58", "#d6453d", "#c07a10"
"""Readable on white and on black."""
_CELL = "text-align:left;vertical-align:top;padding:6px 10px;white-space:normal"
_PIECE = "display:inline-block;border-radius:6px;padding:1px 7px;margin:2px 0;border:1px solid"
_MARKS = {"takes": ("✓", _GOOD), "refuses": ("✕", _BAD), "no program": ("✕", _BAD)}
_MOST_STEPS = 40


def report_html(report: CompileReport) -> str:
    """All of it: both sides per call, then the graphs, the gaps and the contract."""
    calls = "".join(_row(report, each) for each in report.calls)
    heads = "".join(
        f'<th style="{_CELL}">{each}</th>' for each in ("Call", "torch.compile", "torch.export")
    )
    return (
        '<div style="max-width:1100px;overflow-wrap:anywhere">'
        f"<p><b><code>{escaped(report.title)}</code></b>: torch.compile beside torch.export</p>"
        f'<table style="width:100%;border-collapse:collapse"><thead><tr>{heads}</tr>'
        f"{_summary(report)}</thead><tbody>{calls}</tbody></table>"
        f"{_graphs(report.graphs)}{_gaps(report.gaps)}{_contract(report)}</div>"
    )


def _summary(report: CompileReport) -> str:
    compiled = f"Just in time: {compile_sentence(report)}"
    ahead = f"Ahead of time: {report.verdict}"
    return f"<tr>{_td('')}{_td(escaped(compiled))}{_td(escaped(ahead))}</tr>"


def _row(report: CompileReport, call: CompiledCall) -> str:
    sizes = f"<code>{escaped(call.sizes)}</code>" if call.sizes else "as in the example"
    reasons = "".join(
        f"<br><small>{_code(recompile_sentence(each))}</small>" for each in call.recompiles
    )
    left = f"{_sentence(call)}{reasons}{_steps(report, call)}"
    return f"<tr>{_td(sizes)}{_td(left)}{_td(_export(report, call))}</tr>"


def _sentence(call: CompiledCall) -> str:
    strong = call.outcome in ("recompiled", "failed")
    text = escaped(call_sentence(call))
    return f'<b style="color:{_GAP}">{text}</b>' if strong else text


def _export(report: CompileReport, call: CompiledCall) -> str:
    mark, colour = _MARKS.get(call.export, ("!", _GAP))
    said = f'<b style="color:{colour}">{mark}</b> {EXPORT_SAYS[call.export]}'
    if call.rule:
        said += f"<br><small>{_code(rule_sentence(call))}</small>"
    if call.export == "no program":
        place = (
            f"<br><code>{escaped(place_text(report.sentence_place))}</code>"
            if report.sentence_place
            else ""
        )
        said += f"<br><small>{escaped(report.sentence)}{place}</small>"
    return said


def _steps(report: CompileReport, call: CompiledCall) -> str:
    """The pieces in order, where there are more than one."""
    if len(call.steps) < 2 and not any(each.kind == "gap" for each in call.steps):
        return ""
    shown = " → ".join(_step(report, each) for each in call.steps[:_MOST_STEPS])
    left = len(call.steps) - _MOST_STEPS
    more = f" … and {left:,} more" if left > 0 else ""
    return f'<div style="line-height:2">{shown}{more}</div>'


def _step(report: CompileReport, step: Step) -> str:
    if step.kind == "graph":
        given = report.graphs[step.number - 1]
        text = f"graph {step.number}: {ops_text(given)}"
        return f'<span style="{_PIECE} #4a76b8">{escaped(text, 120)}</span>'
    gap = report.gaps[step.number]
    line = f", line {gap.places[-1].line}" if gap.places else ""
    text = f"interpreter: {gap.reason}{line}"
    return f'<span style="{_PIECE} {_GAP};border-style:dashed">{escaped(text, 120)}</span>'


def _graphs(graphs: list[CompiledGraph]) -> str:
    if not graphs:
        return "<p>torch.compile found no graph.</p>"
    heads = "".join(
        f'<th style="{_CELL}">{each}</th>' for each in ("Graph", "Inputs", "Sizes", "Ops", "From")
    )
    rows = "".join(_graph(number, each) for number, each in enumerate(graphs, 1))
    return (
        f"<details{' open' if len(graphs) <= 6 else ''}><summary>Graphs that torch.compile cut "
        f'({len(graphs):,})</summary><table style="width:100%;border-collapse:collapse">'
        f"<tr>{heads}</tr>{rows}</table></details>"
    )


def _graph(number: int, given: CompiledGraph) -> str:
    place = given.place
    cells = (
        str(number),
        _code(", ".join(given.inputs)),
        _code("; ".join(given.sizes)) if given.sizes else "these alone",
        escaped(ops_text(given)),
        escaped(f"{place.file}, line {place.line}") if place else "",
    )
    return f"<tr>{''.join(_td(each) for each in cells)}</tr>"


def _gaps(gaps: list[Gap]) -> str:
    return "".join(_gap(each) for each in gaps)


def _gap(gap: Gap) -> str:
    page = (
        f" ({escaped(gap.page)}: <code>%graph_breaks {escaped(gap.page)}</code>)"
        if gap.page
        else ""
    )
    places = "".join(f"<br><code>{escaped(place_text(each))}</code>" for each in gap.places)
    hints = "".join(f"<li>{escaped(each, 1000)}</li>" for each in gap.hints)
    return (
        f'<details open><summary><b style="color:{_GAP}">Gap</b>: {escaped(gap.reason)}{page}'
        f"</summary><p>{escaped(gap.explanation, 1000)}{places}</p>"
        f"{f'<ul>{hints}</ul>' if hints else ''}</details>"
    )


def _contract(report: CompileReport) -> str:
    if not report.exported:
        return ""
    shown = "".join(f"<li><code>{escaped(each)}</code></li>" for each in report.contract)
    said = f"<ul>{shown}</ul>" if shown else "<p>Every size is fixed.</p>"
    return f"<p><b>The contract of the one exported graph</b></p>{said}"


def _td(inner: str) -> str:
    return f'<td style="{_CELL}">{inner}</td>'


def _code(text: str) -> str:
    return f"<code>{escaped(text)}</code>"

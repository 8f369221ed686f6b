"""The comparison of torch.compile and torch.export as HTML without scripts. All text is escaped."""

from __future__ import annotations

from explorer.text.escape import escape_html, escape_with_code
from explorer.vs_compile.text import (
    EXPORT_SAYS,
    MOST_GUARDS,
    asker,
    call_sentence,
    compile_sentence,
    guards_left,
    ops_text,
)
from export_engine.record import (
    CodePlace,
    CompiledCall,
    CompiledGraph,
    CompileReport,
    Gap,
    Recompile,
    Step,
)

_GOOD, _BAD, _GAP, _GRAPH = (
    f"color-mix(in srgb, {text} 75%, currentcolor)"
    for text in ("#2b9a58", "#d6453d", "#b8720a", "#4a76b8")
)
"""Mixed with the text's colour, readable on white and on black."""
_CELL = "text-align:left;vertical-align:top;padding:6px 10px;white-space:normal;line-height:1.6"
_TABLE = "width:100%;border-collapse:collapse;table-layout:auto"
_PIECE = "margin:3px 0;padding:1px 8px;border-left:4px"
_MARKS = {"takes": ("✓", _GOOD), "refuses": ("✗", _BAD), "no program": ("✗", _BAD)}
_MOST_STEPS = 40
_LONGEST = 1000
"""The longest sentence of torch shown, in characters."""


def report_html(report: CompileReport) -> str:
    """All of it: both sides per call, then the graphs, the gaps and the contract."""
    calls = "".join(_row(report, call) for call in report.calls)
    return (
        '<div style="max-width:1100px;overflow-wrap:anywhere">'
        f"<p><b><code>{escape_html(report.title)}</code></b>: torch.compile and torch.export</p>"
        f'<table style="{_TABLE}"><thead>{_heads(report)}</thead><tbody>{calls}</tbody></table>'
        f"{_graphs(report.graphs)}{_gaps(report.gaps)}</div>"
    )


def _heads(report: CompileReport) -> str:
    """The summary of each side, over all calls."""
    names = ("Call", "torch.compile, just in time", "torch.export, ahead of time")
    heads = "".join(f'<th style="{_CELL}">{name}</th>' for name in names)
    contract = ", ".join(report.contract) or "every size is fixed"
    ahead = f"one graph; {_code(contract)}" if report.exported else escape_html(report.verdict)
    sums = f"{_td('')}{_td(escape_html(compile_sentence(report)))}{_td(ahead)}"
    return f"<tr>{heads}</tr><tr>{sums}</tr>"


def _row(report: CompileReport, call: CompiledCall) -> str:
    # Of each size, on the code itself: JupyterLab's own rule would break it.
    each_size = filter(None, call.sizes.split(", "))
    sizes = ", ".join(
        f'<code style="white-space:nowrap">{escape_html(text)}</code>' for text in each_size
    )
    left = f"{_sentence(report, call)}{_recompiles(call)}{_steps(report, call)}"
    cells = (sizes or "the example", left, _export(report, call))
    return f"<tr>{''.join(_td(cell) for cell in cells)}</tr>"


def _sentence(report: CompileReport, call: CompiledCall) -> str:
    strong = call.outcome in ("recompiled", "failed", "interpreted")
    text = escape_html(call_sentence(report, call))
    return f'<b style="color:{_GAP}">{text}</b>' if strong else text


def _recompiles(call: CompiledCall) -> str:
    left = guards_left(call)
    more = f"<div>{left}</div>" if left else ""
    return "".join(map(_recompile, call.recompiles[:MOST_GUARDS])) + more


def _recompile(given: Recompile) -> str:
    return f"<div>{asker(given)} requires {_code(given.guard)}{_at(given.place)}</div>"


def _export(report: CompileReport, call: CompiledCall) -> str:
    mark, colour = _MARKS.get(call.export, ("!", _GAP))
    text = f'<b style="color:{colour}">{mark}</b> {EXPORT_SAYS[call.export]}'
    if call.rule:
        text += f"<div>asks {_code(call.rule)}{_at(call.rule_place)}</div>"
    if call.export == "no program":
        text += (
            f"<div>{escape_with_code(report.sentence, _LONGEST)}{_at(report.sentence_place)}</div>"
        )
    return text


def _at(place: CodePlace | None) -> str:
    """The line that added the guard."""
    if place is None:
        return ""
    where = f"<small>{escape_html(place.file)}, line {place.line}</small>"
    return f"<div>{where} {_code(place.text) if place.text else ''}</div>"


def _steps(report: CompileReport, call: CompiledCall) -> str:
    """The pieces in order, where there are more than one."""
    if len(call.steps) < 2 and not any(step.kind == "gap" for step in call.steps):
        return ""
    shown = "".join(_step(report, step) for step in call.steps[:_MOST_STEPS])
    left = len(call.steps) - _MOST_STEPS
    return shown + (f"<div>… and {left:,} more</div>" if left > 0 else "")


def _step(report: CompileReport, step: Step) -> str:
    if step.kind == "graph":
        ops = escape_html(ops_text(report.graphs[step.number - 1]), 200)
        return f'<div style="{_PIECE} solid {_GRAPH}"><b>graph {step.number}</b>: {ops}</div>'
    gap = report.gaps[step.number]
    place = _at(gap.places[-1]) if gap.places else ""
    return (
        f'<div style="{_PIECE} dashed {_GAP}"><b style="color:{_GAP}">interpreter</b>: '
        f"{escape_html(gap.reason)}{place}</div>"
    )


def _graphs(graphs: list[CompiledGraph]) -> str:
    if not graphs:
        return "<p>torch.compile found no graph.</p>"
    names = ("Graph", "Inputs", "Sizes", "Ops", "From")
    heads = "".join(f'<th style="{_CELL}">{name}</th>' for name in names)
    rows = "".join(_graph(number, graph) for number, graph in enumerate(graphs, 1))
    table = f'<table style="{_TABLE}"><tr>{heads}</tr>{rows}</table>'
    return _make_details(f"Graphs made by torch.compile ({len(graphs):,})", table)


def _graph(number: int, given: CompiledGraph) -> str:
    place = given.place
    cells = (
        str(number),
        "<br>".join(_code(text) for text in given.inputs),
        "<br>".join(_code(size) for size in given.sizes) or "these alone",
        _make_details(
            escape_html(ops_text(given)), f"<pre>{escape_html(given.code, 40_000)}</pre>"
        ),
        escape_html(f"{place.file}, line {place.line}") if place else "",
    )
    return f"<tr>{''.join(_td(cell) for cell in cells)}</tr>"


def _gaps(gaps: list[Gap]) -> str:
    """Each kind of gap once, with torch's explanation."""
    kinds = {gap.reason: gap for gap in gaps}
    return "".join(_gap(kind) for kind in kinds.values())


def _gap(gap: Gap) -> str:
    page = f" · <code>%graph_breaks {escape_html(gap.page)}</code>" if gap.page else ""
    hints = "".join(f"<li>{escape_with_code(hint, _LONGEST)}</li>" for hint in gap.hints)
    listed = f"<ul>{hints}</ul>" if hints else ""
    why = f"<p>{escape_with_code(gap.explanation, _LONGEST)}</p>{listed}"
    return _make_details(f"Why it runs in the interpreter: {escape_html(gap.reason)}{page}", why)


def _make_details(title: str, inner: str) -> str:
    """A title tall enough to tap, and what it opens."""
    return f'<details><summary style="padding:2px 0">{title}</summary>{inner}</details>'


def _td(inner: str) -> str:
    return f'<td style="{_CELL}">{inner}</td>'


def _code(text: str) -> str:
    return f"<code>{escape_html(text)}</code>"

"""A static picture of an attempt, for where no widget runs: a saved notebook, nbconvert, GitHub.

Plain HTML with an inline SVG: no script, no style sheet, no address. All text is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence

from explorer.text.attempt_text import (
    failing_place,
    fix_lines,
    format_count,
    input_rows,
    output_rows,
    size_rows,
)
from explorer.text.escape import escape_html
from explorer.text.layered_layout import Point, Size, make_layout
from explorer.text.outline import Block, few_blocks
from explorer.text.pane_text import pane_text
from explorer.text.release_verdict import release_of
from export_engine.record import Record

_SIZE = Size(width=210, height=40, gap=18, row=24)
_MOST_BLOCKS, _MOST_ROWS, _MOST_LINES = 28, 40, 300
_COLOURS = {"input": "#1b8a5a", "output": "#b03060", "op": "#4a76b8", "scope": "#7b8494"}


def static_html(
    record: Record,
    pane: str = "all",
    others: Sequence[str] = (),
    note: str = "A static picture. Run the notebook to explore it.",
) -> str:
    """An attempt as HTML: verdict, the graph's top level, signature and sizes; or the failure.

    Args:
        record: the attempt.
        pane: the one pane to show, or `all`.
        others: verdicts of other attempts at the same call.
        note: why this is a static picture.
    """
    verdicts = "".join(f"<br>{escape_html(f'also tried: {other}')}" for other in others)
    title = (
        f"<p><b><code>{escape_html(record.title)}</code></b>: "
        f"{escape_html(record.verdict)}{verdicts}</p>"
    )
    verdict = release_of(record)
    told = verdict.begun and not record.failure and pane == "all"
    release = f"<p>{escape_html(verdict.sentence)}</p>" if told else ""
    return (
        f"<div>{title}{release}{_body(record, pane)}<p><small>{escape_html(note)}</small></p></div>"
    )


def _body(record: Record, pane: str) -> str:
    if record.failure:
        return _failure(record)
    tables = {
        "signature": [*input_rows(record), *output_rows(record)],
        "shapes": size_rows(record),
    }
    if pane == "graph":
        return _picture(record)
    if pane in tables:
        return _table(tables[pane])
    if pane == "all":
        return _picture(record) + _table([*tables["signature"], *tables["shapes"]])
    return _lines(pane_text(record, pane))


def _failure(record: Record) -> str:
    failure = record.failure
    assert failure is not None
    place, code = failing_place(record)
    where = f"<p>at <code>{escape_html(place)}</code></p>" if place else ""
    line = f"<pre>{escape_html(code)}</pre>" if code else ""
    why = f"<p>{escape_html(failure.why)}</p>" if failure.why else ""
    return f"<p>{escape_html(failure.sentence)}</p>{where}{line}{why}{_lines(fix_lines(record))}"


def _lines(lines: list[str]) -> str:
    if not lines:
        return ""
    shown = "\n".join(escape_html(line) for line in lines[:_MOST_LINES])
    left = len(lines) - _MOST_LINES
    return f"<pre>{shown}</pre>" + (_small(f"and {left:,} more lines") if left > 0 else "")


def _table(rows: list[tuple[str, str, str]]) -> str:
    cells = "".join(
        f"<tr><td>{escape_html(kind)}</td><td><code>{escape_html(name)}</code></td>"
        f"<td><code>{escape_html(text)}</code></td></tr>"
        for kind, name, text in rows[:_MOST_ROWS]
    )
    left = len(rows) - _MOST_ROWS
    table = f"<table>{cells}</table>" if cells else ""
    return table + (_small(f"and {left:,} more") if left > 0 else "")


def _picture(record: Record) -> str:
    left = len(few_blocks(record)) - _MOST_BLOCKS
    return picture_svg(record) + (_small(f"and {left:,} more") if left > 0 else "")


def picture_svg(record: Record) -> str:
    """The graph's top level as an SVG of its own; empty where there is no graph."""
    shown = few_blocks(record)[:_MOST_BLOCKS]
    if not shown:
        return ""
    pinned = [number for number, block in enumerate(shown) if block.kind == "input"]
    inputs = [[source for source in block.inputs if source < len(shown)] for block in shown]
    placed = make_layout(inputs, _SIZE, pinned)
    parts = [_edge(points) for points in placed.edges]
    parts += [_box(block, *corner) for block, corner in zip(shown, placed.boxes, strict=True)]
    style = "max-width: 100%; height: auto; display: block; margin: 4px 0 12px"
    width, height = round(placed.width) + 4, round(placed.height) + 4
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="-2 -2 {width} {height}" role="img" aria-label="The graph\'s top level" '
        f'style="{style}">{"".join(parts)}</svg>'
    )


def _box(block: Block, x: float, y: float) -> str:
    colour, size = _COLOURS[block.kind], _SIZE
    x, y = round(x), round(y)
    details = [block.type or block.subtitle]
    if block.kind == "scope":
        details = [block.subtitle, format_count(block.ops, "op")]
    elif block.ops > 1:
        details.insert(0, format_count(block.ops, "op"))
    font = 'font-family="sans-serif" fill="#1c1e22"'
    box = f'x="{x}" y="{y}" height="{size.height:g}"'
    return (
        f'<rect {box} width="{size.width:g}" rx="5" fill="#fff" stroke="{colour}"/>'
        f'<rect {box} width="4" fill="{colour}"/>'
        f'<text x="{x + 12}" y="{y + 17}" font-size="12" font-weight="600" {font}>'
        f"{escape_html(block.title, 28)}</text>"
        f'<text x="{x + 12}" y="{y + 32}" font-size="10.5" {font} fill-opacity="0.7">'
        f"{escape_html(' · '.join(value for value in details if value), 36)}</text>"
    )


def _edge(points: list[Point]) -> str:
    """A curve between rows, a straight line past a box; the points come in pairs."""
    path = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
    for (x1, y1), (x2, y2) in zip(points[::2], points[1::2], strict=True):
        middle = (y1 + y2) / 2
        path += (
            f" L{x1:.0f} {y1:.0f} C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}"
        )
    return f'<path d="{path}" fill="none" stroke="#98a1b0"/>'


def _small(text: str) -> str:
    return f"<p><small>{escape_html(text)}</small></p>"

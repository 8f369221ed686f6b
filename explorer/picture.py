"""A static picture of an attempt, for where no widget runs: a saved notebook, nbconvert, GitHub.

Plain HTML with an inline SVG: no script, no style sheet, no address. All text is escaped.
"""

from __future__ import annotations

from explorer.escape import escaped
from explorer.outline import Block, top_blocks
from export_engine.record import Record

_WIDTH, _HEIGHT, _GAP, _COLUMN = 230, 40, 26, 260
_MOST_BLOCKS = 24
_COLOURS = {"input": "#1b8a5a", "output": "#b03060", "op": "#4a76b8", "scope": "#7b8494"}


def static_html(record: Record) -> str:
    """The attempt as HTML: verdict, graph's top level and the signature, or the failure."""
    title = f"<b><code>{escaped(record.title)}</code></b> — {escaped(record.verdict)}"
    body = _failure(record) if record.failure else _picture(record) + _signature(record)
    note = "<p><small>A static picture. Run the notebook to explore it.</small></p>"
    return f"<div>{title}{body}{note}</div>"


def _failure(record: Record) -> str:
    failure = record.failure
    assert failure is not None
    place = ""
    if failure.stack >= 0:
        frame = record.stacks.items[record.stacks.starts[failure.stack + 1] - 1]
        file = record.files[record.frames.file[frame]].name
        place = f"<p>at <code>{escaped(file)}:{record.frames.line[frame]}</code></p>"
    return f"<p>{escaped(failure.sentence)}</p>{place}"


def _picture(record: Record) -> str:
    blocks = top_blocks(record)
    if not blocks:
        return ""
    shown, left = blocks[:_MOST_BLOCKS], len(blocks) - _MOST_BLOCKS
    spots = _spots(shown)
    width = max(x for x, _ in spots) + _WIDTH + 2
    height = max(y for _, y in spots) + _HEIGHT + 2
    parts = [
        _edge(spots[source], spots[number])
        for number, block in enumerate(shown)
        for source in block.inputs
    ]
    parts += [_box(block, *spot) for block, spot in zip(shown, spots, strict=True)]
    more = f"<p><small>and {left} more</small></p>" if left > 0 else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-label="The graph\'s top level">'
        f"{''.join(parts)}</svg>{more}"
    )


def _spots(blocks: list[Block]) -> list[tuple[int, int]]:
    """Each block one row below the last of those it reads; blocks of one row side by side."""
    rows: list[int] = []
    filled: dict[int, int] = {}
    spots = []
    for block in blocks:
        row = max((rows[source] + 1 for source in block.inputs), default=0)
        rows.append(row)
        column = filled.get(row, 0)
        filled[row] = column + 1
        spots.append((1 + column * _COLUMN, 1 + row * (_HEIGHT + _GAP)))
    return spots


def _box(block: Block, x: int, y: int) -> str:
    colour = _COLOURS[block.kind]
    subtitle = f"{block.subtitle} · {block.ops} ops" if block.kind == "scope" else block.subtitle
    font = 'font-family="sans-serif" fill="#1c1e22"'
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="5" fill="#fff" '
        f'stroke="{colour}"/><rect x="{x}" y="{y}" width="4" height="{_HEIGHT}" fill="{colour}"/>'
        f'<text x="{x + 12}" y="{y + 17}" font-size="12" font-weight="600" {font}>'
        f"{escaped(block.title, 30)}</text>"
        f'<text x="{x + 12}" y="{y + 32}" font-size="10.5" {font} fill-opacity="0.7">'
        f"{escaped(subtitle, 38)}</text>"
    )


def _edge(source: tuple[int, int], target: tuple[int, int]) -> str:
    x1, y1 = source[0] + _WIDTH // 2, source[1] + _HEIGHT
    x2, y2 = target[0] + _WIDTH // 2, target[1]
    bend = (y2 - y1) // 2
    path = f"M{x1} {y1} C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}"
    return f'<path d="{path}" fill="none" stroke="#98a1b0"/>'


def _signature(record: Record) -> str:
    rows = [
        ("input", entry.path or entry.name, entry.constant or record.types[entry.type].text)
        for entry in record.signature.inputs
        if entry.kind == "user_input"
    ]
    rows += [
        (
            entry.kind.replace("_", " "),
            entry.target or entry.path or entry.name,
            entry.constant or record.types[entry.type].text,
        )
        for entry in record.signature.outputs
    ]
    cells = "".join(
        f"<tr><td>{escaped(kind)}</td><td><code>{escaped(name)}</code></td>"
        f"<td><code>{escaped(text)}</code></td></tr>"
        for kind, name, text in rows[:60]
    )
    return f"<table>{cells}</table>" if cells else ""

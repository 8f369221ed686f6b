"""One HTML file that shows a session's attempts, without a kernel and without a network.

The page holds the same front end as a notebook and the replies of a kernel. Everything from the
model is packed data, and the front end sets text only as text.
"""

from __future__ import annotations

import base64
import gzip
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from explorer.session.entry import Entry
from explorer.session.joined import JoinedSession
from explorer.session.session import Session
from explorer.text.escape import escape_html
from explorer.text.static_picture import static_html
from explorer.text.validate_options import check_writable

if TYPE_CHECKING:
    from explorer.page.messages import Code, CodeText
    from export_engine.cost import CostTable
    from export_engine.record import SetFinding
    from export_engine.source import Token

T = TypeVar("T")

GENERATOR = '<meta name="generator" content="Export Explorer">'
"""Identifies a report of Export Explorer."""
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob: data:; "
    "worker-src blob: data:; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
"""The browser itself keeps the page from the network."""
_ALL_COLOURED = 0.6
"""CPU seconds allowed for highlighting the files of an archive."""
_CODE_COLOURED = 1.0
"""The same for its graphs, printed."""
_MOST_COMPARED = 4
"""Attempts: each is compared with each other one."""
_START = """
const unpacked = async (id) => {
  const text = document.getElementById(id).textContent;
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};
const loaded = async (id) => {
  const source = new Blob([await unpacked(id)], { type: "text/javascript" });
  return import(URL.createObjectURL(source));
};
const home = document.getElementById("report");
try {
  const layout = loaded("layout").then((module) => module.default);
  layout.catch(() => {});
  const { mountFrozen } = await loaded("front-end");
  await mountFrozen(document.getElementById("held").textContent, home, layout);
} catch (error) {
  const note = document.createElement("p");
  note.textContent = `The interactive view cannot start: ${error}. A static picture is below.`;
  home.prepend(note);
}
"""


def write_report(
    session: Session,
    path: str | Path,
    compared: int = -1,
    preface: str = "",
    values: bool = False,
) -> Path:
    """Writes the page.

    Args:
        session: whose attempts.
        path: where to; a file that is there is replaced.
        compared: the attempt that the current one is compared with from the start; -1 for none.
        preface: HTML above the view; the caller has escaped it.
        values: whether statistics of runs that were watched are in it.

    Returns:
        The path.

    Raises:
        OSError: the file cannot be written.
        FrontEndMissing: the front end was not built.
    """
    file = Path(path)
    check_writable(file)
    file.write_text(report_html(session, compared, preface, values), encoding="utf-8")
    return file


def report_html(
    session: Session, compared: int = -1, preface: str = "", values: bool = False
) -> str:
    """The page's text. Raises FrontEndMissing."""
    from widgets import front_end, front_end_layout, front_end_notices

    record = session.entry.record
    title = escape_html(record.title or "program")
    licences = front_end_notices()
    held = _pack(encode_page(session, compared, values))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{GENERATOR}
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{escape_html(_POLICY)}">
<title>{title}</title>
<style>
html {{ color-scheme: light dark; }}
body {{ margin: 0; font-family: system-ui, sans-serif; background: Canvas; color: CanvasText; }}
#report {{ padding: 8px; --tx-height: calc(100vh - 24px); }}
</style>
</head>
<body>
{f'<section style="padding: 4px 16px; font-size: 14px">{preface}</section>' if preface else ""}
<main id="report">{static_html(record, note="")}</main>
<script type="application/octet-stream" id="front-end">{_pack(front_end())}</script>
<script type="application/octet-stream" id="layout">{_pack(front_end_layout())}</script>
<script type="application/octet-stream" id="held">{held}</script>
<script type="module">{_START}</script>
<template id="licences"><pre>{escape_html(licences, most=len(licences))}</pre></template>
</body>
</html>
"""


def encode_page(session: Session, compared: int = -1, values: bool = False) -> bytes:
    """The data of a page without a kernel: `messages.Frozen` as JSON."""
    import msgspec

    from explorer.page.messages import Frozen, SetState
    from explorer.results.weight_differences import compare_entries as differences
    from export_engine.diff import text_differences
    from export_engine.record import encode

    entries = session.entries
    programs = session if isinstance(session, JoinedSession) else None
    held = Frozen(
        attempts=session.heads(),
        current=session.current,
        compared=compared,
        records=[
            base64.b64encode(entry.encoded if values else encode(entry.kept)).decode()
            for entry in entries
        ],
        sources=[_sources(entry) for entry in entries],
        codes=[_codes(entry) for entry in entries],
        diffs=_compare_pairs(entries, differences),
        texts=_compare_pairs(
            entries, lambda one, other: text_differences(one.record, other.record)
        ),
        pages=_pages(entries, programs.record.findings if programs else ()),
        programs=SetState(programs.record, programs.numbers()) if programs else None,
        costs=[_cost(entry) for entry in entries],
    )
    return msgspec.json.encode(held)


def _pages(entries: Sequence[Entry], between: Sequence[SetFinding]) -> dict[str, CodeText]:
    """The pages on the codes of all attempts; a file may name codes that this version lacks."""
    from explorer.display.handlers import code_text
    from export_engine.record import codes_in
    from export_engine.rules import CODES

    codes = {code for entry in entries for code in codes_in(entry.record)}
    codes |= {set_finding.code for set_finding in between}
    return {code: code_text(code) for code in sorted(codes & {*CODES})}


def _compare_pairs(
    entries: Sequence[Entry], compare: Callable[[Entry, Entry], T]
) -> list[list[T | None]]:
    """Per attempt, what to say beside each other one; null where there is nothing to compare."""

    def compare_entries(entry: Entry, other: Entry) -> T | None:
        if entry is other or not entry.ok or not other.ok:
            return None
        return compare(other, entry)

    few = entries if len(entries) <= _MOST_COMPARED else ()
    return [[compare_entries(entry, other) for other in few] for entry in few]


def _sources(entry: Entry) -> list[list[list[Token]] | None]:
    from export_engine.source import SourceMissing, source_lines, spent_seconds

    result: list[list[list[Token]] | None] = []
    inside = entry.record.sources_inside  # the text comes from whoever made the archive
    until = spent_seconds() + (_ALL_COLOURED if inside else math.inf)
    for number in range(len(entry.record.files)):
        try:
            left = max(until - spent_seconds(), 0.0)
            result.append(source_lines(entry.record, number, left))
        except SourceMissing:
            result.append(None)
    return result


def _cost(entry: Entry) -> CostTable | None:
    from export_engine.cost import cost_of, table_of

    return table_of(cost_of(entry.record)) if entry.record.failure is None else None


def _codes(entry: Entry) -> list[Code]:
    from explorer.display.handlers import print_code
    from export_engine.source import spent_seconds

    until = spent_seconds() + _CODE_COLOURED
    return [
        print_code(entry.record, number, max(until - spent_seconds(), 0.0))
        for number in range(len(entry.record.graphs))
    ]


def _pack(data: bytes) -> str:
    """Base64 has no character that is special in HTML."""
    return base64.b64encode(gzip.compress(data, 6, mtime=0)).decode()

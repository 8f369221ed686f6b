"""A survey as one HTML page: a table to filter, sort and group, without a network.

The table is written here, escaped; the script moves and hides rows that are there, and reads no
text as HTML.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.surveys.rows import GOOD, Row, by_code, count_groups, headline
from explorer.text.escape import escape_html

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_NUMBERS = ("ops", "parameters", "seconds", "MB")
_SHARED = ("group", "mode", "torch")
"""Columns that are left out where all rows have the same in them."""
_GROUPED = ("code", "outcome", "group", "mode", "torch")
"""Columns that rows can be grouped by."""
_GROUP_HEADS = ("group", "models", "export", "export with fixes", "match eager")
_WITHOUT_GROUPS = 2
"""Counts of one group: its own, and those of all rows."""
_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#c8ccd1, #45494f);
  --good: light-dark(#0b6b2e, #7ddb9a); --bad: light-dark(#a31515, #ff9b93); }
body { margin: 16px; font: 14px/1.4 system-ui, sans-serif; background: Canvas; color: CanvasText; }
h1 { font-size: 20px; margin: 0 0 4px; } h2 { font-size: 16px; }
form { display: flex; flex-wrap: wrap; gap: 12px; margin: 12px 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; } th, td { padding: 4px 8px; text-align: left;
  vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { position: sticky; top: 0; background: Canvas; white-space: nowrap; }
thead button { font: inherit; font-weight: 600; border: 0; padding: 2px; background: none;
  color: inherit; cursor: pointer; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tbody th { font-weight: 600; } th small { display: block; font-weight: 400; max-width: 22em; }
td.why { min-width: 15em; max-width: 40em; overflow-wrap: anywhere; }
td.eager { min-width: 8.5em; max-width: 20em; } summary { cursor: pointer; }
td.good { color: var(--good); }
td.bad { color: var(--bad); } tr.group th { text-align: left; padding-top: 14px; }
.bar { display: inline-block; height: 10px; background: currentColor; opacity: 0.55; }
"""
_SCRIPT = """
const table = document.getElementById("trials");
const body = table.tBodies[0];
const columns = [...table.tHead.rows[0].cells].map((head) => head.textContent);
const rows = [...body.rows];
const found = document.getElementById("shown");
let sorted = -1;
let down = false;
const cell = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
const show = () => {
  const words = document.getElementById("filter").value.toLowerCase().split(/\\s+/).filter(Boolean);
  const outcome = document.getElementById("outcome").value;
  const group = columns.indexOf(document.getElementById("group").value);
  const at = columns.indexOf("outcome");
  const kept = rows.filter((row) => (!outcome || cell(row, at) === outcome) &&
    words.every((word) => row.textContent.toLowerCase().includes(word)));
  if (sorted >= 0) {
    kept.sort((a, b) => {
      const [x, y] = [cell(a, sorted), cell(b, sorted)];
      const order = x !== "" && y !== "" && !isNaN(x) && !isNaN(y) ? x - y : x.localeCompare(y);
      return down ? -order : order;
    });
  }
  body.replaceChildren();
  if (group < 0) body.append(...kept);
  else {
    for (const name of [...new Set(kept.map((row) => cell(row, group)))].sort()) {
      const members = kept.filter((row) => cell(row, group) === name);
      const head = document.createElement("tr");
      const title = document.createElement("th");
      head.className = "group";
      title.colSpan = rows[0].cells.length;
      title.scope = "rowgroup";
      title.textContent = `${name || "none"}: ${members.length}`;
      head.append(title);
      body.append(head, ...members);
    }
  }
  found.textContent = `${kept.length} of ${rows.length} trials`;
};
for (const id of ["filter", "outcome", "group"]) {
  document.getElementById(id).addEventListener("input", show);
}
document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
table.querySelectorAll("thead button").forEach((button, column) => {
  button.addEventListener("click", () => {
    down = sorted === column && !down;
    sorted = column;
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", down ? "descending" : "ascending");
    show();
  });
});
show();
"""


def survey_page(rows: Sequence[Row]) -> str:
    """The page's text."""
    columns = _columns(rows)
    heads = "".join(
        f'<th scope="col"><button type="button">{escape_html(name)}</button></th>'
        for name in columns
    )
    cells = "\n".join(f"<tr>{''.join(_cells(row, columns))}</tr>" for row in rows)
    groups = "".join(f"<option>{name}</option>" for name in _GROUPED if name in columns)
    day = time.strftime("%Y-%m-%d")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="Export Explorer">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{escape_html(_POLICY)}">
<title>Survey of exports</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Survey of exports</h1>
<p>{escape_html(headline(rows))} {escape_html(_same_for_all(rows))}{day}.</p>
{_groups(rows)}
{_histogram(rows)}
<form role="search">
<label>Filter <input id="filter" type="search"></label>
<label>Outcome <select id="outcome"><option value="">all</option>
{_outcomes(rows)}</select></label>
<label>Group by <select id="group"><option value="">nothing</option>{groups}</select></label>
<output id="shown"></output>
</form>
<div class="scroll" tabindex="0" role="region" aria-label="Trials">
<table id="trials">
<thead><tr>{heads}</tr></thead>
<tbody>
{cells}
</tbody>
</table>
</div>
</main>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def _groups(rows: Sequence[Row]) -> str:
    """How the trials of each group ended; nothing if there is one group."""
    counts = count_groups(rows)
    if len(counts) <= _WITHOUT_GROUPS:
        return ""
    heads = "".join(f'<th scope="col">{head}</th>' for head in _GROUP_HEADS)
    lines = "".join(
        f'<tr><th scope="row">{escape_html(count.group)}</th>'
        + "".join(
            f'<td class="number">{number:,}</td>'
            for number in (count.trials, count.exported, count.fixed, count.agree)
        )
        + "</tr>"
        for count in counts
    )
    return f"<h2>By group</h2><table><thead><tr>{heads}</tr></thead><tbody>{lines}</tbody></table>"


def _histogram(rows: Sequence[Row]) -> str:
    """Failures by their codes, as bars."""
    codes = by_code(rows)
    if not codes:
        return ""
    most = max(map(len, codes.values()))
    bars = "".join(
        f'<tr><th scope="row">{escape_html(code)}</th><td>{escape_html(failed[0].kind)}</td>'
        f'<td class="number">{len(failed)}</td>'
        f'<td><span class="bar" style="width: {180 * len(failed) // most + 1}px"></span></td>'
        f'<td class="number">{sum(row.outcome == "fixed" for row in failed)} fixed</td></tr>'
        for code, failed in codes.items()
    )
    return f"<h2>Failures by code, including fixed ones</h2><table><tbody>{bars}</tbody></table>"


def _outcomes(rows: Sequence[Row]) -> str:
    names = sorted({row.outcome for row in rows})
    return "".join(f"<option>{escape_html(name)}</option>" for name in names)


def _columns(rows: Sequence[Row]) -> list[str]:
    """The columns that tell rows apart, or that some row has something in."""
    varied = [name for name in _SHARED if len({getattr(row, name) for row in rows}) > 1]
    run = ["backends"] if any(row.backends for row in rows) else []
    return ["model", *varied, "outcome", "code", "sizes, or why not", "eager", *run, *_NUMBERS]


def _same_for_all(rows: Sequence[Row]) -> str:
    """What is the same in all rows, and has no column: `torch 2.15.0, non-strict, `."""
    same = []
    for name in _SHARED:
        values = {getattr(row, name) for row in rows}
        if len(values) == 1 and (value := values.pop()):
            same.append(f"torch {value}" if name == "torch" else value)
    return "".join(f"{item}, " for item in same)


def _cells(row: Row, columns: Sequence[str]) -> Iterator[str]:
    """The cells of a trial, one per column."""
    name = escape_html(row.name)
    if row.page:
        name = f'<a href="{escape_html(_link(row.page))}">{name}</a>'
    shapes = f"<small>{escape_html(row.shapes)}</small>" if row.shapes else ""
    yield f'<th scope="row" data-value="{escape_html(row.name)}">{name}{shapes}</th>'
    yield from (_cell(getattr(row, name)) for name in _SHARED if name in columns)
    yield _cell(row.outcome, "good" if row.ok else "bad")
    yield _cell(row.code)
    why = escape_html(_explanation(row)).replace("/", "/<wbr>")
    yield f'<td class="why">{why}</td>'
    yield _write_values(row)
    if "backends" in columns:
        yield _cell(", ".join(f"{backend.backend} {backend.outcome}" for backend in row.backends))
    for number in (sum(row.ops.values()), row.parameters):
        yield f'<td class="number" data-value="{number}">{number:,}</td>'
    yield f'<td class="number" data-value="{row.seconds}">{row.seconds:,.1f}</td>'
    yield f'<td class="number" data-value="{row.peak}">{row.peak // 10**6:,}</td>'


def _explanation(row: Row) -> str:
    """Why there is no program; of a program, the ranges of its sizes, and what cured it."""
    if row.outcome not in GOOD:
        return f"{row.place}: {row.sentence}" if row.place else row.sentence
    ranges = [f"{name} in {interval}" for name, interval in row.symbols.items()]
    text = ", ".join(ranges) or "all sizes static"
    if row.outcome == "fixed":
        text += f"; failed in {row.place}" if row.place else ""
        text += f"; fixed by: {'; '.join(row.fixes)}"
    return text


def _write_values(row: Row) -> str:
    """The verdict compared with eager; the sentence with all sizes opens below it."""
    text = f"{row.agrees}, {row.sizes} calls" if row.sizes else row.agrees
    if not row.agreement:
        return f'<td class="eager" data-value="{row.agrees}">{text}</td>'
    more = f"<details><summary>{text}</summary>{escape_html(row.agreement)}</details>"
    return f'<td class="eager" data-value="{row.agrees}">{more}</td>'


def _cell(text: str, kind: str = "") -> str:
    return (
        f'<td class="{kind}">{escape_html(text)}</td>' if kind else f"<td>{escape_html(text)}</td>"
    )


def _link(page: str) -> str:
    return Path(page).as_uri() if Path(page).is_absolute() else page

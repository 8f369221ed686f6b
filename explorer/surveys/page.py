"""A survey as one HTML page: a table to filter, sort and group, without a network.

The table is written here, escaped; the script moves and hides rows that are there, and reads no
text as HTML.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from explorer.surveys.rows import Row, by_code, headline
from explorer.text.escape import escaped

_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
_COLUMNS = (
    *("model", "group", "mode", "shapes", "torch", "outcome", "code", "why, or what it is"),
    *("cured by", "eager", "backends", "ops", "parameters", "seconds", "memory (MB)"),
)
_NUMBERS = ("ops", "parameters", "seconds", "memory (MB)")
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
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.why { min-width: 26em; overflow-wrap: anywhere; } td.good { color: var(--good); }
td.bad { color: var(--bad); } tr.group th { text-align: left; padding-top: 14px; }
.bar { display: inline-block; height: 10px; background: currentColor; opacity: 0.55; }
"""
_SCRIPT = """
const body = document.querySelector("tbody");
const rows = [...body.rows];
const found = document.getElementById("shown");
let sorted = -1;
let down = false;
const cell = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
const show = () => {
  const words = document.getElementById("filter").value.toLowerCase().split(/\\s+/).filter(Boolean);
  const outcome = document.getElementById("outcome").value;
  const group = Number(document.getElementById("group").value);
  const kept = rows.filter((row) => (!outcome || cell(row, 5) === outcome) &&
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
document.querySelectorAll("thead button").forEach((button, column) => {
  button.addEventListener("click", () => {
    down = sorted === column && !down;
    sorted = column;
    for (const each of document.querySelectorAll("thead th")) each.removeAttribute("aria-sort");
    button.parentElement.setAttribute("aria-sort", down ? "descending" : "ascending");
    show();
  });
});
show();
"""


def survey_page(rows: Sequence[Row]) -> str:
    """The page's text."""
    heads = "".join(
        f'<th scope="col"><button type="button">{escaped(name)}</button></th>' for name in _COLUMNS
    )
    cells = "\n".join(f"<tr>{''.join(_cells(row))}</tr>" for row in rows)
    versions = ", ".join(sorted({row.torch for row in rows if row.torch}))
    day = time.strftime("%Y-%m-%d")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="Export Explorer">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{escaped(_POLICY)}">
<title>Survey of exports</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
<h1>Survey of exports</h1>
<p>{escaped(headline(rows))} torch {escaped(versions)}, {day}.</p>
{_histogram(rows)}
<form role="search">
<label>Filter <input id="filter" type="search"></label>
<label>Outcome <select id="outcome"><option value="">all</option>
{_outcomes(rows)}</select></label>
<label>Group by <select id="group"><option value="-1">nothing</option>
<option value="6">code</option><option value="1">group</option><option value="5">outcome</option>
<option value="2">mode</option><option value="4">torch</option></select></label>
<output id="shown"></output>
</form>
<div class="scroll" tabindex="0" role="region" aria-label="Trials">
<table>
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


def _histogram(rows: Sequence[Row]) -> str:
    """Failures by their codes, as bars."""
    codes = by_code(rows)
    if not codes:
        return ""
    most = max(map(len, codes.values()))
    bars = "".join(
        f'<tr><th scope="row">{escaped(code)}</th><td>{escaped(failed[0].kind)}</td>'
        f'<td class="number">{len(failed)}</td>'
        f'<td><span class="bar" style="width: {180 * len(failed) // most + 1}px"></span></td>'
        f"<td>{sum(row.outcome == 'fixed' for row in failed)} cured</td></tr>"
        for code, failed in codes.items()
    )
    return f"<h2>Failures by code, cured ones included</h2><table><tbody>{bars}</tbody></table>"


def _outcomes(rows: Sequence[Row]) -> str:
    names = sorted({row.outcome for row in rows})
    return "".join(f"<option>{escaped(name)}</option>" for name in names)


def _cells(row: Row) -> Iterator[str]:
    """The cells of a trial, one per column."""
    name = escaped(row.name)
    if row.page:
        name = f'<a href="{escaped(_link(row.page))}">{name}</a>'
    yield f'<th scope="row">{name}</th>'
    yield from (_cell(text) for text in (row.group, row.mode, row.shapes, row.torch))
    yield _cell(row.outcome, "good" if row.ok else "bad")
    yield _cell(row.code)
    why = f"{row.place}: {row.sentence}" if row.place else row.sentence
    yield _cell(why, "why")
    yield _cell("; ".join(row.fixes) if row.outcome == "fixed" else "")
    yield _cell(row.agreement or row.agrees)
    yield _cell(", ".join(f"{each.backend} {each.outcome}" for each in row.backends))
    for number in (sum(row.ops.values()), row.parameters, row.seconds, row.peak // 10**6):
        yield f'<td class="number" data-value="{number}">{number:,}</td>'


def _cell(text: str, kind: str = "") -> str:
    return f'<td class="{kind}">{escaped(text)}</td>' if kind else f"<td>{escaped(text)}</td>"


def _link(page: str) -> str:
    return Path(page).as_uri() if Path(page).is_absolute() else page

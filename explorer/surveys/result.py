"""The rows of a survey: as a table in text, JSON, JUnit XML, and one HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec

from explorer.surveys.comparison import SurveyComparison
from explorer.surveys.page import survey_page
from explorer.surveys.rows import GOOD, Row, by_code, count_groups, headline
from explorer.text.escape import harmless, xml_text
from explorer.text.validate_options import check_writable

_WIDEST = 40
"""Columns of a name in the text."""


class SurveyResult:
    """A survey's table. `print` it; `save` writes what the suffix says."""

    def __init__(self, rows: Sequence[Row], problem: str = "") -> None:
        """Make one.

        Args:
            rows: of the trials, in order.
            problem: why the journal does not have all of them; empty if it does.
        """
        self.rows = tuple(rows)
        self.problem = problem

    @property
    def ok(self) -> bool:
        """Whether every trial has a program, and nothing that was run differs."""
        return all(row.ok for row in self.rows)

    @property
    def outcomes(self) -> Counter[str]:
        """How many trials ended how."""
        return Counter(row.outcome for row in self.rows)

    @property
    def codes(self) -> dict[str, list[Row]]:
        """The rows by the code of their failure, the most frequent first, including fixed ones."""
        return by_code(self.rows)

    def compare(self, after: SurveyResult) -> SurveyComparison:
        """Changes from this survey to a later one, row by row."""
        return SurveyComparison(self.rows, after.rows)

    def save(self, path: str | Path) -> Path:
        """Writes `.html`, `.json`, `.md` (counts), `.xml` (JUnit) or `.txt`; returns the path.

        Raises:
            OSError: the file cannot be written.
            ValueError: there is no such format.
        """
        file = Path(path)
        if file.suffix not in _FORMATS:
            raise ValueError(f"{file} must end in one of {', '.join(_FORMATS)}.")
        check_writable(file)
        file.write_text(_FORMATS[file.suffix](self), encoding="utf-8")
        return file

    def __repr__(self) -> str:
        return "\n".join(survey_lines(self))


def survey_lines(result: SurveyResult) -> list[str]:
    """The table as text: a line a trial, then failures by their codes."""
    widest = min(_WIDEST, max((len(row.name) for row in result.rows), default=0))
    lines = [headline(result.rows)]
    for row in result.rows:
        mark = "✓" if row.ok else "✗"
        where = " ".join(part for part in (row.mode, row.label) if part)
        detail = f"{row.code} {row.sentence}" if row.outcome not in GOOD else _program(row)
        line = f"{mark} {row.name:<{widest}} {where:<10} {row.outcome:<11} {detail.strip()}"
        lines.append(harmless(" ".join(line.splitlines()))[:160])
    if result.codes:
        lines.append("Failures by code, including fixed ones")
        for code, rows in result.codes.items():
            cured = sum(row.outcome == "fixed" for row in rows)
            lines.append(f"  {code} {rows[0].kind}: {len(rows)}, {cured} fixed")
    if result.problem:
        lines.append(f"The journal lacks rows: {result.problem}")
    return lines


def _program(row: Row) -> str:
    texts = [f"{sum(row.ops.values()):,} ops", row.agrees]
    if row.sizes:
        texts.append(f"{row.sizes} sizes")
    texts += [f"{backend.backend} {backend.outcome}" for backend in row.backends]
    texts.append(f"{row.seconds:.1f} s")
    return ", ".join(texts)


def as_json(result: SurveyResult) -> str:
    """The rows, and how many ended how."""
    document: dict[str, Any] = {
        "outcomes": dict(result.outcomes),
        "rows": [msgspec.to_builtins(row) for row in result.rows],
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=1).decode() + "\n"


def as_junit(result: SurveyResult) -> str:
    """One test case a trial, with the failure's sentence and place."""
    bad = [row for row in result.rows if not row.ok]
    suite = ET.Element(
        "testsuite", name="survey", tests=str(len(result.rows)), failures=str(len(bad))
    )
    for row in result.rows:
        case = ET.SubElement(suite, "testcase", name=xml_text(row.key), time=f"{row.seconds:.3f}")
        case.set("classname", xml_text(row.group or "survey"))
        if not row.ok:
            failure = ET.SubElement(case, "failure", type=xml_text(row.code or row.outcome))
            failure.set("message", xml_text(row.sentence))
            failure.text = xml_text("\n".join(part for part in (row.place, *row.fixes) if part))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(result: SurveyResult) -> str:
    """How each group ended, and failures by their codes, as tables for a page of docs."""
    lines = [
        "| group | models | export | export with fixes | match eager |",
        "|---|---|---|---|---|",
    ]
    for count in count_groups(result.rows):
        numbers = (count.trials, count.exported, count.fixed, count.agree)
        lines.append(f"| {_cell(count.group)} | {' | '.join(map(str, numbers))} |")
    if result.codes:
        lines += ["", "| code | failure | models | fixed |", "|---|---|---|---|"]
    for code, rows in result.codes.items():
        fixed = sum(row.outcome == "fixed" for row in rows)
        lines.append(f"| {_cell(code)} | {_cell(rows[0].kind)} | {len(rows)} | {fixed} |")
    return harmless("\n".join(lines)) + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _as_page(result: SurveyResult) -> str:
    return survey_page(result.rows)


def _as_text(result: SurveyResult) -> str:
    return "\n".join(survey_lines(result)) + "\n"


_FORMATS = {
    ".html": _as_page,
    ".json": as_json,
    ".md": as_markdown,
    ".xml": as_junit,
    ".txt": _as_text,
}
"""By suffix, what writes it."""

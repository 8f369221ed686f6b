"""An attempt as text for a terminal of 80 to 120 columns."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Sequence

from explorer.text.escape import harmless
from explorer.text.run_text import profile_lines, run_lines
from export_engine.record import Record, Rule
from export_engine.source import find_last_frame, source_line

_LEAST_WIDTH, _MOST_WIDTH = 80, 120
_MOST = 12
_FEW_CONDITIONS = 3
_KINDS = {"user_input": "input", "user_output": "output"}

Row = tuple[str, str, str]
"""Widths of the columns: kind, name, type or range."""


def summary(
    record: Record,
    others: Sequence[str] = (),
    headline: str = "",
    name: str = "ex",
    doubted: Sequence[str] = (),
) -> str:
    """The first view in words.

    Args:
        record: the attempt.
        others: verdicts of other attempts at the same call.
        headline: the release verdict; empty where nothing was checked yet.
        name: what Python calls the result.
        doubted: guarantees without a tick, though they held when they were checked.
    """
    code = record.failure.code if record.failure else ""
    lines = [cut(record.title or "program"), fold(f"  {record.verdict}{_format_code(code)}")]
    lines += [fold(f"  also tried: {other}") for other in others]
    lines += textwrap.wrap(
        harmless(headline), width(), initial_indent="  ", subsequent_indent="    "
    )
    lines += (
        _failure(record, name) if record.failure else [*_describe_fixes(record), *_contents(record)]
    )
    lines += _section("Decomposed", level_lines(record))
    lines += _section("Findings", finding_lines(record))
    needs = " (needs the model and its source)" if record.mode in ("loaded", "given") else ""
    lines += _section(f"Findings not checked{needs}", format_unknown_kinds(record))
    lines += _section("Guarantees", guarantee_lines(record, doubted), 2 * _MOST)
    lines += _section("Runs", run_lines(record.runs), 4 * _MOST, _fit_run)
    lines += _section("Profile", profile_lines(record), 4 * _MOST, cut)
    lines += _section("Printed while tracing", record.printed.splitlines())
    lines += _section("Notes", record.warnings)
    lines += _section("Left out", record.left_out)
    return "\n".join(lines)


def input_rows(record: Record) -> list[Row]:
    """The call's inputs."""
    return [
        ("input", entry.path or entry.name, entry.constant or record.types[entry.type].text)
        for entry in record.signature.inputs
        if entry.kind == "user_input"
    ]


def held_rows(record: Record) -> list[Row]:
    """The program's parameters, buffers and constants."""
    return [
        (entry.kind.replace("_", " "), entry.target or entry.name, record.types[entry.type].text)
        for entry in record.signature.inputs
        if entry.kind != "user_input"
    ]


def output_rows(record: Record) -> list[Row]:
    """The outputs, and what a call writes to."""
    return [
        (
            _KINDS.get(output.kind, output.kind.replace("_", " ")),
            output.target or output.path or f"output {number}",
            output.constant or record.types[output.type].text,
        )
        for number, output in enumerate(record.signature.outputs)
    ]


def size_rows(record: Record) -> list[Row]:
    """The symbolic sizes."""
    return [
        (
            "size",
            symbol.name,
            f"{symbol.range}, data-dependent" if symbol.is_from_data else symbol.range,
        )
        for symbol in record.symbols
    ]


def condition_lines(record: Record) -> list[str]:
    """The conditions on several sizes that the program rejects calls by, and their lines."""
    return [f"{rule.text}{_at(record, rule.stack)}" for rule in conditions_kept(record)]


def conditions_kept(record: Record) -> list[Rule]:
    """Those conditions: the example's way of each, `s != t` where the code asks `if s == t`."""
    return [rule for rule in record.probe.rules if rule.kind == "guard" and rule.enforced]


def level_lines(record: Record) -> list[str]:
    """The ops that each op was decomposed into."""
    level = record.level
    if level is None:
        return []
    tied = sum(origin >= 0 for origin in level.origins)
    lines = [f"{value.op} ×{value.count} → {', '.join(value.into)}" for value in level.replaced]
    lines.append(
        f"{tied:,} ops matched by provenance or structure ({len(level.fallback)} by structure); "
        f"{len(level.untied)} unmatched"
    )
    if level.outside:
        lines.append(f"not in Core ATen: {', '.join(level.outside)}")
    return lines


def finding_lines(record: Record) -> list[str]:
    """What is wrong or surprising, a line each."""
    return [
        (
            f"{finding.severity}{_format_code(finding.code)}: "
            f"{finding.sentence}{_at(record, finding.stack)}"
        )
        for finding in record.findings
    ]


def _format_code(code: str) -> str:
    return f" {code}" if code else ""


def format_unknown_kinds(record: Record) -> list[str]:
    """Kinds of findings that were not looked for, in lines that fit."""
    return textwrap.wrap("; ".join(record.not_looked_for), width() - 2)


def guarantee_lines(record: Record, doubted: Sequence[str] = ()) -> list[str]:
    """The guarantees, if checked."""
    if record.verification is None:
        return []
    rows = record.verification.rows
    return [
        record.verification.sentence,
        *(
            f"{'?' if row.name in doubted else _MARKS[row.verdict]} {row.name:<11} {row.sentence}"
            for row in rows
        ),
    ]


_MARKS = {"holds": "✓", "broken": "✗", "not applicable": "–", "not checked": "?"}


def _at(record: Record, stack: int) -> str:
    frame = find_last_frame(record, stack)
    return f" ({frame.name}:{frame.line})" if frame else ""


def failing_place(record: Record) -> tuple[str, str]:
    """The line of the user's code at which an export failed; empty if unknown."""
    frame = find_last_frame(record, record.failure.stack) if record.failure else None
    if frame is None:
        return "", ""
    place = f"{frame.name}, line {frame.line}, in {frame.function}"
    return place, source_line(record, frame.file, frame.line)


def format_count(number: int, what: str) -> str:
    """`1 op`, `1,187 ops`."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def pair(name: str, text: str) -> str:
    """A name and what it is, in columns."""
    return fold(f"  {name:<24} {text}", 27)


def width() -> int:
    """How many columns a line may take."""
    columns = shutil.get_terminal_size((_LEAST_WIDTH, 24)).columns
    return min(max(columns, _LEAST_WIDTH), _MOST_WIDTH)


def cut(line: str) -> str:
    """A line that fits."""
    line, most = harmless(" ".join(line.splitlines())), width()
    return line if len(line) <= most else line[: most - 1] + "…"


def fold(line: str, indent: int | None = None) -> str:
    """Wrap a sentence to the width of the terminal.

    Args:
        line: a line that may be too long.
        indent: columns before the second line and those after; by default four more than the first.
    """
    text = harmless(" ".join(line.splitlines()))
    first = len(text) - len(text.lstrip())
    return textwrap.fill(
        text,
        width(),
        break_on_hyphens=False,
        subsequent_indent=" " * (first + 4 if indent is None else indent),
    )


def wrap_text(text: str) -> list[str]:
    """A text over as many lines as it takes."""
    return textwrap.wrap(harmless(text), width())


def fix_lines(record: Record) -> list[str]:
    """The fixes of a failed export, numbered as `ex.apply` takes them."""
    failure = record.failure
    lines = []
    for number, fix in enumerate(failure.fixes if failure else []):
        marks = " (lossy)" if fix.lossy else " (fewer sizes)" if fix.narrows else ""
        lines.append(f"{number}: {fix.title}{marks}")
        if fix.kind == "shapes":
            lines.append(f"   {fix.before}  →  {fix.after}")
            lines += [f"   as {form.name}: {form.text or form.reason}" for form in fix.forms[1:]]
        if fix.gives_up:
            lines.append(f"   gives up: {fix.gives_up}")
    return lines


def _failure(record: Record, name: str) -> list[str]:
    failure = record.failure
    assert failure is not None
    shown = [f"  {line}" for line in textwrap.wrap(harmless(failure.sentence), width() - 2)]
    place, code = failing_place(record)
    if place:
        shown.append(cut(f"  at {place}"))
    if code:
        shown.append(cut(f"      {code}"))
    shown += [f"  {line}" for line in textwrap.wrap(harmless(failure.why), width() - 2)]
    how = f"Fixes: {name}.apply_fixes(0), or {name}.autofix()"
    shown += _section(how, fix_lines(record), 3 * _MOST)
    return shown + python_lines(record, name)


def python_lines(record: Record, name: str = "ex") -> list[str]:
    """The Python of the first fix of shapes, in every form that says it: whole lines, to paste."""
    cards = record.failure.fixes if record.failure else []
    number = next((at for at, card in enumerate(cards) if card.forms), None)
    if number is None:
        return []
    lines: list[str] = []
    for form in cards[number].forms:
        if form.python:
            how = f"{name}.shapes_code({number}, {form.name!r})"
            lines.append(f"Fix {number} as {form.name}: {how}")
            lines += [f"  {line}" for line in harmless(form.python).splitlines()]
    return lines


def _describe_fixes(record: Record) -> list[str]:
    """How fixes made a program, and whether it is correct."""
    check = [record.check.sentence] if record.check else []
    lost = [f"Gives up: {text}" for text in record.given_up]
    return _section("Fixed by", [*record.fixed_by, *lost, *check] if record.fixed_by else check)


def _contents(record: Record) -> list[str]:
    held = [entry.bytes for entry in record.signature.inputs if entry.kind != "user_input"]
    lines = _section("Inputs", _pairs(input_rows(record)))
    if held:
        text = f"  and {format_count(len(held), 'held tensor')}, {format_count(sum(held), 'byte')}"
        lines += [text] if lines else ["Inputs", text.replace("and ", "")]
    lines += _section("Outputs", _pairs(output_rows(record)))
    lines += _section("Sizes", _pairs(size_rows(record)))
    return lines + _section("Only if", condition_lines(record), _FEW_CONDITIONS)


def _fit_run(line: str) -> str:
    """A row of the table of runs stays one line; the sentences below it are indented."""
    return fold(line) if line.startswith(" " * 4) else cut(line)


def _pairs(rows: list[Row]) -> list[str]:
    """Names and types; for a mutation output, also its kind."""
    plain = ("input", "output", "size")
    return [
        f"{name:<24} {text}" + ("" if kind in plain else f" ({kind})") for kind, name, text in rows
    ]


def _section(
    title: str, lines: Sequence[str], most: int = _MOST, fit: Callable[[str], str] = fold
) -> list[str]:
    if not lines:
        return []
    shown = [title, *(fit(f"  {line}") for line in lines[:most])]
    return shown if len(lines) <= most else [*shown, f"  … {len(lines) - most:,} more"]

"""Reports of a check as text, JSON, SARIF 2.1.0 or JUnit XML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

import msgspec

from explorer.cli.check.check_target import GOLDEN, Checked
from explorer.cli.check.problem import Problem
from explorer.text.escape import escape_log, harmless, xml_text

_MOST_LINES = 60
"""Of one problem's diff in a comment; a comment has 65,536 characters at most."""

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"


def text(checked: Sequence[Checked]) -> str:
    """For a terminal: each target with its problems."""
    lines = []
    for item in checked:
        mark = "✗" if item.failed else "?" if item.unchecked else "✓"
        taken = f"; of the FLOPs, {_line(item.delegated)}" if item.delegated else ""
        lines.append(f"{mark} {_line(item.target)}: {_line(item.verdict)}{taken}")
        for problem in item.problems:
            lines += _lines(problem)
        if item.unchecked:
            lines.append(f"    not checked, but can be: {', '.join(item.open)}")
            lines.append(f"      → {_line(item.command)}")
    failed = sum(target.failed for target in checked)
    lines.append(f"{len(checked)} checked, {failed} failed")
    return escape_log("\n".join(lines))


def _lines(problem: Problem) -> list[str]:
    first, *rest = harmless(problem.sentence).splitlines() or [""]
    where = f"{_line(problem.place)}: " if problem.place else ""
    return [
        f"    {where}{problem.level} {problem.code}: {first}",
        *(f"      {line}" for line in rest),
    ]


def _line(said: str) -> str:
    return harmless(" ".join(said.splitlines()))


def as_json(checked: Sequence[Checked]) -> str:
    """A list of targets with their problems."""
    return _dump_json({"checked": msgspec.to_builtins(list(checked))})


def sarif(checked: Sequence[Checked]) -> str:
    """For GitHub's code scanning and for editors."""
    codes = dict.fromkeys(problem.code for item in checked for problem in item.problems)
    driver = {
        "name": "export-explorer",
        "rules": [_rule(code) for code in codes],
    }
    results = [_result(item, problem) for item in checked for problem in item.problems]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return _dump_json({"$schema": _SARIF, "version": "2.1.0", "runs": [run]})


def _dump_json(document: object) -> str:
    """JSON that a CI system always reads as text."""
    return json.dumps(document, indent=1).replace("##", "#\\u0023")


def _rule(code: str) -> dict[str, Any]:
    from export_engine.rules import CODES, page_on

    if code not in CODES:
        message = "The program differs from its golden file" if code == GOLDEN else code
        return {"id": code, "shortDescription": {"text": message}}
    page = page_on(code)
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.means},
        "help": {"text": f"{page.cure}\n\n{page.why}", "markdown": page.text},
    }


def _result(checked: Checked, problem: Problem) -> dict[str, Any]:
    message = f"{checked.target}: {_without_links(problem.sentence)}"
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "level": problem.level,
        "message": {"text": message},
    }
    if problem.file:
        path = Path(problem.file)
        uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
        place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(problem.line, 1)}}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _without_links(said: str) -> str:
    """SARIF reads `[text](address)` in a message as a link; a name in an archive may hold one."""
    return harmless(said).replace("](", "] (")


def junit(checked: Sequence[Checked]) -> str:
    """One test case per target; problems that do not fail it are in its output."""
    failures = sum(target.failed for target in checked)
    suite = ET.Element(
        "testsuite", name="export-explorer", tests=str(len(checked)), failures=str(failures)
    )
    suite.set("errors", "0")
    suite.set("skipped", str(sum(target.unchecked and not target.failed for target in checked)))
    suite.set("time", f"{sum(target.seconds for target in checked):.3f}")
    for item in checked:
        case = ET.SubElement(
            suite, "testcase", name=xml_text(item.target), classname="export-explorer"
        )
        case.set("time", f"{item.seconds:.3f}")
        message = xml_text("\n".join(line for problem in item.problems for line in _lines(problem)))
        if item.failed:
            first = item.problems[0]
            failure = ET.SubElement(case, "failure", type=first.code)
            failure.set("message", xml_text(first.sentence))
            failure.text = message
        elif item.unchecked:
            ET.SubElement(case, "skipped", message="A guarantee was not checked.")
        elif message:
            ET.SubElement(case, "system-out").text = message
    ET.indent(suite)
    return escape_log(ET.tostring(suite, encoding="unicode"))


def markdown(checked: Sequence[Checked]) -> str:
    """A comment for a pull request: a table of targets, then each one's problems."""
    failed = sum(target.failed for target in checked)
    lines = [f"**Exports: {len(checked)} checked, {failed} failed**", ""]
    lines += ["| | target | verdict | FLOPs delegated |", "|---|---|---|---|"]
    for item in checked:
        mark = "✗" if item.failed else "?" if item.unchecked else "✓"
        cells = (mark, *map(_plain, (item.target, item.verdict, item.delegated)))
        lines.append(f"| {' | '.join(cells)} |")
    for target in checked:
        for problem in target.problems:
            first, *rest = problem.sentence.splitlines() or [""]
            place = f" ({_plain(problem.place)})" if problem.place else ""
            head = f"{_plain(target.target)}: {problem.level} {problem.code}"
            lines += ["", f"- {head}: {_plain(first)}{place}"]
            if rest:
                lines += ["", *(f"      {harmless(line)}".rstrip() for line in rest[:_MOST_LINES])]
            if len(rest) > _MOST_LINES:
                lines.append(f"      … {len(rest) - _MOST_LINES} more lines")
    return escape_log("\n".join(lines))


def _plain(text: str) -> str:
    """Text escaped for Markdown: a name may hold markup, a link or a mention."""
    line = harmless(" ".join(text.splitlines()))[:500]
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~@-])", lambda found: f"&#{ord(found[1])};", line)


FORMATS: dict[str, Callable[[Sequence[Checked]], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "junit": junit,
    "markdown": markdown,
}

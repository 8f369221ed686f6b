"""What was checked, as text, JSON, SARIF 2.1.0 or JUnit XML."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec

from explorer.checking.check_target import GOLDEN, Checked, Problem
from explorer.rendering.escape import harmless

_SARIF = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def text(checked: Sequence[Checked]) -> str:
    """For a terminal: each target with its problems."""
    lines = []
    for each in checked:
        mark = "✗" if each.failed else "?" if each.unchecked else "✓"
        lines.append(f"{mark} {harmless(each.target)}: {harmless(each.verdict)}")
        for problem in each.problems:
            lines += _lines(problem)
        if each.unchecked:
            lines.append("    a guarantee that could have been checked was not")
    failed = sum(each.failed for each in checked)
    lines.append(f"{len(checked)} checked, {failed} failed")
    return "\n".join(lines)


def _lines(problem: Problem) -> list[str]:
    first, *rest = harmless(problem.sentence).splitlines() or [""]
    where = f"{harmless(problem.place)}: " if problem.place else ""
    return [
        f"    {where}{problem.level} {problem.code}: {first}",
        *(f"      {line}" for line in rest),
    ]


def as_json(checked: Sequence[Checked]) -> str:
    """A list of targets with their problems."""
    return json.dumps({"checked": msgspec.to_builtins(list(checked))}, indent=1)


def sarif(checked: Sequence[Checked]) -> str:
    """For GitHub's code scanning and for editors."""
    codes = dict.fromkeys(problem.code for each in checked for problem in each.problems)
    driver = {
        "name": "export-explorer",
        "rules": [_rule(code) for code in codes],
    }
    results = [_result(each, problem) for each in checked for problem in each.problems]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": _SARIF, "version": "2.1.0", "runs": [run]}, indent=1)


def _rule(code: str) -> dict[str, Any]:
    from export_engine.codes import CODES, page_on

    if code not in CODES:
        said = "The program differs from its golden file" if code == GOLDEN else code
        return {"id": code, "shortDescription": {"text": said}}
    page = page_on(code)
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.means},
        "help": {"text": f"{page.cure}\n\n{page.why}", "markdown": page.text},
    }


def _result(checked: Checked, problem: Problem) -> dict[str, Any]:
    message = f"{checked.target}: {problem.sentence}"
    result: dict[str, Any] = {
        "ruleId": problem.code,
        "level": problem.level,
        "message": {"text": message},
    }
    if problem.file:
        path = Path(problem.file)
        uri = path.as_uri() if path.is_absolute() else path.as_posix()
        place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(problem.line, 1)}}
        result["locations"] = [{"physicalLocation": place}]
    return result


def junit(checked: Sequence[Checked]) -> str:
    """One test case per target; what does not fail it stands in its output."""
    failures = sum(each.failed for each in checked)
    suite = ET.Element(
        "testsuite", name="export-explorer", tests=str(len(checked)), failures=str(failures)
    )
    suite.set("errors", "0")
    suite.set("skipped", str(sum(each.unchecked and not each.failed for each in checked)))
    suite.set("time", f"{sum(each.seconds for each in checked):.3f}")
    for each in checked:
        case = ET.SubElement(suite, "testcase", name=_xml(each.target), classname="export-explorer")
        case.set("time", f"{each.seconds:.3f}")
        said = _xml("\n".join(line for problem in each.problems for line in _lines(problem)))
        if each.failed:
            first = each.problems[0]
            failure = ET.SubElement(case, "failure", type=first.code)
            failure.set("message", _xml(first.sentence))
            failure.text = said
        elif each.unchecked:
            ET.SubElement(case, "skipped", message="A guarantee was not checked.")
        elif said:
            ET.SubElement(case, "system-out").text = said
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode")


def _xml(said: str) -> str:
    """Without the characters that XML does not have."""
    return _NOT_IN_XML.sub("�", said)


FORMATS: dict[str, Callable[[Sequence[Checked]], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "junit": junit,
}

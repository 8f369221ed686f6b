"""A test that is left out says why, and none is left out on the page's side."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.syntax import nodes_of

TESTS = Path(__file__).parent
FRONT_END = TESTS.parent / "widgets" / "frontend" / "src"
REASONED = {"skipif", "importorskip", "xfail"}
"""They take the reason by its name; `skip` takes it in the first place."""


def skips(path: Path) -> Iterator[tuple[int, ast.Call | ast.Attribute]]:
    """Each place that leaves a test out, as a call, or as the bare name of a mark."""
    code = path.read_text(encoding="utf-8")
    nodes = nodes_of(code) if re.search("skip|xfail", code) else []
    called = {id(node.func): node for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in {*REASONED, "skip"}:
            owner = ast.unparse(node.value)
            if owner in {"pytest", "pytest.mark"}:
                yield node.lineno, called.get(id(node), node)


def says_why(skip: ast.Call | ast.Attribute) -> bool:
    """Whether a reason is given: a text, or one put together."""
    if not isinstance(skip, ast.Call):
        return False
    named = [keyword.value for keyword in skip.keywords if keyword.arg == "reason"]
    plain = skip.args[:1] if ast.unparse(skip.func).endswith(".skip") else []
    return any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and len(str(each.value)) > 10)
        for each in (*named, *plain)
    )


def test_every_skip_of_a_test_says_why() -> None:
    found = {
        f"{path.relative_to(TESTS)}:{line}": skip
        for path in TESTS.rglob("*.py")
        for line, skip in skips(path)
    }

    assert len(found) > 5
    assert [place for place, skip in found.items() if not says_why(skip)] == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("pytest.skip()", False),
        ("pytest.skip('no')", False),
        ("pytest.skip('there is no GPU here')", True),
        ("pytest.importorskip('package')", False),
        ("pytest.importorskip('package', reason='it is not installed')", True),
        ("pytest.mark.skipif(True)", False),
        ("pytest.mark.xfail", False),
    ],
)
def test_a_skip_without_a_reason_is_noticed(tmp_path: Path, line: str, wanted: bool) -> None:
    path = tmp_path / "sample.py"
    path.write_text(f"import pytest\n{line}\n")
    ((_, skip),) = skips(path)

    assert says_why(skip) is wanted


def test_no_test_of_the_front_end_is_left_out() -> None:
    left_out = re.compile(r"\b(?:it|test|describe)\.(?:skip|todo|only|fails|skipIf|runIf)\b")
    tests = [path for path in FRONT_END.rglob("*.ts*") if ".test." in path.name]

    assert tests
    assert [path.name for path in tests if left_out.search(path.read_text("utf-8"))] == []

"""The Python way beside the magic, and what is shown where no widget runs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient

import explorer
from explorer.answers import Answers
from explorer.dot import DotMissing
from explorer.picture import static_html
from explorer.session import Entry, Session
from export_engine import Request, ShapesError, capture
from widgets import Refusal

from ..models import branching, tutorial

MARKUP = "<script>alert(1)</script>\"'&"


class Marked(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {MARKUP: x + 1}


class Undecided(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x
        return -x


@pytest.fixture(scope="module")
def explored() -> explorer.Exploration:
    case = tutorial()
    return explorer.explore(
        case.model, case.args, dynamic_shapes="x: batch, _; y: batch, _", title="model(x, y)"
    )


def test_the_program_is_torchs_own(explored: explorer.Exploration) -> None:
    assert isinstance(explored.program, torch.export.ExportedProgram)
    assert explored.ok


def test_both_modes_are_two_attempts() -> None:
    both = explorer.explore(Undecided(), (torch.ones(2),), both=True)
    assert [attempt.mode for attempt in both.attempts] == ["non-strict", "strict"]
    assert not both.ok
    with pytest.raises(explorer.ExportFailed, match="There is no program"):
        _ = both.program


def test_the_mode_that_exports_is_shown_first() -> None:
    class DataWrite(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x.data[0, 0] = 3
            return x

    both = explorer.explore(DataWrite(), (torch.ones(2, 2),), both=True)
    assert both.ok
    assert both.record.mode == "strict"


def test_shapes_that_do_not_fit_raise() -> None:
    with pytest.raises(ShapesError, match="no input is called z"):
        explorer.explore(Undecided(), (torch.ones(2),), dynamic_shapes="z: a")


def test_a_saved_program_is_loaded(tmp_path: Path) -> None:
    case = branching()
    torch.export.save(torch.export.export(case.model, case.args), tmp_path / "b.pt2")
    loaded = explorer.load(tmp_path / "b.pt2")
    assert "loaded, 13 ops" in repr(loaded)


def test_the_text_fits_a_terminal_of_80_columns(explored: explorer.Exploration) -> None:
    lines = repr(explored).splitlines()
    assert lines[1].strip() == "exported, non-strict, 3 ops, batch in [0, ∞)"
    assert max(map(len, lines)) <= 80


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


PLAIN_TAGS = {"div", "b", "code", "p", "small", "svg", "rect", "text", "path", "table", "tr", "td"}


def test_the_static_picture_is_plain_html_with_all_text_escaped() -> None:
    marked = explorer.explore(Marked(), (torch.ones(2),), title=MARKUP)
    html = static_html(marked.record)
    assert Tags(html).found <= PLAIN_TAGS
    assert not re.search(r"(?:href|src|on\w+)\s*=", html)
    failed = explorer.explore(Undecided(), (torch.ones(2),), title=MARKUP)
    assert Tags(static_html(failed.record)).found <= PLAIN_TAGS


def test_the_graph_is_written_as_dot_and_drawn_where_dot_is(
    explored: explorer.Exploration, tmp_path: Path
) -> None:
    assert "linear" in explored.dot(full=True).source
    assert explored.save_graph(tmp_path / "g.dot").read_text().startswith("digraph")
    if shutil.which("dot"):
        assert "<svg" in explored.save_graph(tmp_path / "g.svg").read_text()
    else:
        with pytest.raises(DotMissing, match="apt install graphviz"):
            explored.save_graph(tmp_path / "g.svg")
    with pytest.raises(ValueError, match="no ending"):
        explored.save_graph(tmp_path / "g")


def answers() -> Answers:
    case = branching()
    attempt = capture(Request(target=case.model, args=case.args, title="m"))
    return Answers(Session([Entry("non-strict", attempt)]))


def test_the_page_is_answered() -> None:
    answer = answers()
    _, [record] = answer("record", {"attempt": 0})
    assert record[:4] != b""
    code, _ = answer("code", {"attempt": 0, "graph": 1})
    text = "\n".join("".join(part for _, part in line) for line in code["lines"])
    assert "torch.ops.aten.relu.default" in text
    assert len(code["nodes"]) == len(code["lines"])
    source, _ = answer("source", {"attempt": 0, "file": 0})
    assert source["lines"]


@pytest.mark.parametrize(
    ("ask", "request_"),
    [
        ("record", {"attempt": 7}),
        ("record", {"attempt": "0"}),
        ("record", {}),
        ("source", {"attempt": 0, "file": -1}),
        ("code", {"attempt": 0, "graph": 99}),
        ("nonsense", {"attempt": 0}),
    ],
)
def test_questions_that_make_no_sense_are_refused(ask: str, request_: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        answers()(ask, request_)


def test_a_notebook_run_without_a_page_keeps_a_picture_and_a_text() -> None:
    cells = [
        "%load_ext kernel_ext\nimport torch",
        "%export torch.nn.Linear(3, 2)(torch.ones(1, 3))",
    ]
    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]  # type: ignore[no-untyped-call]
    )
    NotebookClient(notebook, timeout=120).execute()
    data = notebook.cells[1].outputs[0]["data"]
    assert "<svg" in data["text/html"]
    assert "exported, non-strict, 1 op" in data["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in data


@pytest.mark.parametrize("package", ["explorer", "kernel_ext", "widgets", "export_engine"])
def test_importing_costs_no_torch(package: str) -> None:
    code = f"import sys, {package}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

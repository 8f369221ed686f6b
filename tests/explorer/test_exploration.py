"""The Python way beside the magic, and what is shown where no widget runs."""

from __future__ import annotations

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from explorer.display.handlers import MessageHandlers
from explorer.session.entry import Entry
from explorer.session.session import Session
from explorer.text.dot import DotMissing, dot_graph
from explorer.text.static_picture import static_html
from export_engine.attempt import Request
from export_engine.capture import capture
from export_engine.shapes import ShapesError
from widgets import FrontEndMissing, Refusal

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


@pytest.mark.slow
def test_both_modes_are_two_attempts() -> None:
    both = explorer.explore(Undecided(), (torch.ones(2),), both=True)
    assert [attempt.mode for attempt in both.session.attempts] == ["non-strict", "strict"]
    assert not both.ok
    with pytest.raises(explorer.errors.ExportFailed, match="There is no program"):
        _ = both.program


@pytest.mark.slow
def test_the_mode_that_exports_is_shown_first() -> None:
    class ByNumpy(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(x.numpy() + 1)

    both = explorer.explore(ByNumpy(), (torch.ones(2, 2),), both=True)
    assert both.ok
    assert both.record.mode == "strict"


def test_a_size_from_data_is_told_apart_from_those_of_the_call() -> None:
    class Kept(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.nonzero()

    shown = explorer.explore(Kept(), (torch.ones(4),), dynamic_shapes="x: n")

    assert shown.record.verdict.endswith("n in [0, ∞); data-dependent: u0 in [0, ∞)")
    assert "u0                       [0, ∞), data-dependent" in repr(shown)


def test_shapes_that_do_not_fit_raise() -> None:
    with pytest.raises(ShapesError, match="no input is called z"):
        explorer.explore(Undecided(), (torch.ones(2),), dynamic_shapes="z: a")


@pytest.mark.slow
def test_a_saved_program_is_loaded(tmp_path: Path) -> None:
    case = branching()
    torch.export.save(torch.export.export(case.model, case.args), tmp_path / "b.pt2")
    loaded = explorer.load(tmp_path / "b.pt2")
    assert "loaded, 13 ops" in repr(loaded)


def test_the_text_fits_a_terminal_of_80_columns(explored: explorer.Exploration) -> None:
    lines = repr(explored).splitlines()
    assert lines[1].strip() == "exported, non-strict, 3 ops, batch in [0, ∞)"
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("given", [torch.ones(2), {"x": 1}, "x"])
def test_arguments_that_are_no_tuple_are_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=r"explore\(model, \(x,\)\)"):
        explorer.explore(Undecided(), given)


@pytest.mark.slow
def test_the_text_names_the_other_mode_too() -> None:
    text = repr(explorer.explore(Undecided(), (torch.ones(2),), both=True))
    assert "not exported, non-strict" in text
    assert "also tried: not exported, strict" in text


PANES = {
    "graph": r"lin +Linear, 1 op +← add",
    "signature": r"parameter +lin\.weight +f32\[10, 100\]",
    "source": r"# linear",
    "shapes": r"batch +\[0, ∞\) +x\.shape\[0\], y\.shape\[0\]",
    "code": r"linear: \"f32\[batch, 10\]\" = torch\.ops\.aten\.linear\.default\(",
}


@pytest.mark.parametrize("pane", PANES)
def test_each_pane_has_a_text_and_a_page_of_its_own(
    explored: explorer.Exploration, pane: str
) -> None:
    view = explored.view(pane=pane)
    data, _ = view._repr_mimebundle_()
    others = [repr(explored.view(pane=other)) for other in PANES if other != pane]
    assert re.search(PANES[pane], repr(view))
    assert repr(view) not in others
    assert data["text/plain"] == repr(view)
    assert Tags(data["text/html"]).found <= PLAIN_TAGS
    assert ("<svg" in data["text/html"]) == (pane == "graph")


@pytest.mark.slow
def test_the_page_shows_ranges_and_a_failing_line(explored: explorer.Exploration) -> None:
    assert re.search(r"size</td>.*batch.*\[0, ∞\)", static_html(explored.record))
    failed = explorer.explore(Undecided(), (torch.ones(2),))
    assert "<pre>if x.sum() &gt; 0:</pre>" in static_html(failed.record)


@pytest.mark.after_check
def test_a_graph_of_many_ops_is_summed_up_in_the_picture() -> None:
    def many(x: torch.Tensor) -> torch.Tensor:
        for _ in range(60):
            x = x + 1
        return x

    html = static_html(explorer.explore(many, (torch.ones(2),)).record)
    assert "add → add" in html
    assert html.count("<rect") == 2 * 3


class Escaping(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        print("\x1b[2J\x9b31mprinted\r")
        return {"\x1b[31mred\u202e": x + 1}


def test_text_of_a_model_moves_no_cursor() -> None:
    explored = explorer.explore(Escaping(), (torch.ones(2),), title="m\x1b[1m(x)")
    views = [explored, *(explored.view(pane=pane) for pane in PANES)]
    shown = (
        "".join(map(repr, views)) + static_html(explored.record) + dot_graph(explored.record).source
    )
    assert "printed" in shown
    assert not set("\x1b\x9b\r\u202e") & set(shown)


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


PLAIN_TAGS = {"div", "b", "code", "p", "small", "svg", "rect", "text", "path", "table", "tr", "td"}
PLAIN_TAGS |= {"br", "pre"}


@pytest.mark.slow
def test_the_static_picture_is_plain_html_with_all_text_escaped() -> None:
    marked = explorer.explore(Marked(), (torch.ones(2),), title=MARKUP)
    html = static_html(marked.record)
    assert Tags(html).found <= PLAIN_TAGS
    assert not re.search(r"(?:href|src|on\w+)\s*=", html)
    failed = explorer.explore(Undecided(), (torch.ones(2),), title=MARKUP)
    assert Tags(static_html(failed.record, others=[MARKUP])).found <= PLAIN_TAGS
    for pane in PANES:
        assert Tags(static_html(marked.record, pane)).found <= PLAIN_TAGS


def test_the_graph_is_written_as_dot_and_drawn_where_dot_is(
    explored: explorer.Exploration, tmp_path: Path
) -> None:
    assert "linear" in dot_graph(explored.record, full=True).source
    assert explored.save(tmp_path / "g.dot").read_text().startswith("digraph")
    if shutil.which("dot"):
        assert "<svg" in explored.save(tmp_path / "g.svg").read_text()
    else:
        with pytest.raises(DotMissing, match="apt install graphviz"):
            explored.save(tmp_path / "g.svg")
    for name in ("g", "g.docx"):
        with pytest.raises(ValueError, match=rf"{name}: save\(\) writes files that end in"):
            explored.save(tmp_path / name)


@pytest.mark.slow
def test_a_failure_has_no_graph_to_draw(tmp_path: Path) -> None:
    failed = explorer.explore(Undecided(), (torch.ones(2),))
    with pytest.raises(explorer.errors.ExportFailed, match="There is no graph"):
        failed.save(tmp_path / "g.dot")


def test_without_a_built_front_end_a_picture_is_shown(
    explored: explorer.Exploration, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> None:
        raise FrontEndMissing(
            "The widget's front end is not built. In a clone, run `make frontend`"
        )

    monkeypatch.setattr("widgets.ExplorerWidget.__init__", missing)
    data = explored._repr_mimebundle_()
    assert "<svg" in data["text/html"]
    assert "run `make frontend`" in data["text/html"]


@pytest.mark.slow
def test_a_bug_in_describing_says_that_it_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise TypeError("unhashable type")

    monkeypatch.setattr("export_engine.describe.describe", broken)
    with pytest.raises(RuntimeError, match="bug in Export Explorer") as caught:
        repr(explorer.explore(Undecided(), (torch.ones(2),)))
    assert isinstance(caught.value.__cause__, TypeError)


def answers() -> MessageHandlers:
    case = branching()
    attempt = capture(Request(target=case.model, args=case.args, title="m"))
    return MessageHandlers(Session([Entry.of(attempt, "non-strict")]))


@pytest.mark.slow
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
@pytest.mark.slow
def test_questions_that_make_no_sense_are_refused(ask: str, request_: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        answers()(ask, request_)


SLOW = """
%load_ext kernel_ext
import time, torch
class Slow(torch.nn.Module):
    def forward(self, x):
        time.sleep(0.6)
        return x + 1
"""


@pytest.mark.slow
def test_a_notebook_run_without_a_page_keeps_a_picture_and_a_text() -> None:
    fast, slow, stopped = executed(
        SLOW,
        "%export torch.nn.Linear(3, 2)(torch.ones(1, 3))",
        "%export torch.nn.Sequential(Slow(), Slow())(torch.ones(3))",
        "%export Slow()(torch.ones(1), 2)",
    )[1:]
    assert [output["output_type"] for output in fast + slow] == ["display_data"] * 2
    for [output], ops in ((fast, "1 op"), (slow, "2 ops")):
        assert "<svg" in output["data"]["text/html"]
        assert "<progress" not in output["data"]["text/html"]
        assert f"exported, non-strict, {ops}" in output["data"]["text/plain"]
        assert "application/vnd.jupyter.widget-view+json" in output["data"]
    assert [output["output_type"] for output in stopped] == ["error"]


def executed(*cells: str) -> list[list[Any]]:
    """The outputs of cells, run in a kernel."""
    import nbformat  # takes seconds, which each worker would pay
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells]  # type: ignore[no-untyped-call]
    )
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ready", ".release_report()"),
        ("compare_values", ".compare()"),
        ("graph", '.view(pane="graph")'),
        ("to_html", ".save()"),
    ],
)
def test_an_old_name_gives_the_same_and_says_the_new_one(
    old: str, new: str, explored: explorer.Exploration
) -> None:
    with pytest.warns(DeprecationWarning, match=re.escape(f".{old} is now {new};")):
        assert getattr(explored, old) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [("observing", "explorer.observe()"), ("explore_joint", "explorer.explore(joint=True)")],
)
def test_an_old_function_is_the_new_one(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=re.escape(f"explorer.{old} is now {new};")):
        assert callable(getattr(explorer, old))


def test_a_name_that_is_gone_names_the_new_one() -> None:
    with pytest.raises(AttributeError, match=re.escape("use explorer.explore_config(small=True)")):
        explorer.shrink_config  # noqa: B018


def test_an_old_member_is_the_function_of_the_package(explored: explorer.Exploration) -> None:
    with pytest.warns(DeprecationWarning, match=re.escape(".diff is now explorer.diff();")):
        assert explored.diff(explored.program).ok


def test_a_kind_goes_before_the_suffix(explored: explorer.Exploration, tmp_path: Path) -> None:
    """As the options `--html`, `--json` and `--save` have it, whatever the file is called."""
    page = explored.save(tmp_path / "report", kind=".html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.warns(DeprecationWarning, match="to_json"):
        record = explored.to_json(tmp_path / "record.txt")
    assert record.read_bytes().startswith(b"{")
    assert explorer.load(explored.save(tmp_path / "program", kind=".pt2")).ok

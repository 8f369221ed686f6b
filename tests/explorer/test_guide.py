"""The guide: a model that exports at once, one that needs a fix, one that none can help."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import torch

import explorer
from explorer.guiding.free_sizes import free_sizes

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


class Good(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(16, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu() @ y


class Undecided(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x.sin()
        return x.cos()


class Hopeless(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * float(str(x.sum().item())[:3])


class Costly(torch.nn.Module):
    """It can be exported with its size fixed only."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(4)


class Stamped(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(-1, 2) + time.time()


def titles(guided: explorer.typing.Guided) -> list[str]:
    return [step.title for step in guided.steps]


@pytest.mark.slow
def test_a_model_that_exports_is_looked_at_and_verified() -> None:
    guided = explorer.guide(Good(), (torch.randn(2, 16), torch.randn(4, 5)), title="good(x, y)")

    assert guided.ok
    assert titles(guided) == [
        "1. Export",
        "2. Check for problems",
        "3. Verify",
        "4. Find dynamic sizes",
        "5. Release",
        "6. Report",
    ]
    varying = guided.steps[3]
    assert varying.code == '%export --guide -d "x: a, _; y: _, b" good(x, y)'
    assert [line.text for line in varying.lines] == [
        "`x.shape[1]` stays 16: the code accepts only this size",
        "`y.shape[0]` stays 4: the code accepts only this size",
    ]
    assert "guarantees hold" in guided.steps[2].reason
    assert guided.report == Path("good-export.html")
    page = guided.report.read_text()
    assert "6. Report" not in page
    assert "guarantees hold" in page.partition("<main")[0]


@pytest.mark.slow
def test_what_may_vary_exports_as_it_is_written() -> None:
    x = torch.randn(8)
    guided = explorer.guide(Stamped(), (x,))
    shapes = guided.steps[3].code.split('"')[1]

    again = explorer.explore(Stamped(), (x,), dynamic_shapes=shapes)
    assert again.ok
    assert again.accepts(**{"x.shape[0]": 6}).verdict == "accepted"
    assert "time.time()" in guided.steps[1].lines[0].text
    assert guided.steps[1].kind == "wrong"


@pytest.mark.slow
def test_a_model_that_needs_a_fix_gets_it_and_stays_as_it_was() -> None:
    guided = explorer.guide(Undecided(), (torch.randn(4, 4),))

    assert guided.ok
    assert titles(guided)[:3] == ["1. Export", "2. Explain: A branch on data", "3. Fix"]
    assert guided.steps[1].code == "if x.sum() > 0:"
    learn = guided.steps[1].lines[-1].text
    assert learn == "Learn: `notebooks/04_graph_breaks_and_cond.ipynb` explains this."
    assert (ROOT / learn.split("`")[1]).is_file()
    assert "torch.where" in guided.steps[2].reason
    assert "guided.exploration.session.fixed_source" in guided.steps[2].after
    assert guided.exploration is not None
    assert "torch.where" in next(iter(guided.exploration.session.fixed_source.values()))
    assert not explorer.explore(Undecided(), (torch.randn(4, 4),)).ok


@pytest.mark.slow
def test_a_model_that_no_fix_helps_is_told_so_and_what_next() -> None:
    guided = explorer.guide(Hopeless(), (torch.randn(4, 4),))

    assert not guided.ok
    assert titles(guided)[2:] == ["3. Fix: needs your decision", "4. Report"]
    fix = guided.steps[2]
    assert fix.kind == "wrong"
    assert "No fix remains" in fix.reason
    assert "Change test_guide.py, line" in fix.after
    assert "run the guide again" in fix.after
    assert guided.report is not None
    assert guided.report.exists()


@pytest.mark.slow
def test_a_fix_that_costs_something_is_left_to_the_person() -> None:
    x = torch.randn(4)
    guided = explorer.guide(Costly(), (x,), dynamic_shapes="x: n", name="mine")

    fix = guided.steps[2]
    assert not guided.ok
    assert "You can still apply" in fix.reason
    assert any(line.text.startswith("`mine.apply_fixes(0)`: ") for line in fix.lines)
    assert any("Gives up:" in line.text for line in fix.lines)
    assert "so you decide" in fix.after
    assert guided.exploration is not None
    [choice] = guided.choices
    assert choice.title.startswith("Apply: ")
    assert choice.means.startswith("Gives up: ")

    guided.take(0)
    assert guided.exploration.ok
    assert titles(guided)[2:5] == [
        "3. Fix: needs your decision",
        f"4. You chose: {choice.title}",
        "5. Check for problems",
    ]
    assert guided.choices == []


@pytest.mark.slow
def test_sizes_that_could_vary_are_exported_by_a_choice() -> None:
    x = torch.randn(8)
    guided = explorer.guide(Stamped(), (x,))
    [choice] = [each for each in guided.choices if each.title == "Export with these sizes"]

    guided.take(guided.choices.index(choice))
    assert guided.exploration is not None
    assert guided.exploration.accepts(**{"x.shape[0]": 6}).verdict == "accepted"
    assert guided.steps[-1].title.endswith("Report")
    assert f'href="{guided.report}"' in guided.steps[-1].html()


@pytest.mark.slow
def test_each_step_is_told_of_as_it_begins_and_ends() -> None:
    told: list[str] = []
    explorer.guide(
        Good(),
        (torch.randn(2, 16), torch.randn(4, 5)),
        dynamic_shapes="x: batch, _",
        tell=lambda guided: told.append(guided.steps[-1].title),
    )

    assert told == [
        "1. Export …",
        "1. Export",
        "2. Check for problems …",
        "2. Check for problems",
        "3. Verify …",
        "3. Verify",
        "4. Release …",
        "4. Release",
        "5. Report …",
        "5. Report",
    ]


@pytest.mark.slow
def test_a_report_never_replaces_a_file_that_is_not_ours() -> None:
    Path("hopeless-export.html").write_text("mine")
    for _ in range(2):
        guided = explorer.guide(Hopeless(), (torch.randn(4, 4),), title="hopeless(x)")
        assert guided.report == Path("hopeless-export-2.html")
    assert Path("hopeless-export.html").read_text() == "mine"


@pytest.mark.slow
def test_a_report_that_cannot_be_written_is_said_and_the_rest_stands() -> None:
    guided = explorer.guide(torch.nn.ReLU(), (torch.randn(4, 4),), report="no/folder/report.html")

    assert guided.ok
    assert guided.report is None
    assert guided.steps[-1].kind == "wrong"
    assert "work: no/folder/report.html cannot be written: No such" in guided.steps[-1].reason


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_done() -> None:
    def progress(step: Any) -> None:
        if step.what == "guarantee":
            raise KeyboardInterrupt

    guided = explorer.guide(
        Undecided(), (torch.randn(4, 4),), dynamic_shapes="x: n, _", progress=progress
    )
    assert guided.exploration is not None
    assert guided.exploration.ok
    assert titles(guided)[-1].endswith("Verify")
    assert "Interrupted" in guided.steps[-1].reason


def test_a_number_is_no_size_that_may_vary() -> None:
    found = free_sizes(explorer.explore(lambda x: x, (3,)))

    assert found is not None
    assert not found.shapes
    assert found.fixed == ("`x` stays 3",)


@pytest.mark.slow
def test_the_text_of_a_model_is_escaped() -> None:
    guided = explorer.guide(Hopeless(), (torch.randn(4, 4),), title="model(x['<img src=x>'])")

    assert guided.report is not None
    assert "<img" not in guided.html() + guided.report.read_text().partition("<main")[0]


@pytest.mark.slow
def test_a_guide_is_not_ok_where_the_release_is_not_ready() -> None:
    class Numbered(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + id(type(self))

    guided = explorer.guide(Numbered(), (torch.ones(3, 4),), dynamic_shapes="x: _, _")
    assert guided.exploration is not None
    assert guided.exploration.session.entry.verified is not None
    assert guided.exploration.session.entry.verified.ok
    assert guided.exploration.release_report().verdict == "not ready"
    assert not guided.ok
    (release,) = [step for step in guided.steps if step.title.endswith("Release")]
    assert "`guided.exploration.findings`" in repr(release)

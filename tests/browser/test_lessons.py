"""A lesson as a learner does it: a wrong answer first, a hint, then the right one."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Locator, expect

from .lab import Lab
from .test_explorer import LOAD

LESSON = Path(__file__).parents[2] / "notebooks" / "01_a_first_export.ipynb"
UNDECIDED = """
class Undecided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

undecided, x = Undecided(), torch.randn(4, 4)
"""


def answered(lab: Lab, cell: int, text: str) -> Locator:
    """Types an answer over a cell's text, runs it and the cell that checks it; the reply."""
    editor = lab.cell(cell).locator(".cm-content")
    editor.click()
    lab.page.keyboard.press("Control+a")
    lab.page.keyboard.insert_text(text)
    lab.page.keyboard.press("Shift+Enter")
    lab.page.keyboard.press("Shift+Enter")
    lab.wait_until_idle()
    return lab.cell(cell + 1).locator(".jp-OutputArea-output")


def test_a_learner_does_an_exercise_wrong_first_then_right(lab: Lab) -> None:
    lab.open(LESSON)
    lab.run_all(60)
    sources = lab.page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.widgets.map(c => c.model.sharedModel.source)"
    )
    exercise = next(number for number, text in enumerate(sources) if text.startswith("mine = None"))
    waiting = lab.cell(exercise + 1).locator(".jp-OutputArea-output")
    expect(waiting).to_contain_text("Exercise 1 has no answer yet")

    reply = answered(lab, exercise, "%export --as mine score(features, 2.0)")
    expect(reply).to_contain_text("Exercise 1: not yet.")
    expect(reply).to_contain_text("temperature is a plain number here")
    expect(reply).not_to_contain_text("Write the usual call")

    reply = answered(lab, exercise, "%export --as mine blend(x, y)")
    expect(reply).to_contain_text("This is a different call: its inputs are x, y.")
    expect(reply).to_contain_text("Write the usual call after %export")

    reply = answered(lab, exercise, "%export --as mine score(features, temperature)")
    expect(reply).to_contain_text("Exercise 1: right.")
    expect(reply).to_contain_text("1 of 3 exercises of this lesson are done.")
    lab.screenshot("lesson")
    assert lab.value("lesson.done") == 1


def test_a_guide_shows_its_steps_above_the_view(lab: Lab) -> None:
    lab.open([LOAD, UNDECIDED, "%export --guide --as ex undecided(x)"])
    lab.run_all(90)
    root = lab.cell(2).locator(".tx-root").last  # below the guide's own
    expect(root.get_by_test_id("verdict")).to_contain_text("exported")
    outputs = lab.cell(2).locator(".jp-OutputArea-output")
    expect(outputs).to_have_count(3)
    steps = outputs.first
    for heading in ("1. Export", "2. Explain: A branch on data", "3. Fix", "5. Verify"):
        expect(steps).to_contain_text(heading)
    expect(steps).not_to_contain_text("…")
    expect(steps).to_contain_text("Written: undecided-export.html")
    expect(steps.get_by_role("link", name="undecided-export.html")).to_be_visible()
    assert (lab.server.folder / "undecided-export.html").stat().st_size > 10_000
    lab.screenshot("guide")
    assert lab.value("ex.ok") is True

    # What it leaves to decide is a button, which goes on from there, above the same view.
    choices = lab.cell(2).get_by_test_id("choices")
    expect(choices).to_contain_text("about")
    lab.screenshot("guide-choices", choices)
    choices.get_by_role("button", name="Export with these sizes").click()
    expect(steps).to_contain_text("You chose: Export with these sizes", timeout=60_000)
    expect(choices).not_to_be_visible(timeout=90_000)
    expect(steps).to_contain_text("Written: undecided-export.html")
    expect(root.get_by_test_id("verdict")).to_contain_text(" in [")

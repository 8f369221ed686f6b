"""What a view does when something happens beside it: in Python, in another view, to its kernel."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .lab import Lab, open_tab
from .test_explorer import LOAD, SMALL, explorer


def test_verifying_in_python_shows_in_every_view(lab: Lab) -> None:
    lab.open([LOAD, SMALL, '%export -d "x: batch, _" --as ex small(x)', "ex"])
    lab.run_all(120)
    first, second = explorer(lab, 0), explorer(lab, 1)
    for root in (first, second):
        open_tab(root, "Verify")
        expect(root.get_by_test_id("guarantees")).to_contain_text("Not verified yet")
    lab.execute("ex.verify(2)")
    for root in (first, second):
        expect(root.get_by_test_id("guarantees")).not_to_contain_text("Not verified yet")
    lab.execute("ex.run()")
    for root in (first, second):
        open_tab(root, "Runs")
        expect(root.get_by_test_id("runs").locator("table").first).to_be_visible()


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("session.kernel.restart()", "The kernel was restarted"),
        ("shutdown()", "The kernel was shut down"),
    ],
)
def test_a_view_whose_kernel_is_gone_says_so_and_stays_readable(
    lab: Lab, end: str, why: str
) -> None:
    lab.open([LOAD, SMALL, '%export -d "x: batch, _" small(x)'])
    lab.run_all(120)
    root = explorer(lab)
    open_tab(root, "Verify")
    action = root.get_by_test_id("guarantees").get_by_role("button", name="Verify")
    expect(action).to_be_enabled()
    lab.page.evaluate(f"() => jupyterapp.shell.currentWidget.sessionContext.{end}")
    said = root.get_by_test_id("lost")
    expect(said).to_contain_text(f"{why}: this view is a static picture of small(x).")
    expect(said).to_contain_text("Run the cell again to go on.")
    expect(action).to_be_disabled()
    expect(root.get_by_test_id("verdict")).to_contain_text("exported")
    open_tab(root, "Signature")
    expect(root.get_by_text("lin.weight").first).to_be_visible()
    lab.screenshot(f"lost-{end[:7]}", root)

"""From a failing cell to a fixed program, in JupyterLab: apply, check, undo, stop."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from .lab import Lab, Theme
from .test_explorer import LOAD, explorer

LIMIT = """
class Limit(torch.nn.Module):
    def forward(self, x, y):
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y

limit, x, y = Limit(), torch.randn(8, 32), torch.randn(32, 64)
"""
EXPORT = '%export -d "x: a, b; y: c, d" --as ex limit(x, y)'
FORK = """
class Fork(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()

fork = Fork()
"""
SLOW = """
import time
class Slow(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(*[torch.nn.ReLU() for _ in range(200)])
        self.pause = 0.0
    def forward(self, x):
        for layer in self.layers:
            time.sleep(self.pause)
            x = layer(x)
        return x
slow = Slow()
"""


def test_one_click_fixes_a_failing_cell(lab: Lab) -> None:
    lab.open([LOAD, LIMIT, EXPORT])
    lab.run_all(60)
    root = explorer(lab)
    failure = root.get_by_test_id("failure")
    expect(failure).to_contain_text("a is at most 16")
    expect(failure.locator(".tx-failing")).to_contain_text("x")
    assert lab.value("ex.ok") is False

    fix = failure.get_by_test_id("fix").first
    expect(fix).to_contain_text("x: a[..16], b; y: b, d[17..]")
    fix.get_by_role("button", name="Apply", exact=True).click()
    expect(root.get_by_test_id("verdict")).to_contain_text("exported, non-strict")
    expect(root.get_by_test_id("check")).to_contain_text("Agrees with eager")
    expect(root.locator("canvas").first).to_be_visible()
    assert lab.value("ex.ok") is True
    assert (
        lab.value("str(ex.session.attempts[-1].request.shapes)") == "x: a[..16], b; y: b, d[17..]"
    )
    assert lab.value("type(ex.program).__name__") == "ExportedProgram"

    root.get_by_role("button", name="Undo").click()
    expect(failure).to_be_visible()
    assert lab.value("ex.ok") is False

    root.get_by_role("button", name=re.compile("History")).click()
    root.get_by_role("button", name="Use").click()
    expect(root.get_by_test_id("verdict")).to_contain_text("exported, non-strict")
    assert lab.value("ex.ok") is True


def test_a_branch_on_data_is_rewritten_and_the_cell_stays(lab: Lab) -> None:
    lab.open([LOAD, FORK, "%export --as ex fork(torch.rand(4))"])
    lab.run_all(60)
    root = explorer(lab)
    failure = root.get_by_test_id("failure")
    expect(failure).to_contain_text("depends on the values of x.sum() > 0")
    expect(failure.locator(".tx-marked").first).to_be_visible()
    marked = "".join(failure.locator(".tx-marked").all_text_contents())
    assert marked == "x.sum() > 0"
    expect(failure.locator(".tx-diff-added").first).to_be_visible()
    root.get_by_role("button", name="Fix automatically").click()
    expect(root.get_by_test_id("verdict")).to_contain_text("exported")
    expect(root.get_by_test_id("outcome")).to_contain_text("Fixed by Rewrite line")
    assert "torch.where" in lab.value("list(ex.session.fixed_source.values())[0]")
    assert "torch.where" not in lab.value("__import__('inspect').getsource(Fork.forward)")


def test_a_slow_fix_shows_progress_and_stops_with_the_last_good_state(lab: Lab) -> None:
    export = '%export -d "x: b[11..18]" --as ex slow(torch.randn(10))'
    lab.open([LOAD, SLOW, export])
    lab.run_all(60)
    root = explorer(lab)
    failure = root.get_by_test_id("failure")
    failure.get_by_role("button", name="Apply", exact=True).first.click()
    expect(root.get_by_test_id("verdict")).to_contain_text("exported")
    before = lab.value("id(ex.program)")
    lab.execute("slow.pause = 0.1")

    root.get_by_role("button", name=re.compile("History")).click()
    root.get_by_role("button", name=re.compile("Attempt 1")).click()
    expect(failure).to_be_visible()
    failure.get_by_role("button", name="Apply", exact=True).nth(1).click()
    working = root.get_by_test_id("working")
    expect(working).to_contain_text("layers.")
    working.get_by_role("button", name="Stop").click()
    expect(root.get_by_test_id("outcome")).to_contain_text(
        "Interrupted. Nothing has changed.",
    )
    assert lab.value("id(ex.program)") == before
    assert lab.value("len(ex.session.attempts)") == 2


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 700])
def test_failures_are_looked_at(lab: Lab, width: int, theme: Theme) -> None:
    lab.page.set_viewport_size({"width": width, "height": 1000})
    lab.open([LOAD, FORK, "%export fork(torch.rand(4))"])
    if theme == "dark":
        lab.set_theme("dark")
    lab.run_all(60)
    root = explorer(lab)
    root.scroll_into_view_if_needed()
    expect(root.get_by_test_id("fix").first).to_be_visible()
    lab.screenshot(f"fixes-{width}-{theme}")
    overflow = root.evaluate("root => root.scrollWidth - root.clientWidth")
    assert overflow <= 1
    header, verdict = root.locator("header"), root.get_by_test_id("verdict")
    inside, around = verdict.bounding_box(), header.bounding_box()
    assert inside is not None
    assert around is not None
    assert inside["y"] + inside["height"] <= around["y"] + around["height"], "it is cut off"


def test_a_failure_becomes_a_short_script_and_stop_keeps_the_shortest(lab: Lab) -> None:
    lab.open([LOAD, FORK, "%export --as ex fork(torch.randn(30, 40))"])
    lab.run_all(60)
    root = explorer(lab)
    report = root.get_by_test_id("report-it")
    report.get_by_role("button", name="Report it").click()
    expect(root.get_by_text(re.compile(r"(\d\d|[2-9]) lines")).first).to_be_visible()
    root.get_by_role("button", name="Stop").click()
    script = report.get_by_test_id("reproduced")
    expect(script).to_contain_text("torch.export.export(")
    expect(report).to_contain_text("in a fresh process")
    script.scroll_into_view_if_needed()
    lab.screenshot("report-it")
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    script.scroll_into_view_if_needed()
    lab.screenshot("report-it-dark-700")

"""Delegate in JupyterLab: what XNNPACK takes, the reason at its line, a fix with its gain."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from .axe import Axe
from .lab import Lab, open_tab
from .test_explorer import LOAD, explorer

pytest.importorskip("executorch", reason="pip install '.[executorch]'")

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.head = torch.nn.Linear(8, 4)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        y = torch.add(y, y, alpha=2)
        y = torch.cumsum(torch.sigmoid(y), 1)
        return self.head(y.mean((2, 3))).softmax(-1)

net, x = Net().eval(), torch.randn(2, 3, 16, 16)
"""
PLAN = """
from pathlib import Path
import explorer
from executorch.exir import to_edge
Path("net.pte").write_bytes(to_edge(ex.program).to_executorch().buffer)
explorer.view("net.pte")
"""


def take(lab: Lab, name: str, shown: Locator, part: Locator | None = None) -> None:
    """Pictures of a view, light and dark, wide and narrow; it is light and wide afterwards.

    Args:
        lab: that has it.
        name: of the pictures.
        shown: the view.
        part: what of it is scrolled to.
    """
    for theme in ("dark", "light"):
        lab.set_theme(theme)
        for width in (700, 1200):
            lab.page.set_viewport_size({"width": width, "height": 900})
            lab.page.wait_for_timeout(500)
            shown.scroll_into_view_if_needed()
            if part is not None:
                part.scroll_into_view_if_needed()
            lab.screenshot(f"delegate-{name}-{theme}-{width}", shown)


def test_ops_outside_have_reasons_and_fixes(lab: Lab) -> None:
    axe = Axe()
    lab.open([LOAD, NET, '%export -d "x: batch[2..16], _, _, _" --as ex net(x)', PLAN])
    lab.run_all(240)
    root = explorer(lab)
    open_tab(root, "Delegate")
    pane = root.get_by_test_id("delegate")
    pane.get_by_test_id("delegate-run").click()
    shares = pane.get_by_test_id("delegate-shares")
    expect(shares).to_contain_text("XNNPACK takes")
    expect(pane.get_by_test_id("outside").first).to_contain_text("alpha != 1")
    take(lab, "outside", root)
    pane.get_by_test_id("outside").first.get_by_role("button").first.click()
    open_tab(root, "Source")
    take(lab, "source", root)
    open_tab(root, "Delegate")
    pane.get_by_test_id("delegate-find-fixes").click()
    expect(pane.get_by_test_id("delegation-fix").first).to_contain_text("lossless")
    take(lab, "fixes", root, pane.get_by_test_id("delegation-fix").first)
    axe.check(lab.page, "delegate", ".tx-root")
    pane.get_by_test_id("show-delegated").click()
    expect(pane.get_by_role("button", name="Back to the program")).to_be_visible()
    take(lab, "stage", root)
    pane.get_by_role("button", name="Back to the program").click()
    pane.get_by_test_id("delegate-autofix").click()
    expect(root.locator(".tx-ended, [role=status]").filter(has_text="FLOPs inside")).to_be_visible()
    expect(pane.get_by_test_id("outside")).to_have_count(1)
    take(lab, "fixed", root)
    plan = lab.cell(3).locator(".jp-OutputArea-output").last
    expect(plan.locator("svg").first).to_be_visible()
    take(lab, "plan", plan)
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    root.scroll_into_view_if_needed()
    lab.page.wait_for_timeout(500)
    axe.check(lab.page, "delegate, dark", ".tx-root")
    assert not axe.problems, "\n".join(dict.fromkeys(axe.problems))

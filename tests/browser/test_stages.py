"""Stages in JupyterLab: why a line is slow in under three presses, and all that the pane shows."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from .axe import Axe
from .lab import Lab, open_tab
from .test_explorer import LOAD, explorer
from .test_five_tasks import Hand

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(16, 16)

    def forward(self, x):
        h = self.linear(x).sigmoid() * 2
        h = h.sort(-1).values
        h = h.exp() + 1
        h = h.permute(1, 0).contiguous()
        kept = x.clone()
        return (h.double() * 2).float(), kept

net, x = Net().eval(), torch.randn(16, 16)
"""
REASONS = {
    "h = h.sort(": "are not fused",
    "h = h.permute(": "writes its input in a different layout",
    "kept = x.clone": "copies its input into new memory",
    "h.double()": "values are float64",
}
"""Per planted line, what the pane says of it."""


def test_a_planted_line_has_its_reason_in_under_three_presses(lab: Lab) -> None:
    axe = Axe()
    lab.open([LOAD, NET, "%export --stages --as ex net(x)"])
    lab.run_all(240)
    root = explorer(lab)
    hand = Hand(lab, root)
    remarks = root.get_by_test_id("stage-remarks")
    expect(remarks).to_be_visible()
    for code, reason in REASONS.items():
        row = remarks.get_by_role("listitem").filter(has_text=reason)
        expect(row.first.get_by_role("button")).to_have_text(f"Cell In[2]:{number_of(code)}")
    _look(lab, root, "lines")
    hand.click(f"Cell In[2]:{number_of('h = h.sort(')}")
    expect(root.get_by_test_id("stage-kernel")).to_contain_text("aten.sort")
    hand.click("Show its call")
    assert hand.presses < 3
    _look(lab, root, "code")
    axe.check(lab.page, "stages, code", ".tx-root")
    open_tab(root, "Source")
    _look(lab, root, "source")
    open_tab(root, "Stages")
    root.get_by_role("button", name="kernels", exact=True).click()
    _look(lab, root, "ladder")
    root.get_by_test_id("stages-setting").select_option(label="freezing")
    root.get_by_test_id("stages-run").click()
    root.get_by_test_id("stages-against").select_option(index=1)
    expect(root.get_by_test_id("stage-changes")).to_contain_text("mkl._mkl_linear")
    _look(lab, root, "changes")
    axe.check(lab.page, "stages, changes", ".tx-root")
    assert not axe.problems, "\n".join(dict.fromkeys(axe.problems))


def number_of(code: str) -> int:
    """The number of the line in its cell that has some code."""
    return next(n for n, row in enumerate(NET.strip().splitlines(), 1) if code in row)


def _look(lab: Lab, root: Locator, name: str) -> None:
    """A picture for those who look."""
    lab.page.wait_for_timeout(700)
    lab.screenshot(f"stages-{name}", root)

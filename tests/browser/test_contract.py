"""The shape contract, findings and guarantees in JupyterLab: light up, try sizes, verify, fix."""

from __future__ import annotations

from playwright.sync_api import expect

from .lab import Lab, open_tab
from .test_explorer import LOAD, explorer

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
        self.drop = torch.nn.Dropout(0.5)
    def forward(self, x, y):
        if x.shape[0] <= 16:
            x = self.lin(x)
        return self.drop(x) @ y

net, x, y = Net(), torch.randn(8, 4), torch.randn(4, 32)
"""
EXPORT = '%export -d "x: *, _; y: _, *" --as ex net(x, y)'


def test_a_symbol_lights_up_everywhere_and_a_slider_finds_the_bound(lab: Lab) -> None:
    lab.open([LOAD, NET, EXPORT])
    lab.run_all(60)
    root = explorer(lab)
    open_tab(root, "Shapes")
    symbol = root.get_by_test_id("symbol-0")
    expect(symbol).to_contain_text("x.shape[0]")
    expect(symbol).to_contain_text("[2, 16]")
    expect(symbol).to_contain_text("x.shape[0] <= 16")
    symbol.click()
    expect(symbol).to_have_class("tx-pressable tx-lit")
    open_tab(root, "Source")
    lit = root.locator(".tx-code .tx-lit")
    expect(lit.filter(has_text="if x.shape[0] <= 16")).to_have_count(1)
    expect(lit.filter(has_text="return self.drop(x) @ y")).to_have_count(1)
    open_tab(root, "Signature")
    row = root.get_by_test_id("signature").locator("tr.tx-lit").first
    expect(row).to_contain_text("x")

    open_tab(root, "Shapes")
    slider = root.get_by_test_id("probe-slider-0")
    verdict = root.get_by_test_id("probe-verdict")
    expect(verdict).to_contain_text("The guards accept it")
    expect(verdict).to_contain_text("[8, 32]")
    slider.focus()
    for _ in range(9):
        slider.press("ArrowRight")
    expect(verdict).to_contain_text("Refused")
    expect(verdict).to_contain_text("x.shape[0] <= 16")
    expect(verdict.get_by_role("button")).to_contain_text("Cell In[2]:7")
    expect(root.get_by_test_id("probe-size-0")).to_have_attribute("aria-invalid", "true")
    assert lab.value("ex.accepts(**{'x.shape[0]': 17}).verdict") == "refused"
    slider.press("ArrowLeft")
    expect(verdict).to_contain_text("The guards accept it")
    expect(verdict).to_contain_text("[16, 32]")


def test_findings_are_shown_fixed_and_verified(lab: Lab) -> None:
    lab.open([LOAD, NET, EXPORT])
    lab.run_all(60)
    root = explorer(lab)
    expect(root.get_by_test_id("verdict")).to_contain_text("1 finding")
    open_tab(root, "Findings")
    finding = root.get_by_test_id("finding").filter(has_text="training mode")
    expect(finding).to_contain_text("dropout is in the program")

    open_tab(root, "Verify")
    root.get_by_test_id("verify").click()
    expect(root.get_by_test_id("guarantees")).to_contain_text("guarantees hold")

    open_tab(root, "Findings")
    finding.get_by_role("button", name="Apply", exact=True).click()
    expect(root.get_by_test_id("outcome")).to_contain_text("eval mode")
    expect(root.get_by_test_id("findings")).to_contain_text("No findings")
    assert lab.value("net.training") is True

    open_tab(root, "Verify")
    expect(root.get_by_test_id("guarantees")).to_contain_text("Not verified yet")
    root.get_by_test_id("verify").click()
    sound = root.get_by_test_id("guarantee-sound")
    expect(sound).to_contain_text("Agrees with eager at ")
    expect(root.get_by_test_id("guarantees")).to_contain_text("11 guarantees hold")
    assert lab.value("ex.record.verification.verdict") == "holds"

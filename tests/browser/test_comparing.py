"""Decomposing a program and comparing it with what it was, in JupyterLab."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from .lab import Lab, open_tab
from .test_explorer import LOAD, explorer

NET = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(4, 4)
    def forward(self, x):
        return self.lin(x).relu() + x

net = Net()
"""
NET_OF_TWO = """
class Two(torch.nn.Module):
    def forward(self, x):
        if torch.compiler.is_dynamo_compiling():
            return x.sin().cos() + 1
        return x.abs() + 1

two = Two()
"""
EXPORTS = (
    "%export --no-display --as a two(torch.ones(4))",
    "%export --no-display --strict --as b two(torch.ones(4))",
)
EXPORT = '%export -d "x: batch, _" --as ex net(torch.randn(8, 4))'
_ROWS = "row => new Set([...row.children].map(tab => tab.offsetTop)).size"


def test_a_program_is_decomposed_and_compared_with_what_it_was(lab: Lab) -> None:
    lab.open([LOAD, NET, EXPORT, "%export_diff ex ex"])
    lab.run_all(60)
    root = explorer(lab)
    root.get_by_role("button", name="Decompose…").click()
    form = root.get_by_test_id("decompose")
    form.get_by_role("combobox").fill("core -lineer")
    form.get_by_role("button", name="Decompose", exact=True).click()
    expect(root.get_by_test_id("outcome")).to_contain_text("no decomposition for lineer")
    form.get_by_role("combobox").fill("core")
    form.get_by_role("button", name="Decompose", exact=True).click()
    expect(root.get_by_test_id("verdict")).to_contain_text("decomposed (core)")
    expect(form).to_contain_text("aten.linear.default ×1")
    expect(form).to_contain_text("aten.addmm.default ×1")
    assert lab.value("'addmm' in ex.program.graph_module.code") is True

    root.get_by_role("button", name="History").click()
    root.get_by_role("button", name="Compare", exact=True).click()
    differences = root.get_by_test_id("differences")
    expect(differences).to_contain_text("1 replaced by 2.")
    rows = differences.get_by_test_id("difference")
    expect(rows).to_contain_text("became permute, addmm")
    rows.get_by_role("button").click()
    lab.execute("ex.verify(1); ex.run()")
    expect(root.get_by_role("tab", name="Runs")).to_contain_text("✓")
    for width in (1400, 1200):
        lab.page.set_viewport_size({"width": width, "height": 900})
        assert root.get_by_role("tablist", name="Details").evaluate(_ROWS) == 1, width
    open_tab(root, "Inspector")
    expect(root.get_by_test_id("inspector")).to_contain_text("2 ops")
    root.get_by_role("button", name="addmm").first.click()
    expect(root.get_by_test_id("inspector")).to_contain_text("Comes from")
    expect(root.get_by_test_id("inspector")).to_contain_text("linear")
    open_tab(root, "Source")
    expect(root.locator(".tx-code [aria-current]")).to_contain_text("self.lin(x).relu() + x")
    expect(lab.page.get_by_text("Identical up to names").first).to_be_visible()


def test_both_modes_are_compared_and_walked_through_by_keys(lab: Lab) -> None:
    lab.open([LOAD, NET_OF_TWO, *EXPORTS, "%export_diff a b"])
    lab.run_all(60)
    root = explorer(lab)
    expect(root.get_by_test_id("graph-before")).to_be_visible()
    differences = root.get_by_test_id("differences")
    expect(differences).to_contain_text("2 added, 1 removed.")
    root.get_by_test_id("graph").click(position={"x": 4, "y": 60})
    lab.page.keyboard.press("n")
    rows = differences.get_by_test_id("difference")
    expect(rows.nth(0)).to_have_class(re.compile("tx-lit"))
    expect(rows.nth(0)).to_contain_text("aten.abs.default")
    lab.page.keyboard.press("n")
    expect(rows.nth(1)).to_have_class(re.compile("tx-lit"))
    lab.page.keyboard.press("Shift+N")
    expect(rows.nth(0)).to_have_class(re.compile("tx-lit"))
    root.get_by_role("button", name="Overlay").click()
    expect(root.get_by_test_id("graph-before")).to_have_count(0)
    root.get_by_role("button", name="Only differences").click()
    differences.get_by_text("Printed graph: main").click()
    expect(differences).to_contain_text("torch.ops.aten.cos.default(sin)")
    root.get_by_role("button", name="Close the comparison").click()
    expect(root.get_by_role("toolbar", name="Comparison")).to_have_count(0)
    expect(root.get_by_role("tab", name="Inspector")).to_be_visible()


def test_a_view_is_compared_with_a_variable_and_a_file(lab: Lab) -> None:
    golden = "golden = explorer.view(torch.export.export(torch.nn.ReLU(), (torch.ones(3),)))"
    lab.open([LOAD, f"import explorer\n{golden}\ngolden.save('golden.pt2')", NET, EXPORT])
    lab.run_all(60)
    root = explorer(lab)
    for name in (re.compile(r"^golden(?!\.pt2)"), "golden.pt2"):
        root.get_by_role("button", name="Compare with…").click()
        root.get_by_role("button", name=name).click()
        expect(root.get_by_test_id("differences")).to_contain_text("Compared with: golden")
        root.get_by_role("button", name="Close the comparison").click()
    assert lab.value("[each.step for each in ex.session.entries]") == ["", "golden", "golden.pt2"]

"""Decomposing a program and comparing it with what it was, in JupyterLab."""

from __future__ import annotations

from playwright.sync_api import expect

from .lab import Lab
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
EXPORT = '%export -d "x: batch, _" --as ex net(torch.randn(8, 4))'


def test_a_program_is_decomposed_and_compared_with_what_it_was(lab: Lab) -> None:
    lab.open([LOAD, NET, EXPORT, "%export_diff ex ex"])
    lab.run_all(60)
    root = explorer(lab)
    form = root.get_by_test_id("decompose")
    form.get_by_role("combobox").fill("core -lineer")
    form.get_by_role("button", name="Decompose").click()
    expect(root.get_by_test_id("outcome")).to_contain_text("no decomposition of lineer")
    form.get_by_role("combobox").fill("core")
    form.get_by_role("button", name="Decompose").click()
    expect(root.get_by_test_id("verdict")).to_contain_text("decomposed (core)", timeout=30_000)
    expect(form).to_contain_text("aten.linear.default ×1")
    expect(form).to_contain_text("aten.addmm.default ×1")
    assert lab.value("'addmm' in ex.program.graph_module.code") is True

    root.get_by_role("button", name="History").click()
    root.get_by_role("button", name="Compare").click()
    differences = root.get_by_test_id("differences")
    expect(differences).to_contain_text("added")
    rows = differences.get_by_test_id("difference")
    expect(rows.filter(has_text="aten.linear.default")).to_have_count(1)
    rows.filter(has_text="aten.addmm.default").get_by_role("button").click()
    root.get_by_role("tab", name="Inspector").click()
    expect(root.get_by_test_id("inspector")).to_contain_text("Comes from")
    expect(root.get_by_test_id("inspector")).to_contain_text("linear")
    expect(lab.page.get_by_text("Identical up to names")).to_be_visible()

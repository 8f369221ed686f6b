"""Running and profiling in JupyterLab: a table with bars, and the graph coloured by cost."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, expect

from .lab import Lab, open_tab
from .test_explorer import BERT, LOAD, explorer

NET = """
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(64, 256)
        self.down = torch.nn.Linear(256, 64)
    def forward(self, x):
        return x + self.down(self.up(x).relu())

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.Sequential(Block(), Block())
        self.head = torch.nn.Linear(64, 4)
    def forward(self, x):
        return self.head(self.blocks(x)).softmax(-1)

net, x = Net().eval(), torch.randn(8, 64)
"""
EXPORT = '%export -d "x: batch[2..512], _" --as ex net(x)'


def test_a_program_runs_from_the_page_and_its_ops_are_coloured_by_time(lab: Lab) -> None:
    lab.open([LOAD, NET, EXPORT])
    lab.run_all(60)
    root = explorer(lab)
    open_tab(root, "Runs")
    runs = root.get_by_test_id("runs")
    expect(runs).to_contain_text("Not run yet")
    expect(root.get_by_test_id("backend-eager")).to_be_checked()
    expect(runs.locator("details")).to_contain_text("cannot run here")

    root.get_by_test_id("run").click()
    eager = root.get_by_test_id("run-eager")
    expect(eager).to_contain_text("eager module")
    expect(root.get_by_test_id("run-program")).to_contain_text("first call")
    assert bar(eager) > 0
    assert lab.value("[row.backend for row in ex.record.runs]") == ["eager", "program"]

    root.get_by_test_id("run-size-0").fill("32")
    root.get_by_test_id("backend-eager").uncheck()
    root.get_by_test_id("run").click()
    expect(runs).to_contain_text("cpu, batch=32")
    assert lab.value("len(ex.record.runs)") == 3

    before = pixels(root)
    root.get_by_test_id("profile").click()
    expect(root.get_by_test_id("costs")).to_contain_text("blocks.0 · linear")
    root.get_by_test_id("costs-by").select_option("op")
    expect(root.get_by_test_id("costs")).to_contain_text("aten.linear.default")
    heat = root.get_by_test_id("heat")
    expect(heat).to_have_value("time")
    coloured = pixels(root)
    assert coloured != before
    expect(root.get_by_test_id("scale")).to_contain_text("of the time")
    root.get_by_test_id("legend").locator("summary").press("Enter")
    expect(root.get_by_test_id("legend")).to_contain_text("Colour by")
    root.get_by_test_id("legend").locator("summary").press("Escape")
    expect(root.get_by_test_id("legend").locator("dl")).not_to_be_visible()
    heat.select_option("none")
    assert pixels(root) != coloured

    heat.select_option("time")
    root.get_by_test_id("costs-by").select_option("scope")
    row = root.get_by_test_id("costs").locator("tr").filter(has_text="blocks.0")
    row.first.click()
    open_tab(root, "Source")
    lit = root.locator(".tx-code .tx-lit")
    expect(lit.filter(has_text="return x + self.down")).to_have_count(1)
    warm = root.locator(".tx-code [style*='color-mix']")
    expect(warm.first).to_be_visible()


def test_what_was_asked_for_opens_first_and_a_machine_without_it_is_no_green_tick(lab: Lab) -> None:
    asked = EXPORT.replace("%export", "%export --run cuda:7")
    lab.open([LOAD, NET, asked])
    lab.run_all(60)
    root = explorer(lab)
    expect(root.get_by_role("tab", name="Runs")).to_have_attribute("aria-selected", "true")
    expect(root.get_by_test_id("runs")).to_contain_text("There is no cuda:7")
    expect(root.get_by_test_id("tab-status")).to_have_text("did not run on cuda:7")
    expect(root.get_by_test_id("verdict")).to_have_class(re.compile("tx-mark-warn"))

    open_tab(root, "Verify")
    verify = root.get_by_test_id("verify")
    verify.click()
    working, pressed = root.get_by_test_id("working").bounding_box(), verify.bounding_box()
    assert working is not None
    assert pressed is not None
    assert 0 < working["y"] - pressed["y"] < 60
    expect(root.get_by_test_id("tab-status")).to_contain_text("verified")
    said = root.get_by_test_id("tab-status").get_by_role("button").first
    expect(said).to_have_css("border-radius", "999px")  # also where the host rounds every button


WAIT = """
import pathlib, time
def wait(*_):
    while not pathlib.Path("go").exists():
        time.sleep(0.05)
wait()
"""
SLOW = "ex.session.verify = lambda *_: wait()"


def test_a_busy_kernel_keeps_no_view_from_opening_and_no_pane_from_being_read(lab: Lab) -> None:
    lab.open([f"{LOAD}\n{BERT}", "%export --as ex bert(tokens)", WAIT, SLOW])
    lab.start_all()
    root = explorer(lab)
    expect(root.get_by_test_id("graph")).to_be_visible()
    expect(lab.page.get_by_text("[*]:").first).to_be_visible()
    go = lab.server.folder / "go"
    go.touch()
    lab.wait_until_idle()
    lab.run_all()
    go.unlink()

    open_tab(root, "Verify")
    expect(root.get_by_test_id("guarantees")).to_contain_text("up to")
    root.get_by_test_id("verify").click()
    expect(root.get_by_test_id("working")).to_contain_text("Verifying")
    for name, seen in {
        "Source": root.locator(".tx-code").first,
        "Code": root.locator(".tx-code").first,
        "Cost": root.get_by_test_id("cost-totals"),
        "Runs": root.get_by_test_id("backend-eager"),
        "Shapes": root.get_by_test_id("shapes"),
        "Inspector": root.get_by_test_id("inspector"),
    }.items():
        open_tab(root, name)
        expect(seen, name).to_be_visible(timeout=10_000)
        expect(root.get_by_test_id("working"), name).to_be_visible()
    root.get_by_test_id("working").get_by_role("button", name="Stop").click()
    expect(root.get_by_test_id("outcome")).to_contain_text("Interrupted")
    lab.wait_until_idle()


def bar(row: Locator) -> float:
    box = row.locator(".tx-bar").first.bounding_box()
    assert box is not None
    return box["width"]


def pixels(root: Locator) -> str:
    """What the canvas shows, once it has been painted."""
    canvas = root.get_by_test_id("graph")
    shown: str = canvas.evaluate(
        "async (each) => { await new Promise((done) => setTimeout(done, 400));"
        " return each.toDataURL(); }"
    )
    return shown

"""The main job: `%export` in JupyterLab, on a real model, seen and used as a person would."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from .lab import Lab, open_tab

LOAD = "%load_ext kernel_ext\nimport torch"
BERT = """
from transformers import BertConfig, BertModel
config = BertConfig(
    num_hidden_layers=2, hidden_size=64, num_attention_heads=4, intermediate_size=128,
    vocab_size=500,
)
bert = BertModel(config).eval()
tokens = torch.randint(0, 500, (2, 16))
"""
SMALL = """
class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)

    def forward(self, x):
        y = self.lin(x)
        return self.scaled(y)

    def scaled(self, y):
        return y.relu() * 2

small = Small()
x = torch.randn(4, 8)
"""


def explorer(lab: Lab, number: int = 0) -> Locator:
    """One widget of the notebook, drawn."""
    root = lab.page.locator(".tx-root").nth(number)
    expect(root.get_by_test_id("verdict").or_(root.get_by_test_id("failure")).first).to_be_visible()
    return root


def unfold_outline(root: Locator | Page) -> None:
    """Unfolds the tree of modules and ops below the search box, where it stays."""
    root.get_by_role("button", name="Outline", exact=True).click()


def selected_rows(root: Locator) -> Locator:
    return root.locator("[role=treeitem][aria-selected=true]")


def test_a_user_explores_bert(lab: Lab) -> None:
    lab.open([LOAD, BERT, '%export -d "input_ids: batch, seq[2..512]" --as b bert(tokens)'])
    lab.run_all(120)
    root = explorer(lab)
    expect(root.get_by_test_id("verdict")).to_contain_text("exported, non-strict")
    assert lab.value("type(b.program).__name__") == "ExportedProgram"
    assert root.get_by_role("tree").count() == 0

    # Expand a layer in the outline, and click one of its ops.
    unfold_outline(root)
    tree = root.get_by_role("tree")
    for name in ("encoder", "layer.0", "attention"):
        row = tree.get_by_role("treeitem").filter(has_text=name).first
        row.click()
        tree.press("ArrowRight")
        expect(row).to_have_attribute("aria-expanded", "true")
    root.get_by_role("combobox", name="Search ops").fill("scaled_dot_product layer.0")
    root.get_by_role("treeitem").first.click()
    inspector = root.get_by_test_id("inspector")
    expect(inspector).to_contain_text("scaled_dot_product_attention")
    expect(inspector).to_contain_text(["encoder", "layer", "0", "attention"][0])

    # Its line lights up in Source; the line's ops in both layers light up with a click.
    open_tab(root, "Source")
    line = root.locator(".tx-code [aria-current]").first
    expect(line).to_contain_text("scaled_dot_product_attention")
    line.click()
    expect(root.get_by_role("status").last).to_contain_text("2 ops selected")

    # Search by type, and clear.
    root.get_by_role("combobox", name="Search ops").fill("f32[*,*,64] linear")
    expect(root.get_by_role("treeitem").nth(7)).to_be_attached()
    root.get_by_role("combobox", name="Search ops").press("Escape")
    expect(root.get_by_role("treeitem").first).to_contain_text("input_ids")
    lab.screenshot("bert-light", root)


@pytest.mark.own_page
def test_the_widget_follows_the_theme_and_comes_back_after_a_reload(lab: Lab) -> None:
    lab.open([LOAD, SMALL, '%export -d "x: batch, _" small(x)'])
    lab.run_all(120)
    root = explorer(lab)
    light = root.evaluate("e => getComputedStyle(e).backgroundColor")
    lab.set_theme("dark")
    expect(root).not_to_have_css("background-color", light)
    pixel = "c => [...c.getContext('2d').getImageData(2, 2, 1, 1).data].slice(0, 3)"
    assert max(root.get_by_test_id("graph").evaluate(pixel)) < 80
    lab.screenshot("small-dark", root)
    lab.save()
    lab.reload()
    again = explorer(lab)
    expect(again.get_by_test_id("verdict")).to_contain_text("batch in [0, ∞)")


@pytest.mark.own_page
def test_the_bundle_reaches_the_page_once(lab: Lab) -> None:
    lab.open([LOAD, SMALL, "%export small(x)", "%export --strict small(x)"])
    sent = []
    lab.page.on(
        "websocket",
        lambda socket: socket.on(
            "framereceived", lambda data: sent.append(len(data)) if len(data) > 500_000 else None
        ),
    )
    lab.reload()  # so that the socket is seen from its start
    lab.run_all(120)
    explorer(lab, 0)
    lab.cell(3)
    explorer(lab, 1)
    assert len(sent) == 1, sent


def test_a_click_in_the_graph_selects_and_opens(lab: Lab) -> None:
    lab.open([LOAD, SMALL, "%export small(x)"])
    lab.run_all(120)
    root = explorer(lab)
    graph = root.get_by_test_id("graph")
    graph.focus()
    lab.page.wait_for_function("() => performance.getEntriesByName('tx:painted').length > 0")
    graph.press("ArrowDown")
    graph.press("ArrowDown")
    expect(root.get_by_test_id("inspector")).to_contain_text("aten.linear.default")
    open_tab(root, "Source")
    expect(root.locator(".tx-code [aria-current]").first).to_contain_text("self.lin(x)")
    graph.press("ArrowDown")
    expect(root.locator(".tx-code [aria-current]").last).to_contain_text("y.relu() * 2")
    graph.press("Escape")
    unfold_outline(root)
    expect(selected_rows(root)).to_have_count(0)


def test_a_failure_shows_its_line_and_no_traceback(lab: Lab) -> None:
    undecided = """
class Undecided(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()
"""
    lab.open([LOAD, undecided, "%export --both --as u Undecided()(torch.randn(3))"])
    lab.run_all(120)
    root = explorer(lab)
    expect(root.locator(".tx-failing")).to_contain_text("if x.sum() > 0:")
    expect(root.get_by_text("The whole traceback")).to_be_visible()
    expect(root.get_by_text("Traceback (most recent call last)")).to_be_hidden()
    root.get_by_role("tab").filter(has_text=re.compile(r"^strict$")).click()
    expect(root.get_by_test_id("verdict")).to_contain_text("strict: a branch on data")
    expect(root.locator(".tx-failing")).to_contain_text("if x.sum() > 0:")
    assert lab.value("u.ok") is False


def test_one_pane_stands_alone(lab: Lab) -> None:
    lab.open([LOAD, SMALL, "%export --no-display --as e small(x)", "e.signature"])
    lab.run_all(120)
    root = explorer(lab)
    expect(root.get_by_test_id("signature")).to_contain_text("lin.weight")
    expect(root.get_by_test_id("graph")).to_have_count(0)


def test_markup_from_a_model_stays_text(lab: Lab) -> None:
    hostile = """
MARK = "<img src=x onerror='window.hacked=1'>"
class Hostile(torch.nn.Module):
    __doc__ = MARK
    def forward(self, x):
        if x.sum() > 100:
            pass
        return {MARK: x + 1}
class Honest(torch.nn.Module):
    def forward(self, x):
        print(MARK)
        return {MARK: x + 1}
class Raising(torch.nn.Module):
    def forward(self, x):
        raise ValueError(MARK)
Honest.__qualname__ = MARK
x = torch.randn(3)
"""
    calls = ["%export Honest()(x)", "%export Raising()(x)", "%export Hostile()(x)"]
    lab.open([LOAD, hostile, *calls])
    lab.run_all(120)
    for number in range(3):
        lab.cell(2 + number)
        root = explorer(lab, number)
        for tab in root.locator("[role=tab]").all():
            open_tab(root, (tab.text_content() or "").split()[0])
        for details in root.locator("details > summary").all():
            details.click()
    assert lab.page.evaluate("() => window.hacked === undefined")
    assert lab.page.locator(".jp-Notebook img[src=x]").count() == 0


def test_an_interrupt_leaves_the_session_and_the_last_result(lab: Lab) -> None:
    slow = """
import time
class Slow(torch.nn.Module):
    def forward(self, x):
        for _ in range(10_000):
            time.sleep(0.01)
            x = x + 1
        return x
"""
    lab.open([LOAD, SMALL, slow, "%export --as good small(x)", "%export --as good Slow()(x)"])
    lab.start_all()
    lab.page.wait_for_function(
        "() => document.querySelectorAll('.tx-root').length === 1",
    )
    expect(lab.page.get_by_text("Exporting Slow()(x) …")).to_be_attached()
    lab.interrupt()
    lab.cell(4)
    expect(lab.page.get_by_text("Interrupted. Nothing has changed.")).to_be_visible()
    assert lab.value("good.ok") is True


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [700, 1200])
def test_it_fits(lab: Lab, width: int, theme: str) -> None:
    lab.page.set_viewport_size({"width": width, "height": 900})
    lab.open([LOAD, BERT, '%export -d "input_ids: batch, seq[2..512]" bert(tokens)'])
    if theme == "dark":
        lab.set_theme("dark")
    lab.run_all(120)
    root = explorer(lab)
    overflow = root.evaluate("e => e.scrollWidth - e.clientWidth")
    assert overflow <= 1
    box = root.get_by_test_id("graph").bounding_box()
    assert box is not None
    assert box["width"] > 300
    assert box["height"] > 180
    lab.page.wait_for_timeout(400)
    lab.screenshot(f"bert-{width}-{theme}", root)


def test_every_control_has_a_name(lab: Lab) -> None:
    lab.open([LOAD, SMALL, "%export small(x)"])
    lab.run_all(120)
    root = explorer(lab)
    for button in root.locator("button").all():
        name = button.get_attribute("aria-label") or button.text_content() or ""
        assert re.search(r"\w|\?|\+|−", name), button.evaluate("e => e.outerHTML")

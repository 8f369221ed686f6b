"""The HTML report, opened from disk with the network cut."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, BrowserContext, expect

import explorer

from ..models import branching, gpt2_12
from .lab import open_tab
from .test_explorer import unfold_outline
from .watch import Watch

MARKUP = "</script><script>document.title = 'run'</script><img src=x onerror=alert(1)>"


class Undecided(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x.sin()
        return x.cos()


def test_forced_colours_keep_what_colours_say(browser: Browser, tmp_path: Path) -> None:
    ex = explorer.explore(torch.nn.ReLU(), (torch.ones(3),))
    ex.cost().measure()
    failed = explorer.explore(Undecided(), (torch.ones(3),), title="undecided(x)")
    context = browser.new_context(forced_colors="active", color_scheme="dark")
    page = context.new_page()
    page.goto(ex.save(tmp_path / "report.html").as_uri())
    line = "tab => getComputedStyle(tab).borderBottomColor"
    tabs = page.get_by_role("tablist", name="Details").get_by_role("tab")
    expect(tabs.first).to_be_visible()
    closed = [tab for tab in tabs.all() if tab.get_attribute("aria-selected") == "false"]
    assert {tab.evaluate(line) for tab in closed} == {"rgb(0, 0, 0)"}  # as the page behind it
    assert tabs.and_(page.locator("[aria-selected=true]")).evaluate(line) != "rgb(0, 0, 0)"
    unfold_outline(page)
    open_tab(page, "Runs")
    shown = "each => getComputedStyle(each).backgroundColor"
    assert page.locator(".tx-bar-heat").first.evaluate(shown) == "rgb(255, 255, 255)"
    assert page.locator(".tx-row-dot").first.evaluate(shown) != "rgb(0, 0, 0)"
    page.goto(failed.save(tmp_path / "failed.html").as_uri())
    failing = page.locator(".tx-failing").first
    assert failing.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    context.close()


def test_a_report_works_without_kernel_and_network(
    context: BrowserContext, watch: Watch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = gpt2_12()
    title = f"gpt2(tokens) {MARKUP}"
    ex = explorer.explore(
        case.model, case.args, dict(case.kwargs), dynamic_shapes=case.shapes, title=title
    )
    path = ex.save(tmp_path / "report.html")
    with capsys.disabled():
        print(f"\nreport of GPT-2 with 12 layers: {path.stat().st_size / 1e6:.2f} MB")
    assert path.stat().st_size < 2e6
    context.set_offline(True)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.get_by_test_id("verdict")).to_contain_text("exported, non-strict")
    assert page.title() == title
    assert len(page.workers) == 1  # that lays out; a page from disk may have none that is a module
    unfold_outline(page)
    page.get_by_role("treeitem", name="linear").click()
    expect(page.get_by_role("region", name="Inspector")).to_contain_text("aten.linear.default")
    open_tab(page, "Source")
    expect(page.locator(".tx-code").first).to_contain_text("logits = self.lm_head(hidden_states)")
    for tab in ("Signature", "Shapes", "Code"):
        open_tab(page, tab)
    expect(page.get_by_text("torch.ops.aten.linear.default").first).to_be_visible()
    assert not watch.problems


def test_a_report_is_used_by_keys_and_read_aloud(context: BrowserContext, tmp_path: Path) -> None:
    case = branching()
    ex = explorer.explore(case.model, case.args, dynamic_shapes=case.shapes)
    context.set_offline(True)
    page = context.new_page()
    page.goto(ex.save(tmp_path / "report.html").as_uri())
    unfold_outline(page)
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem").first).to_be_visible()
    page.locator(".tx-canvas").focus()
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search ops")).to_be_focused()
    page.keyboard.type("linear")
    expect(tree.get_by_role("treeitem").filter(has_text="linear").first).to_be_visible()
    page.get_by_role("combobox", name="Search ops").fill("")
    tree.focus()
    page.keyboard.press("ArrowDown")
    expect(tree.locator("[aria-selected=true]")).to_have_count(1)
    expect(page.locator("[role=status][aria-live=polite]").last).not_to_be_empty()
    for _ in range(6):
        page.keyboard.press("F6")
        inside = "document.activeElement.closest('[data-pane], .tx-graph') !== null"
        assert page.evaluate(inside)
    unnamed = """() => [...document.querySelectorAll("button, input, select, canvas, [role=tab]")]
        .filter(each => !(each.textContent.trim() || each.getAttribute("aria-label")
            || each.title || each.labels?.length)).map(each => each.outerHTML)"""
    assert page.evaluate(unnamed) == []


def test_the_graph_keeps_the_colours_of_what_surrounds_it(
    context: BrowserContext, tmp_path: Path
) -> None:
    ex = explorer.explore(torch.nn.ReLU(), (torch.ones(3),))
    page = context.new_page()
    page.emulate_media(color_scheme="dark")
    page.goto(ex.save(tmp_path / "report.html").as_uri())
    graph = page.locator(".tx-canvas")
    expect(graph).to_be_visible()
    corner = """canvas => canvas.getContext("2d").getImageData(2, 2, 1, 1).data[0]"""
    page.wait_for_function("document.querySelector('.tx-root').dataset.txTheme === 'dark'")
    page.set_viewport_size({"width": 700, "height": 900})  # another graph, made while it changes
    page.emulate_media(color_scheme="light")
    expect(page.locator(".tx-body-column")).to_be_visible()
    page.wait_for_timeout(300)
    assert graph.evaluate(corner) > 128
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(300)
    assert graph.evaluate(corner) < 128


def test_a_report_of_two_programs_compares_them(
    context: BrowserContext, watch: Watch, tmp_path: Path
) -> None:
    ones = [explorer.explore(act(), (torch.ones(3),)) for act in (torch.nn.ReLU, torch.nn.GELU)]
    context.set_offline(True)
    page = context.new_page()
    page.goto(explorer.diff(*ones).save(tmp_path / "both.html").as_uri())
    expect(page.get_by_test_id("differences")).to_contain_text("1 changed.")
    expect(page.get_by_test_id("graph-before")).to_be_visible()
    page.get_by_text("Printed graph: main").click()
    expect(page.get_by_test_id("differences")).to_contain_text("+    gelu")
    expect(page.get_by_test_id("difference")).to_contain_text("aten.gelu.default")
    for tab in ("Findings", "Verify", "Shapes"):
        open_tab(page, tab)
    expect(page.get_by_test_id("probe-verdict")).to_contain_text("The guards accept it")
    assert not watch.problems


def test_a_report_of_a_failure_shows_the_line(
    context: BrowserContext, watch: Watch, tmp_path: Path
) -> None:
    ex = explorer.explore(Undecided(), (torch.ones(3),), title="undecided(x)")
    page = context.new_page()
    page.goto(ex.save(tmp_path / "report.html").as_uri())
    failure = page.get_by_test_id("failure")
    expect(failure).to_contain_text("if x.sum() > 0:")
    expect(page.get_by_role("button", name="Apply", exact=True)).to_have_count(0)
    assert not watch.problems


def test_a_failure_on_a_phone_is_not_cut_and_is_touched(browser: Browser, tmp_path: Path) -> None:
    ex = explorer.explore(Undecided(), (torch.ones(3),), title="undecided(x)")
    path = ex.save(tmp_path / "report.html")
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = phone.new_page()
    page.goto(path.as_uri())
    failure = page.get_by_test_id("failure")
    expect(failure.get_by_test_id("fix").first).to_be_visible()
    assert failure.evaluate("pane => pane.scrollWidth - pane.clientWidth") == 0
    low = """pane => [...pane.querySelectorAll("summary, button")]
        .filter(each => each.checkVisibility() && each.getBoundingClientRect().height < 24)
        .map(each => each.outerHTML)"""
    assert failure.evaluate(low) == []
    phone.close()


class Gated(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.conv(x)
        y = y * 2 if y.mean() > 0 else y - 1
        return y.flatten(2).softmax(-1)


def test_shapes_and_a_fixed_program_are_read_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    ex = explorer.explore(
        Gated().eval(), (torch.randn(2, 3, 16, 24),), dynamic_shapes="x: _, _, height, width"
    )
    failed = ex.save(tmp_path / "failed.html")
    ex.autofix()
    fixed = ex.save(tmp_path / "fixed.html")
    phone = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = phone.new_page()
    page.goto(failed.as_uri())
    page.get_by_role("tab", name="Shapes").tap()
    guards = page.locator(".tx-guard-table tbody tr")
    expect(guards.first).to_be_visible()
    overlaps = """rows => rows.flatMap(row => [...row.children].map(cell =>
        cell.scrollHeight - cell.clientHeight)).filter(over => over > 1)"""
    assert guards.evaluate_all(overlaps) == []

    page.goto(fixed.as_uri())
    expect(page.get_by_test_id("outcome")).to_be_visible()
    assert page.locator(".tx-main").evaluate("main => main.clientHeight") > 500
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.get_by_role("tab", name="Source").tap()
    expect(page.get_by_role("region", name="Source")).to_contain_text("torch.where(")
    phone.close()


def test_without_scripts_a_picture_is_left(
    context: BrowserContext, tmp_path: Path, watch: Watch
) -> None:
    case = branching()
    text = explorer.explore(case.model, case.args).save(tmp_path / "report.html").read_text()
    still = tmp_path / "still.html"
    still.write_text(text.replace('type="module"', 'type="nothing"'))
    page = context.new_page()
    page.goto(still.as_uri())
    expect(page.locator("svg")).to_be_visible()
    assert not watch.problems

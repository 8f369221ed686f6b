"""axe finds nothing wrong in any view: names, roles, keys, and contrast in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import BrowserContext, Page, expect

import explorer

from ..models import branching
from .axe import Axe
from .lab import Lab, open_tab
from .test_comparing import EXPORTS, NET_OF_TWO
from .test_explorer import LOAD, unfold_outline
from .test_report import Undecided
from .test_running import EXPORT, NET

TABS = ("Inspector", "Source", "Signature", "Shapes", "Findings", "Verify", "Runs", "Code")
HTML = ".jp-RenderedHTML"
LESSON = """
import explorer
lesson = explorer.lesson("a_first_export")
answers = [("1", None), ("2", "aten.add"), ("2", "aten.div.Tensor")]
display(lesson, *(lesson.check(*each) for each in answers), lesson.progress())
"""
BROKEN = """
class Broken(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x.sin()
        return x.cos()
"""


@pytest.fixture
def axe(capsys: pytest.CaptureFixture[str]) -> Iterator[Axe]:
    """Checks what the test shows it; anything found fails the test, with all the rest."""
    axe = Axe()
    yield axe
    with capsys.disabled():
        print(f"\naxe: {axe.checks:,} checks in {axe.states} states")
    assert axe.checks > axe.states
    assert not axe.problems, "\n".join(dict.fromkeys(axe.problems))


def _opened(context: BrowserContext, path: Path, width: int = 1200) -> Page:
    context.set_offline(True)
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(path.as_uri())
    expect(page.locator(".tx-header")).to_be_visible()
    return page


@pytest.mark.parametrize("width", [1200, 700])
def test_every_tab_of_a_program(
    context: BrowserContext, tmp_path: Path, axe: Axe, width: int
) -> None:
    case = branching()
    ex = explorer.explore(case.model, case.args, dynamic_shapes=case.shapes)
    ex.verify(sizes=2)
    ex.run()
    ex.cost().measure()
    page = _opened(context, ex.save(tmp_path / "report.html"), width)
    axe.check_both(page, "as it opens", "html")
    unfold_outline(page)
    page.get_by_role("combobox", name="Search ops").first.fill("linear")
    axe.check_both(page, "found")
    page.get_by_role("treeitem").nth(2).click()
    for tab in TABS:
        open_tab(page, tab)
        axe.check_both(page, tab)
    page.get_by_role("button", name="Commands").click()
    axe.check_both(page, "commands")


def test_a_failure_and_a_comparison(context: BrowserContext, tmp_path: Path, axe: Axe) -> None:
    failed = explorer.explore(Undecided(), (torch.ones(3),), title="undecided(x)")
    page = _opened(context, failed.save(tmp_path / "failed.html"))
    axe.check_both(page, "failure")
    for tab in ("Graph up to there", "Source", "What went wrong"):
        open_tab(page, tab)
        axe.check_both(page, f"failure, {tab}")
    for folded in page.locator("summary").all():
        folded.click()
    axe.check_both(page, "failure, unfolded")
    acts = [explorer.explore(act(), (torch.ones(3),)) for act in (torch.nn.ReLU, torch.nn.GELU)]
    page = _opened(context, explorer.diff(*acts).save(tmp_path / "both.html"))
    expect(page.get_by_test_id("graph-before")).to_be_visible()
    page.get_by_text("Printed graph: main").click()
    axe.check_both(page, "comparison")
    page.get_by_role("button", name="Overlay").click()
    axe.check_both(page, "overlay")


def test_what_there_is_nothing_to_show_of(
    context: BrowserContext, tmp_path: Path, axe: Axe
) -> None:
    ex = explorer.explore(torch.nn.Identity(), (torch.ones(3),))
    page = _opened(context, ex.save(tmp_path / "empty.html"))
    page.get_by_role("combobox", name="Search ops").first.fill("nothing of that name")
    said = {
        "Source": "no op",
        "Shapes": "Every size is static",
        "Findings": "No findings",
        "Verify": "was not verified before",
        "Runs": "was not run before",
    }
    for tab, text in said.items():
        open_tab(page, tab)
        expect(page.get_by_text(text)).to_be_visible()
        axe.check_both(page, f"empty, {tab}")


@pytest.mark.parametrize("width", [1200, 700])
def test_long_names_keep_to_their_places(
    context: BrowserContext, tmp_path: Path, axe: Axe, width: int
) -> None:
    name = "a_submodule_of_a_rather_long_name_and_then_some_more"
    dim = "a_size_that_goes_by_a_name_of_sixty_characters_all_in_all_yes"
    net = torch.nn.Sequential(torch.nn.Linear(4, 4))
    for _ in range(4):
        outer = torch.nn.Sequential()
        outer.add_module(name, net)
        net = outer
    ex = explorer.explore(net, (torch.ones(2, 4),), dynamic_shapes=f"input: {dim}, _")
    page = _opened(context, ex.save(tmp_path / "long.html"), width)
    page.get_by_role("combobox", name="Search ops").first.fill("linear")
    page.get_by_role("treeitem").last.click()
    for tab in TABS:
        open_tab(page, tab)
        assert page.evaluate(_OUTSIDE) == [], tab
    axe.check_both(page, "long names")


def test_what_only_a_kernel_shows(lab: Lab, axe: Axe) -> None:
    lab.open(
        [
            f"{LOAD}\n{NET}{BROKEN}{NET_OF_TWO}\nbroken = Broken()",
            EXPORT,
            "%export broken(torch.ones(4))",
            f"{EXPORTS[0]}\n{EXPORTS[1]}\n%export_diff a b",
            "%exportdb",
            "%export --vs-compile broken(torch.ones(4))",
            LESSON,
        ]
    )
    lab.page.set_viewport_size({"width": 1400, "height": 1600})
    lab.run_all(180)
    program = lab.cell(1)
    expect(program.get_by_test_id("verdict")).to_be_visible()
    open_tab(program, "Verify")
    program.get_by_test_id("verify").click()
    expect(program.locator(".tx-guarantee-holds").first).to_be_visible()
    lab.execute("import time; net.register_forward_pre_hook(lambda *_: time.sleep(5))")
    program.get_by_role("spinbutton", name="Number of sizes").fill("1000")
    program.get_by_test_id("verify").click()
    expect(program.get_by_test_id("working")).to_be_visible()
    axe.check(lab.page, "verifying", _of(1))
    program.get_by_role("button", name="Stop").click()
    expect(program.get_by_test_id("outcome")).to_contain_text("Interrupted")
    failure = lab.cell(2)
    axe.check(lab.page, "failure, live", _of(2))
    failure.get_by_role("button", name="Apply", exact=True).first.click()
    expect(failure.get_by_test_id("verdict")).to_contain_text("exported")
    failure.get_by_role("button", name="History").click()
    library = lab.cell(4).locator(".tx-library")
    expect(library).to_contain_text("36 cases")
    library.get_by_role("button", name="slicing").first.click()
    expect(library.get_by_test_id("case-page")).to_be_visible()
    library.get_by_role("searchbox").fill("nothing of that name")
    axe.check(lab.page, "nothing found", _of(4))
    library.get_by_role("searchbox").fill("")
    states = {1: "interrupted", 2: "fixed, with its history", 3: "comparison", 4: "ExportDB"}
    for theme in ("light", "dark"):
        lab.set_theme(theme)
        for cell, state in states.items():
            expect(lab.cell(cell).locator(".tx-root").first).to_be_visible()
            assert lab.page.evaluate(_SIZES, list(_SCALE)) == [], state
            axe.check(lab.page, f"{state}, {theme}", _of(cell))
        expect(lab.cell(5)).to_contain_text("torch.compile and torch.export")
        axe.check(lab.page, f"compile view, {theme}", _of(5), _of(5, HTML))
        expect(lab.cell(6)).to_contain_text("Exercise 2: not yet")
        axe.check(lab.page, f"lesson, {theme}", _of(6, HTML))


# What sticks out of the view to the right, though nothing that holds it scrolls or cuts it off.
_OUTSIDE = """() => {
    const edge = document.querySelector(".tx-root").getBoundingClientRect().right + 1;
    const held = each => {
        for (let at = each.parentElement; !at.matches(".tx-root"); at = at.parentElement)
            if (getComputedStyle(at).overflowX !== "visible") return true;
        return false;
    };
    return [...document.querySelectorAll(".tx-root *")]
        .filter(each => each.getBoundingClientRect().right > edge && !held(each))
        .map(each => each.outerHTML.slice(0, 160));
}"""


_SCALE = {size * 0.95**depth for size in (11, 12, 12.5, 15) for depth in range(3)}
"""Pixels of text: those of tokens.css, and what is set in mono within them."""

# Text of a size that is none of the scale's: a host's style sheet may set its own.
_SIZES = """scale => [...document.querySelectorAll(".tx-root *")]
    .filter(each => [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .filter(each => !scale.some(size =>
        Math.abs(parseFloat(getComputedStyle(each).fontSize) - size) < 0.02))
    .map(each => `${getComputedStyle(each).fontSize}: ${each.outerHTML.slice(0, 120)}`)
    .slice(0, 20)"""


def _of(cell: int, what: str = ".tx-root") -> str:
    """What is in a cell; axe does not find its way to what is scrolled far away."""
    return f".jp-Cell[data-windowed-list-index='{cell}'] {what}"

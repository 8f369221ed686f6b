"""A `.pt2` file in JupyterLab: a double click opens it, without a kernel."""

from __future__ import annotations

import torch
from playwright.sync_api import expect

from explorer import explore

from .lab import Lab

NOTHING = ["1"]


def _save(lab: Lab, name: str) -> None:
    def forward(x: torch.Tensor) -> torch.Tensor:
        return x.sin().relu()

    explore(forward, (torch.ones(3, 4),), dynamic_shapes="x: batch, _").save(
        lab.server.folder / name
    )


def test_a_double_click_opens_a_program_without_a_kernel(lab: Lab) -> None:
    _save(lab, "clicked.pt2")
    lab.open(NOTHING)
    lab.command("filebrowser:activate")
    lab.command("filebrowser:refresh")
    lab.page.locator(".jp-DirListing-item", has_text="clicked.pt2").dblclick()
    tab = lab.page.locator(".jp-Document .tx-root")
    expect(tab).to_be_visible()
    expect(tab).to_contain_text("2 ops")
    sessions = lab.server.api("sessions")
    assert isinstance(sessions, list)
    assert [each["path"] for each in sessions] == [lab.path and lab.path.name]
    lab.screenshot("program-tab")
    icon = lab.page.locator(".lm-TabBar-tab", has_text="clicked.pt2").locator(".lm-TabBar-tabIcon")
    assert icon.evaluate("each => getComputedStyle(each).backgroundImage") != "none"
    button = lab.page.get_by_role("button", name="Open in a notebook")
    assert button.evaluate("each => getComputedStyle(each).borderTopWidth") == "1px"
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    lab.screenshot("program-tab-dark-700")
    lab.page.set_viewport_size({"width": 1400, "height": 900})
    lab.page.get_by_role("button", name="Open in a notebook").click()
    cell = lab.page.locator(".jp-Notebook .cm-content", has_text="explorer.load")
    expect(cell).to_contain_text('explorer.load("clicked.pt2")')


def test_two_selected_files_are_compared(lab: Lab) -> None:
    _save(lab, "first.pt2")
    _save(lab, "second.pt2")
    explore(torch.nn.ReLU(), (torch.ones(3, 4),)).save(lab.server.folder / "third.pt2")
    lab.open(NOTHING)
    lab.command("filebrowser:activate")
    lab.command("filebrowser:refresh")
    item = lab.page.locator(".jp-DirListing-item")
    item.filter(has_text="third.pt2").click()
    item.filter(has_text="third.pt2").click(button="right")
    menu = lab.page.locator(".lm-Menu-content")
    expect(menu).to_be_visible()
    expect(menu.get_by_text("Compare Exported Programs")).not_to_be_visible()
    lab.page.keyboard.press("Escape")
    item.filter(has_text="first.pt2").click(modifiers=["Control"])
    item.filter(has_text="first.pt2").click(button="right")
    menu.get_by_text("Compare Exported Programs").click()
    tab = lab.page.locator(".jp-MainAreaWidget .tx-root").last
    expect(tab).to_be_visible()
    expect(lab.page.get_by_text("first.pt2 → third.pt2").last).to_be_visible()
    expect(tab).to_contain_text("removed")
    lab.screenshot("compared-files")
    lab.page.get_by_role("button", name="Swap").click()
    expect(lab.page.get_by_text("third.pt2 → first.pt2").last).to_be_visible()
    expect(tab).to_contain_text("added")


def test_a_file_that_is_not_a_program_is_said_to_be_that(lab: Lab) -> None:
    (lab.server.folder / "broken.pt2").write_bytes(b"not an archive")
    lab.open(NOTHING)
    lab.command("docmanager:open", {"path": "broken.pt2"})
    said = lab.page.get_by_role("alert").filter(has_text="broken.pt2 cannot be shown")
    expect(said).to_be_visible()

"""A `.pt2` file in JupyterLab: a double click opens it, without a kernel."""

from __future__ import annotations

from playwright.sync_api import expect

from explorer import explore

from .lab import Lab

NOTHING = ["1"]


def _save(lab: Lab, name: str) -> None:
    import torch

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
    expect(tab).to_be_visible(timeout=30_000)
    expect(tab).to_contain_text("2 ops")
    sessions = lab.server.api("sessions")
    assert isinstance(sessions, list)
    assert [each["path"] for each in sessions] == [lab.path and lab.path.name]
    lab.screenshot("program-tab")
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    lab.screenshot("program-tab-dark-700")
    lab.page.set_viewport_size({"width": 1400, "height": 900})
    lab.page.get_by_role("button", name="Open in a notebook").click()
    cell = lab.page.locator(".jp-Notebook .cm-content", has_text="explorer.load")
    expect(cell).to_contain_text('explorer.load("clicked.pt2")', timeout=30_000)


def test_a_file_that_is_not_a_program_is_said_to_be_that(lab: Lab) -> None:
    (lab.server.folder / "broken.pt2").write_bytes(b"not an archive")
    lab.open(NOTHING)
    lab.command("docmanager:open", {"path": "broken.pt2"})
    said = lab.page.get_by_role("alert").filter(has_text="broken.pt2 cannot be shown")
    expect(said).to_be_visible(timeout=30_000)

"""A file that nobody here saved: shown as data, and given a program by one click."""

from __future__ import annotations

import pytest
import torch
from playwright.sync_api import expect

from .lab import Lab, open_tab
from .server import Server
from .test_explorer import LOAD, explorer


class Net(torch.nn.Module):
    """Small."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.lin(x).relu()


@pytest.fixture
def stranger(server: Server) -> str:
    """The name of a file beside the notebooks that torch alone wrote."""
    program = torch.export.export(Net(), (torch.randn(4, 8),))
    torch.export.save(program, server.folder / "stranger.pt2")
    return "stranger.pt2"


def test_a_file_is_shown_as_data_until_it_is_trusted(lab: Lab, stranger: str) -> None:
    lab.open([LOAD, f"%export --load {stranger} --as ex"])
    lab.run_all(120)
    root = explorer(lab)
    expect(root.get_by_test_id("verdict")).to_contain_text("loaded, 2 ops")
    banner = root.get_by_test_id("untrusted")
    expect(banner).to_contain_text("Opened as data")
    for width in (1200, 700):
        lab.page.set_viewport_size({"width": width, "height": 900})
        lab.screenshot(f"untrusted-{width}-light", root)
    lab.set_theme("dark")
    lab.screenshot("untrusted-700-dark", root)
    lab.page.set_viewport_size({"width": 1200, "height": 900})
    lab.screenshot("untrusted-1200-dark", root)

    open_tab(root, "Verify")
    root.get_by_test_id("verify").click()
    refusal = "There is no program to verify: stranger.pt2 was opened as data."
    expect(root).to_contain_text(refusal)

    banner.get_by_role("button", name="Trust and load").click()
    expect(banner).to_have_count(0)
    assert lab.value("type(ex.program).__name__") == "ExportedProgram"
    root.get_by_test_id("verify").click()
    expect(root.get_by_test_id("guarantees")).to_contain_text("guarantees hold")
    assert lab.value("ex.record.verification is not None", 60)

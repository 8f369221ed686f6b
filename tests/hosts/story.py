"""The story: an export fails, a click fixes it; then expand, select, search and run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from ..browser.lab import open_tab

SETUP = """\
import torch
import explorer

class Limit(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.ReLU())

    def forward(self, x, y):
        x = self.body(x)
        if x.shape[0] <= 16:
            return x @ y[:, :16]
        return y

inputs = (torch.ones(8, 32), torch.ones(32, 64))
ex = explorer.explore(Limit().eval(), inputs, dynamic_shapes="x: a, _; y: _, d")"""
SECONDS = 40.0
"""For whatever waits for the kernel."""
SCREENSHOTS = Path(__file__).parents[1] / "browser" / "screenshots"


def _show(root: Locator) -> None:
    expect(root.get_by_test_id("failure")).to_contain_text(
        "a is at most 16", timeout=SECONDS * 1000
    )


def _fix(root: Locator) -> None:
    fix = root.get_by_test_id("failure").get_by_test_id("fix").first
    fix.get_by_role("button", name="Apply", exact=True).click()
    verdict = root.get_by_test_id("verdict")
    expect(verdict).to_contain_text(re.compile(r"(?<!not )exported, "), timeout=SECONDS * 1000)
    expect(root.get_by_test_id("check")).to_contain_text("Agrees with eager", timeout=20_000)


def _expand(root: Locator) -> None:
    root.get_by_text("Expand", exact=True).click()
    _outline(root)
    body = root.get_by_role("treeitem").filter(has_text="body").first
    body.click()
    body.press("ArrowRight")
    expect(root.get_by_role("treeitem").filter(has_text="linear").first).to_be_visible()


def _search(root: Locator) -> None:
    _outline(root)
    root.get_by_role("combobox", name="Search ops").fill("op:linear")
    expect(root.get_by_role("treeitem").filter(has_text="relu")).to_have_count(0)


def _select(root: Locator) -> None:
    root.get_by_role("treeitem").filter(has_text="linear").last.click()
    expect(root).to_contain_text("aten.linear.default")


def _run(root: Locator) -> None:
    open_tab(root, "Runs")
    root.get_by_role("button", name="Run", exact=True).click()
    expect(root).to_contain_text("agrees", timeout=SECONDS * 1000, ignore_case=True)


def _outline(root: Locator) -> None:
    """Unfolds the tree below the search box."""
    button = root.get_by_role("button", name="Outline", exact=True)
    if button.get_attribute("aria-expanded") == "false":
        button.click()


STEPS: tuple[tuple[str, Callable[[Locator], None]], ...] = (
    ("show", _show),
    ("fix", _fix),
    ("expand", _expand),
    ("search", _search),
    ("select", _select),
    ("run", _run),
)


def told(page: Page, root: Locator, host: str) -> dict[str, str]:
    """What came of each step: empty if it worked, else why not; those after it are not tried."""
    found: dict[str, str] = {}
    for name, step in STEPS:
        try:
            step(root)
        except AssertionError as error:
            found[name] = str(error).splitlines()[0]
        except Exception as error:  # noqa: BLE001 - playwright's, told in the table
            found[name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        else:
            found[name] = ""
        if found[name]:
            break
    SCREENSHOTS.mkdir(exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"host-{host.lower().replace(' ', '-')}.png")
    return found

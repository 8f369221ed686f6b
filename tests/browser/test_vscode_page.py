"""The page of VS Code's extension, in Chromium under its own policy: the extension is played."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page, Route, expect

from explorer import explore
from tests.browser.lab import SCREENSHOTS
from tests.browser.test_explorer import unfold_outline
from widgets import front_end, front_end_layout

ROOT = Path(__file__).parents[2]
HOME = "https://vscode.test"
"""Whatever the page asks of any other place is refused."""
API = """
window.said = [];
window.acquireVsCodeApi = () => ({ postMessage: (message) => window.said.push(message) });
"""
COLOURS = {
    "light": {"editor-background": "#ffffff", "editor-foreground": "#3b3b3b"},
    "dark": {"editor-background": "#1f1f1f", "editor-foreground": "#cccccc"},
}


class Block(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.relu()
        return x.sigmoid()


class Extension:
    """What the page hears, and what it says."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def tell(self, message: dict[str, Any]) -> None:
        self.page.evaluate("message => window.postMessage(message, '*')", message)

    def said(self, kind: str) -> dict[str, Any]:
        """The last message of a kind."""
        asked = f"window.said.findLast((each) => each.kind === {json.dumps(kind)})"
        return dict(self.page.wait_for_function(asked).json_value())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file whose name is not one to be trusted."""
    folder = tmp_path_factory.mktemp("models")
    return explore(Block(), (torch.ones(3),)).save(folder / "<img src=x onerror=alert(1)>.pt2")


@pytest.fixture(scope="module")
def printed(program: Path) -> str:
    """What the extension's Python prints of it."""
    command = [sys.executable, "-P", "-m", "explorer", "page", str(program)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def built() -> dict[str, str]:
    """The page and its script."""
    command = ["node", "ide/vscode/testing/page.mjs", f"{HOME}/webview.js", "of-this-page"]
    return dict(
        json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    )


@pytest.fixture(params=["light", "dark"])
def extension(
    request: pytest.FixtureRequest, browser: Browser, built: dict[str, str]
) -> Iterator[Extension]:
    """The page in a theme of VS Code's, before it was told anything."""
    served = {
        "/page": (built["html"], "text/html"),
        "/webview.js": (built["script"], "text/javascript"),
        "/front-end.js": (front_end().decode(), "text/javascript"),
        "/layout.js": (front_end_layout().decode(), "text/javascript"),
    }

    def answer(route: Route) -> None:
        body, kind = served.get(route.request.url.removeprefix(HOME), (None, ""))
        if body is None:
            route.abort()
        else:
            route.fulfill(body=body, content_type=f"{kind}; charset=utf-8")

    colours = "".join(
        f"--vscode-{name}: {value};" for name, value in COLOURS[request.param].items()
    )
    other = "light" if request.param == "dark" else "dark"
    context = browser.new_context(viewport={"width": 1200, "height": 760}, color_scheme=other)
    context.add_init_script(API)
    page = context.new_page()
    page.route("**/*", answer)
    found = Extension(page)
    page.goto(f"{HOME}/page")
    page.evaluate("colours => document.documentElement.setAttribute('style', colours)", colours)
    yield found
    assert found.errors == []
    context.close()


def shown(extension: Extension, printed: str) -> None:
    """The program, drawn."""
    assert extension.said("ready")
    page = printed.split("\n", 1)[1]
    extension.tell({"kind": "show", "frontEnd": f"{HOME}/front-end.js", "page": page})
    unfold_outline(extension.page)
    expect(extension.page.get_by_role("treeitem").filter(has_text="sigmoid")).to_be_visible()


def test_a_program_is_drawn_and_linked_with_the_editor_both_ways(
    extension: Extension, printed: str, request: pytest.FixtureRequest
) -> None:
    theme = request.node.callspec.params["extension"]
    shown(extension, printed)
    page = extension.page
    root = page.locator(".tx-root")
    expect(root).to_have_attribute("data-tx-theme", theme)
    sources = extension.said("sources")["sources"]
    (file,) = [number for number, each in enumerate(sources) if each["path"] == __file__]
    assert sources[file]["text"] == Path(__file__).read_text().rstrip("\n")

    line = next(
        number
        for number, text in enumerate(sources[file]["text"].split("\n"), 1)
        if ".sigmoid" in text
    )
    extension.tell({"kind": "follow", "place": {"file": file, "line": line}})
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("sigmoid")
    page.get_by_role("treeitem").filter(has_text="relu").first.click()
    page.get_by_role("button", name="Go to source").first.click()
    asked = extension.said("open")
    assert asked["place"] == {"file": file, "line": line - 1}
    extension.tell({"kind": "done", "id": asked["id"], "refused": "It was <b>edited</b> since."})
    expect(root).to_contain_text("It was <b>edited</b> since.")
    expect(page.get_by_role("button", name="Apply to my code")).to_have_count(0)
    for width in (1200, 700):
        page.set_viewport_size({"width": width, "height": 760})
        page.screenshot(path=SCREENSHOTS / f"vscode-{theme}-{width}.png")


def test_a_failure_is_text_with_what_helps(extension: Extension) -> None:
    failed = {
        "kind": "failed",
        "sentence": "Export Explorer is not installed in /<img src=x onerror=alert(1)>/python.",
        "command": "python -m pip install --upgrade export-explorer",
        "cures": ["select-python", "retry"],
    }
    assert extension.said("ready")
    extension.tell(failed)
    alert = extension.page.get_by_role("alert")
    expect(alert).to_contain_text("<img src=x onerror=alert(1)>/python")
    expect(alert).to_contain_text("pip install --upgrade")
    alert.get_by_role("button", name="Select Python Interpreter").click()
    assert extension.said("cure")["cure"] == "select-python"

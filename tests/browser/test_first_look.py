"""What is seen, as a line of Python: `ex.view(...)` shows it, and the page gives that line."""

from __future__ import annotations

from playwright.sync_api import expect

from .lab import Lab
from .test_explorer import LOAD, unfold_outline
from .test_running import EXPORT, NET

VIEW = 'ex.view(select="linear_2", open="blocks.1", tab="signature")'


def test_a_line_of_python_shows_what_is_seen_and_the_page_gives_it(lab: Lab) -> None:
    lab.open([LOAD, NET, f"{EXPORT};", VIEW])
    lab.run_all(60)
    root = lab.page.locator(".tx-app").last
    expect(root.get_by_role("tab", name="Signature")).to_have_attribute(
        "aria-selected",
        "true",
    )
    unfold_outline(root)
    tree = root.get_by_role("tree")
    expect(tree.locator("[aria-selected=true]")).to_contain_text("linear")

    lab.page.evaluate(
        "document.addEventListener('copy', () => {"
        " window.copied = document.activeElement.value || '' }, true);"
        " Object.defineProperty(navigator, 'clipboard', {value: {"
        " writeText: async (text) => { window.copied = text } }})"
    )
    root.get_by_role("button", name="Commands").click()
    root.get_by_role("option", name="Copy the line of Python").click()
    expect(root.get_by_test_id("outcome")).to_contain_text("Copied: ex.view(")
    assert lab.page.evaluate("window.copied") == VIEW.replace(
        '"blocks.1"', '["blocks", "blocks.1"]'
    )

    tree.locator("[role=treeitem]").filter(has_text="softmax").click()
    expect(tree.locator("[aria-selected=true]")).to_contain_text("softmax")
    root.get_by_role("button", name="Back to").click()
    expect(tree.locator("[aria-selected=true]")).to_contain_text("linear")
    root.get_by_test_id("graph").press("]")
    expect(tree.locator("[aria-selected=true]")).to_contain_text("softmax")

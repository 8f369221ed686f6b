"""axe-core in a page: what it finds against WCAG in our views, and only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

SOURCE = Path(__file__).parents[2] / "widgets/frontend/node_modules/axe-core/axe.min.js"
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")

# JupyterLab's own scripts look for AMD modules: axe is run as text, which defines window.axe.
# The body of its page has no height and hides what overflows: to axe, nothing is on screen.
_RUN = """async ([rules, scope]) => {
    document.body.style.minHeight = "100vh";
    const found = await axe.run({ include: scope }, {
        runOnly: { type: "tag", values: rules },
    });
    return {
        violations: found.violations.flatMap(rule => rule.nodes.map(node =>
            `${rule.id}: ${node.target.join(" ")}: ${node.html.slice(0, 160)}: `
            + node.failureSummary.replaceAll("\\n", " "))),
        broken: found.incomplete.filter(rule => rule.error).map(rule => rule.error.message),
        contrasts: found.passes.find(rule => rule.id === "color-contrast")?.nodes.length ?? 0,
        checks: found.passes.reduce((sum, rule) => sum + rule.nodes.length, 0),
    };
}"""


# What axe does not ask for: an open tab has its panel, and a row that is pressed has a button.
_UNTIED = """scope => scope.flatMap(each => [...document.querySelectorAll(each)]).flatMap(root => [
    ...[...root.querySelectorAll("[role=tab][aria-selected=true]")].filter(
        tab => !tab.getRootNode().getElementById(tab.getAttribute("aria-controls"))),
    ...[...root.querySelectorAll("tr.tx-pressable")].filter(row => !row.querySelector("button")),
].map(element => `no panel or button: ${element.outerHTML.slice(0, 160)}`))"""


class Axe:
    """Checks pages and keeps count; `problems` has a line for each violation, with its state."""

    def __init__(self) -> None:
        self.states = 0
        self.checks = 0
        self.problems: list[str] = []

    def check(self, page: Page, state: str, *scope: str) -> None:
        """Checks what is in these elements (all that is ours by default) as it stands now."""
        if not page.evaluate("() => 'axe' in window"):
            page.evaluate(SOURCE.read_text())
        found: dict[str, Any] = page.evaluate(_RUN, [list(RULES), list(scope or (".tx-root",))])
        assert not found["broken"], f"{state}: {found['broken']}"
        assert found["contrasts"] > 0, f"{state}: axe saw no text"
        self.states += 1
        self.checks += found["checks"]
        untied = page.evaluate(_UNTIED, list(scope or (".tx-root",)))
        self.problems += [f"{state}: {each}" for each in found["violations"] + untied]

    def check_both(self, page: Page, state: str, *scope: str) -> None:
        """Checks in light and in dark; the page follows what the system prefers."""
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            self.check(page, f"{state}, {scheme}", *scope)

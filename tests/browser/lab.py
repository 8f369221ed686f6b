"""What a test does with a notebook in JupyterLab: open, run, look, click, ask its kernel.

Commands go through JupyterLab's own application object, not through its menus: clicking and keys
are for what is under test.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Error, Locator, Page, expect

from .server import Server

SCREENSHOTS = Path(__file__).parent / "screenshots"
SECONDS = 120.0
"""How long anything may take unless a test says otherwise."""

Theme = Literal["light", "dark"]

_names = (f"notebook-{number}" for number in itertools.count(1))


def open_tab(view: Page | Locator, name: str) -> None:
    """Opens a pane by its tab, or by the menu of the tabs that have no room in their row."""
    tab = view.get_by_role("tab", name=name).first
    others = view.get_by_role("button", name="Other tabs").first
    expect(tab.or_(others).first).to_be_visible()
    if tab.is_visible():
        tab.click()
    else:
        others.click()
        view.locator(".tx-tab-other", has_text=re.compile(f"^{name}")).click()


class Lab:
    """A page of JupyterLab with one notebook open."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.path: Path | None = None
        """The open notebook's file."""

    def open(self, cells: Sequence[str] | Path) -> None:
        """Opens a notebook made of these cells' sources, or a copy of a notebook file."""
        self.path = self.server.folder / f"{next(_names)}.ipynb"
        if isinstance(cells, Path):
            self.path.write_bytes(cells.read_bytes())
        else:
            import nbformat  # takes a second, which tests without a browser need not wait

            notebook = nbformat.v4.new_notebook(  # type: ignore[no-untyped-call]
                cells=[nbformat.v4.new_code_cell(source) for source in cells],  # type: ignore[no-untyped-call]
                metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
            )
            nbformat.write(notebook, self.path)  # type: ignore[no-untyped-call]
        if not self._opens_here():
            # A workspace of its own: the server would open another test's notebook beside this one.
            self.page.goto(
                f"{self.server.url}/lab/workspaces/{self.path.stem}/tree/{self.path.name}"
                f"?token={self.server.token}"
            )
        self._wait_until_ready()

    def close(self) -> None:
        """Closes the notebook unsaved; the page is as it was before anything was opened."""
        self._await(
            """async () => {
                document.querySelector(".jp-Dialog .jp-mod-reject")?.click();
                for (const widget of [...jupyterapp.shell.widgets("main")]) widget.dispose();
                localStorage.clear();
                performance.clearMarks();
                await new Promise(done => setTimeout(done, 100));
            }"""
        )
        if self.page.evaluate("document.body.dataset.jpThemeLight") != "true":
            self.set_theme("light")

    def reload(self) -> None:
        """Reloads the page. What is to come back must have been saved, and its kernel alive."""
        self.page.reload()
        self._wait_until_ready()

    def save(self) -> None:
        """Saves the notebook."""
        self.command("docmanager:save")

    def set_theme(self, theme: Theme) -> None:
        """Switches JupyterLab's theme."""
        self.command("apputils:change-theme", {"theme": f"JupyterLab {theme.title()}"})
        is_light = "true" if theme == "light" else "false"
        self.page.wait_for_selector(f"body[data-jp-theme-light={is_light}]", state="attached")
        self._wait_for_splash()

    def run_all(self, seconds: float = SECONDS) -> None:
        """Runs all cells, from the top, and waits until they have run.

        Raises:
            AssertionError: if a cell raised; with its output.
        """
        self.command("notebook:run-all-cells", seconds=seconds)
        self.wait_until_idle(seconds)
        for number, outputs in enumerate(self.outputs()):
            for output in outputs:
                assert output["output_type"] != "error", (
                    f"cell {number}: {output['ename']}: {output['evalue']}"
                )

    def start_all(self) -> None:
        """Starts running all cells and does not wait."""
        self.page.evaluate("() => { jupyterapp.commands.execute('notebook:run-all-cells'); }")

    def wait_until_idle(self, seconds: float = SECONDS) -> None:
        """Waits until the kernel has nothing to do."""
        self.page.wait_for_function(
            "jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'",
            timeout=seconds * 1000,
        )

    def interrupt(self) -> None:
        """Interrupts the kernel, as the toolbar's square does."""
        self.command("notebook:interrupt-kernel")

    def execute(self, code: str, seconds: float = SECONDS) -> None:
        """Runs code in the notebook's kernel, outside any cell.

        Raises:
            AssertionError: if it raises.
        """
        self._ask_kernel(code, "None", seconds)

    def value(self, expression: str, seconds: float = SECONDS) -> Any:
        """The value of an expression in the notebook's kernel; its repr must be a literal."""
        return ast.literal_eval(self._ask_kernel("", expression, seconds))

    def outputs(self) -> list[list[dict[str, Any]]]:
        """The outputs of each cell, as a notebook file holds them."""
        outputs: list[list[dict[str, Any]]] = self.page.evaluate(
            """() => jupyterapp.shell.currentWidget.content.widgets.map(
                cell => cell.model.sharedModel.toJSON().outputs ?? [])"""
        )
        return outputs

    def cell(self, index: int) -> Locator:
        """A cell of the notebook, by position, scrolled into view."""
        # JupyterLab draws a cell when it comes near the window.
        self._await(
            "async i => { await jupyterapp.shell.currentWidget.content.scrollToItem(i, 'start'); }",
            index,
        )
        return self.page.locator(f".jp-Notebook .jp-Cell[data-windowed-list-index='{index}']")

    def command(self, name: str, args: object = None, seconds: float = SECONDS) -> None:
        """Runs one of JupyterLab's commands and waits for it."""
        self._await(
            "async ([name, args]) => { await jupyterapp.commands.execute(name, args ?? {}); }",
            [name, args],
            seconds,
        )

    def screenshot(self, name: str, of: Locator | None = None) -> Path:
        """Takes a picture of the window, or of one element."""
        path = SCREENSHOTS / f"{name}.png"
        (of or self.page).screenshot(path=path)
        return path

    def _opens_here(self) -> bool:
        """Opens the notebook in the JupyterLab that the page shows, if it shows one that does."""
        assert self.path is not None
        if not self.page.evaluate("() => 'jupyterapp' in window"):
            return False
        try:
            opens = {"path": self.path.name, "factory": "Notebook"}
            self.command("docmanager:open", opens, seconds=30)
        except (AssertionError, Error):  # the page is leaving, or stands still
            return False
        return True

    def _wait_until_ready(self) -> None:
        assert self.path is not None, "open a notebook first"
        self.page.wait_for_function(
            "name => window.jupyterapp?.shell.currentWidget?.context?.path === name",
            arg=self.path.name,
            timeout=SECONDS * 1000,
        )
        self._await(
            """async () => {
                await jupyterapp.restored;
                const panel = jupyterapp.shell.currentWidget;
                await panel.context.ready;
                await panel.sessionContext.ready;
                await panel.sessionContext.session.kernel.info;
                jupyterapp.shell.collapseLeft();
            }"""
        )
        self._wait_for_splash()

    def _wait_for_splash(self) -> None:
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def _ask_kernel(self, code: str, expression: str, seconds: float) -> str:
        reply = self._await(
            """async ([code, expression]) => {
                const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
                const future = kernel.requestExecute({
                    code, user_expressions: { value: expression }, store_history: false,
                });
                return (await future.done).content;
            }""",
            [code, expression],
            seconds,
        )
        assert reply["status"] == "ok", f"{reply['ename']}: {reply['evalue']}"
        value = reply["user_expressions"]["value"]
        assert value["status"] == "ok", f"{value['ename']}: {value['evalue']}"
        text: str = value["data"]["text/plain"]
        return text

    def _await(self, function: str, arg: object = None, seconds: float = SECONDS) -> Any:
        """Calls an async function in the page and waits until it ends.

        The page keeps what it gives: a promise that only Playwright waits for may be garbage
        collected, and Playwright would wait for ever for one that does not end.

        Raises:
            AssertionError: if the function throws, or the page was left meanwhile.
        """
        self.page.evaluate(
            f"""arg => {{
                const asked = {{ ended: false }};
                window.asked = asked;
                ({function})(arg).then(
                    value => Object.assign(asked, {{ value, ended: true }}),
                    error => Object.assign(asked, {{ error: String(error), ended: true }}));
            }}""",
            arg,
        )
        self.page.wait_for_function("() => window.asked?.ended !== false", timeout=seconds * 1000)
        asked = self.page.evaluate("() => window.asked ?? { error: 'the page was left' }")
        assert "error" not in asked, asked["error"]
        return asked.get("value")

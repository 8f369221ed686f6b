"""Tells the story in each host, and prints a table."""

from __future__ import annotations

import os
import runpy
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import anywidget
from playwright.sync_api import Page, sync_playwright

from tests.browser import chromium
from tests.hosts.managed import MANAGER, kernel_here, opened
from tests.hosts.story import SETUP, STEPS, told

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.prefix) / "share" / "hosts"
"""Scripts of VS Code's manager of widgets; `make test-hosts` puts them there."""
INSTALLED = Path(anywidget.__file__).parents[4]
"""Where JupyterLab's extensions are."""
START_SECONDS = 120


@contextmanager
def running(command: list[str], address: str, home: Path) -> Iterator[None]:
    """A server in a folder of its own, once it answers, until the block ends."""
    own = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "IPYTHONDIR": home / "ipython",
        "XDG_CONFIG_HOME": home / "config",
        "JUPYTER_PATH": INSTALLED / "share" / "jupyter",
        "JUPYTERLAB_DIR": INSTALLED / "share" / "jupyter" / "lab",
        "JUPYTER_CONFIG_PATH": INSTALLED / "etc" / "jupyter",
        "PYTHONPATH": ROOT,
    }
    environment = {**os.environ, **{name: str(path) for name, path in own.items()}}
    with (home / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + START_SECONDS
        while not _answers(address):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{command[2]} does not start: {(home / 'log').read_text()}")
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(20)


def _answers(address: str) -> bool:
    try:
        with urlopen(address, timeout=5):
            return True
    except (URLError, OSError):
        return False


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def notebook(page: Page, home: Path) -> dict[str, str]:
    """Jupyter Notebook 7: two cells, run from its menu."""
    import nbformat

    cells = [nbformat.v4.new_code_cell(text) for text in (SETUP, "ex")]  # type: ignore[no-untyped-call]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    made = nbformat.v4.new_notebook(cells=cells, metadata=kernel)  # type: ignore[no-untyped-call]
    nbformat.write(made, home / "story.ipynb")  # type: ignore[no-untyped-call]
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        sys.executable, "-m", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1",
        f"--port={port}", "--IdentityProvider.token=story", f"--ServerApp.root_dir={home}",
        "--LabApp.extension_manager=readonly",
    ]  # fmt: skip
    with running(command, f"{url}/api", home):
        page.goto(f"{url}/notebooks/story.ipynb?token=story")
        page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
        page.get_by_text("Python 3", exact=False).first.wait_for(timeout=60_000)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        return told(page, page.locator(".tx-root"), "Notebook 7")


def marimo(page: Page, home: Path) -> dict[str, str]:
    """marimo, as an app whose cells run at its start."""
    indented = "\n".join(f"    {line}".rstrip() for line in SETUP.splitlines())
    (home / "story.py").write_text(
        "import marimo\n\napp = marimo.App(width='full')\n\n\n"
        f"@app.cell\ndef _():\n{indented}\n    return (ex,)\n\n\n"
        "@app.cell\ndef _(ex):\n    ex\n    return\n\n\n"
        'if __name__ == "__main__":\n    app.run()\n'
    )
    port = _free_port()
    url = f"http://127.0.0.1:{port}"
    command = [
        sys.executable, "-m", "marimo", "--yes", "run", "story.py", "--headless", "--no-token",
        "--host=127.0.0.1", f"--port={port}",
    ]  # fmt: skip
    with running(command, f"{url}/health", home):
        page.goto(url)
        return told(page, page.locator(".tx-root"), "marimo")


def vscode(page: Page, home: Path) -> dict[str, str]:
    """VS Code's widget manager, offline, with this process as the kernel."""
    return _managed(page, home, "VS Code")


def colab(page: Page, home: Path) -> dict[str, str]:
    """The same without what is binary in a widget's state, which Colab's manager leaves out."""
    return _managed(page, home, "Colab", drop=True)


def _managed(page: Page, home: Path, host: str, drop: bool = False) -> dict[str, str]:
    if not (SCRIPTS / "ipywidgets.js").is_file():
        raise RuntimeError(f"{SCRIPTS} has no ipywidgets.js: `make test-hosts` puts it there.")
    (home / "story.py").write_text(SETUP)
    with kernel_here() as kernel:
        ex = runpy.run_path(str(home / "story.py"))["ex"]
        opened(page, kernel, SCRIPTS, INSTALLED / "share" / "jupyter" / "nbextensions", drop=drop)
        shown, _ = ex._repr_mimebundle_()
        page.evaluate("show", shown["application/vnd.jupyter.widget-view+json"]["model_id"])
        return told(page, page.locator(".tx-root"), host)


HOSTS: dict[str, Callable[[Page, Path], dict[str, str]]] = {
    "notebook": notebook,
    "marimo": marimo,
    "vscode": vscode,
    "colab": colab,
}


def main() -> int:
    """Tells the story in the hosts that are named, or in all; returns an exit code."""
    path = chromium.find()
    assert path is not None, chromium.MISSING
    names = sys.argv[1:] or list(HOSTS)
    head = ["host", "version", *(name for name, _ in STEPS)]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    failed = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGS))
        for name in names:
            page = browser.new_page(viewport={"width": 1400, "height": 900})
            with tempfile.TemporaryDirectory(prefix=f"{name}-") as home:
                found = HOSTS[name](page, Path(home))
            marks = [
                "no" if found.get(step) else "yes" if step in found else "–" for step, _ in STEPS
            ]
            which = version(name) if name in ("notebook", "marimo") else MANAGER
            print(f"| {' | '.join([name, which, *marks])} |", flush=True)
            failed += [f"{name}, {step}: {why}" for step, why in found.items() if why]
            page.close()
        browser.close()
    print("\n".join(failed))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

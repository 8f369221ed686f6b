"""Finds the Chromium that the tests drive; `python -m tests.browser.chromium` prints its path.

In this order: `$CHROMIUM`, one on PATH, the one Playwright has downloaded, and, run as a command,
one that apt can install. `widgets/frontend/chromium.mjs` looks in the first two places and is told
of the others through `$CHROMIUM`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")

ARGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
"""No sandbox (root in a container), and no calls of the browser's own."""

MISSING = (
    "The browser tests need Chromium, and none was found. Put chromium or google-chrome on PATH, "
    "name one in $CHROMIUM, or run `.venv/bin/playwright install chromium`."
)


def find() -> str | None:
    """The path of a Chromium, or None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    on_path = next(filter(None, map(shutil.which, NAMES)), None)
    return on_path or _from_playwright()


def _from_playwright() -> str | None:
    from playwright.sync_api import sync_playwright  # which is not needed for one that is there

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _install_with_apt() -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    print("setup: Chromium with apt-get", file=sys.stderr)
    for step in (["update"], ["install", "--yes", "--no-install-recommends", "chromium"]):
        command = ["apt-get", "--quiet=2", *step]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode:
            return


def main() -> int:
    """Prints the path of Chromium, installing it first if it is missing and apt can."""
    path = find()
    if path is None:
        _install_with_apt()
        path = find()
    if path is None:
        print(MISSING, file=sys.stderr)
        return 1
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

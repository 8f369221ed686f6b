"""Five questions that one comes with: how many presses and seconds until each answer is on screen.

In a real JupyterLab, in Chromium, each in a view that nobody has touched, driven at full speed:
what is measured is what the view asks of a person and of the kernel, not how fast a hand is.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from ..browser import chromium
from ..browser.lab import Lab
from ..browser.server import serve
from ..browser.test_five_tasks import MOST_PRESSES, TASKS, opened
from .table import Row

MOST_SECONDS = 10
BEFORE = {
    "find layer 11's attention": "2 presses, under 1 s, four rows that looked alike",
    "find the line of a guard": "1 press, then scrolling in 260 pixels",
    "find why a size is refused": "1 press, then scrolling in 260 pixels",
    "find the most expensive line": "2 presses, 22 s, a line of torch's own",
    "find what changed between two programs": "3 tries until its magic was read of in the docs",
}
"""By hand, in the view of 2026-11-26."""


def run() -> list[Row]:
    """Two figures for each task."""
    rows = []
    with (
        tempfile.TemporaryDirectory() as home,
        serve(Path(home), warm=True) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        context = browser.new_context(viewport={"width": 1200, "height": 900})
        with opened(Lab(context.new_page(), server)) as do:
            for task in TASKS:
                hand = do(task)
                seconds = time.perf_counter() - hand.began
                rows += [
                    Row(task, "presses", hand.presses, most=MOST_PRESSES,
                        means=f"clicks and keys from a fresh view; before: {BEFORE[task]}"),
                    Row(task, "time", seconds, "s", most=MOST_SECONDS,
                        means="from the first press until the answer is on screen"),
                ]  # fmt: skip
        browser.close()
    return rows

"""What a new user waits for: the tour's first graph, and a failing export that ends verified.

In a real JupyterLab, in Chromium, each time with a fresh browser profile and a cold kernel: what is
measured includes the import of torch. The server is running, as `make lab` leaves it.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from ..browser import chromium
from ..browser.lab import Lab, open_tab
from ..browser.server import Server, serve
from ..browser.test_explorer import LOAD, explorer
from ..browser.test_fixes import EXPORT, LIMIT
from .table import Row

ROUNDS = 3
TOUR = Path(__file__).parents[2] / "notebooks" / "00_tour.ipynb"
VIEW = {"width": 1400, "height": 900}
SECONDS = 120.0
"""How long any step may take before the benchmark gives up."""
Pair = tuple[float, float]
"""Seconds to a first and to a second event."""
_PAINTED = "() => performance.getEntriesByName('tx:painted').length > 0"


def run() -> list[Row]:
    """Medians, in seconds."""
    with (
        tempfile.TemporaryDirectory() as home,
        serve(Path(home)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        _in_lab(browser, server, _tour)  # what the server does only once
        tours = [_in_lab(browser, server, _tour) for _ in range(ROUNDS)]
        mended = [_in_lab(browser, server, _mended) for _ in range(ROUNDS)]
        browser.close()
    opened, painted = _medians(tours)
    explained, verified = _medians(mended)
    tour, fix = "the tour, cold kernel", "a failing cell, cold kernel"
    return [
        Row(tour, "opening it until cells can run", opened, "s",
            means="JupyterLab's own start of a page and of a kernel"),
        Row(tour, "opening it to the first graph painted", painted, "s",
            means="all that a newcomer waits for, with Run All pressed as soon as it can be"),
        Row(fix, "running it to the failure explained", explained, "s",
            means="torch's import, the failing export, its reason and its fixes on screen"),
        Row(fix, "failure to a verified export", verified, "s",
            means="Apply clicked, the program shown, Verify clicked, all guarantees hold"),
    ]  # fmt: skip


def _medians(pairs: list[Pair]) -> Pair:
    first, second = zip(*pairs, strict=True)
    return statistics.median(first), statistics.median(second)


def _in_lab(browser: Browser, server: Server, measure: Callable[[Lab], Pair]) -> Pair:
    """What `measure` finds in a fresh profile; its kernel ends with it."""
    context = browser.new_context(viewport=VIEW)
    try:
        return measure(Lab(context.new_page(), server))
    finally:
        context.close()
        server.start_over()


def _tour(lab: Lab) -> Pair:
    """Seconds from opening the tour until it can be run, and until its first graph is painted."""
    started = time.perf_counter()
    lab.open(TOUR)
    opened = time.perf_counter() - started
    lab.start_all()
    lab.page.wait_for_function(_PAINTED, timeout=SECONDS * 1000)
    return opened, time.perf_counter() - started


def _mended(lab: Lab) -> Pair:
    """Seconds from running a failing cell to its explanation, and on to a verified export."""
    lab.open([LOAD, LIMIT, EXPORT])
    started = time.perf_counter()
    lab.start_all()
    fix = lab.page.get_by_test_id("fix").first
    fix.wait_for(timeout=SECONDS * 1000)
    explained = time.perf_counter() - started
    root = explorer(lab)
    fix.get_by_role("button", name="Apply", exact=True).click()
    expect(root.get_by_test_id("check")).to_contain_text(
        "Agrees with eager", timeout=SECONDS * 1000
    )
    open_tab(root, "Verify")
    root.get_by_test_id("verify").click()
    expect(root.get_by_test_id("guarantees")).to_contain_text(
        "guarantees hold", timeout=SECONDS * 1000
    )
    return explained, time.perf_counter() - started - explained

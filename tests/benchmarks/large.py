"""What a page costs at 1,000 to 100,000 ops: Llama, unrolled experts, and ops without modules.

In Chromium with software rendering. The Records are grown from one that was exported: see `grown`.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Record

from ..browser import chromium
from ..models import llama
from .experts import experts
from .export_cost import request_of
from .grown import grown
from .large_page import CLICK, EXPAND, HOVER, SEARCH, TOGGLE
from .page import FRAMES, MOUNT, VIEW, empty_page, packed
from .table import Row

SIZES = (1_000, 4_000, 10_000, 40_000, 100_000)
SEARCHED = "linear"
PAINTS = 3
"""Fresh pages to take the median of: one alone differs by a third."""
VIEWS = 20
"""Of 4,000 ops each, in one page."""

_MORE = """async ([record, count]) => {
    const painted = () => performance.getEntriesByName("tx:painted").length;
    performance.clearMarks();
    for (let at = 0; at < count; at++) {
        const bytes = Uint8Array.from(atob(record), c => c.charCodeAt(0));
        const held = { record: new DataView(bytes.buffer), attempts: [], current: 0, view: "all" };
        const model = { get: name => held[name], send() {}, on() {}, off() {} };
        const el = document.createElement("div");
        document.body.append(el);
        window.explorer.mount({ model, el });
        while (painted() <= at) await new Promise(done => setTimeout(done, 1));
    }
}"""


def run() -> list[Row]:
    """Times in a page by the number of ops, and how they grow."""
    layered = describe(capture(request_of(llama(2))))
    programs = (
        ("Llama", layered, True),
        ("experts", describe(capture(request_of(experts()))), True),
        ("flat", layered, False),
    )
    rows: list[Row] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        for name, record, scopes in programs:
            seen = {}
            for ops in SIZES:
                made = packed(grown(record, ops, scopes=scopes))
                paints = [_paint(browser, made) for _ in range(PAINTS)]
                page = empty_page(browser.new_page(viewport=VIEW))
                seen[ops] = _figures(page, made) | {"paint": statistics.median(paints)}
                page.close()
                rows += [_row(f"{name}, {ops:,} ops", each, seen[ops][each[0]]) for each in FIGURES]
            rows += _growth(name, seen)
        rows.append(_memory(browser, layered))
        browser.close()
    return rows


FIGURES: tuple[tuple[str, str, str, dict[str, float]], ...] = (
    ("paint", "Record to painted graph", "ms", {"small": 500, "large": 1500}),
    ("expand", "Expand all to painted graph", "ms", {"small": 1000, "large": 6000}),
    ("task", "longest task while expanding", "ms", {"small": 200, "large": 200}),
    ("toggle", "closing a scope, all else open", "ms", {"small": 200, "large": 200}),
    ("hover", "work of a hover, 9 of 10", "ms", {"small": 16, "large": 16}),
    ("click", "work of a click, 9 of 10", "ms", {"small": 16, "large": 16}),
    ("search", f"search for {SEARCHED}", "ms", {"small": 100, "large": 100}),
    ("pan", "panning, all expanded", "frames/s", {"least": 50}),
    ("far", "panning, all of it in view", "frames/s", {"least": 50}),
    ("zoom", "zooming, all of it in view", "frames/s", {"least": 50}),
)
_LARGE = 10_000


def _paint(browser: Browser, record: str) -> float:
    page = empty_page(browser.new_page(viewport=VIEW))
    painted: float = page.evaluate(MOUNT, [record])
    page.close()
    return painted


def _figures(page: Page, record: str) -> dict[str, float]:
    page.evaluate(MOUNT, [record])
    expand, task = page.evaluate(EXPAND)
    hover = page.evaluate(HOVER)
    toggle = page.evaluate(TOGGLE)
    pan = page.evaluate(FRAMES, [False])
    click = page.evaluate(CLICK)
    search = page.evaluate(SEARCH, [SEARCHED])
    page.locator("[aria-label^='Fit']").click()
    page.wait_for_timeout(400)
    far, zoom = page.evaluate(FRAMES, [False]), page.evaluate(FRAMES, [True])
    return {
        "expand": expand,
        "task": task,
        "toggle": toggle,
        "hover": hover,
        "click": click,
        "search": search,
        "pan": pan,
        "far": far,
        "zoom": zoom,
    }


def _row(subject: str, figure: tuple[str, str, str, dict[str, float]], value: float) -> Row:
    _, name, unit, budget = figure
    ops = int(subject.split(", ")[1].split(maxsplit=1)[0].replace(",", ""))
    limits: dict[str, Any] = {"least": budget.get("least")}
    if "small" in budget:
        limits["most"] = budget["small" if ops <= _LARGE else "large"]
    return Row(subject, name, value, unit, **limits, means="how it feels at this size")


def _growth(name: str, seen: dict[int, dict[str, float]]) -> list[Row]:
    sizes = [math.log(ops) for ops in seen]
    return [
        Row(
            f"{name}, {min(seen):,} to {max(seen):,} ops",
            f"growth of {title}",
            statistics.linear_regression(
                sizes, [math.log(max(each[key], 1)) for each in seen.values()]
            ).slope,
            "exponent",
            means="1 is linear, 0 does not depend on the number of ops",
        )
        for key, title, unit, _ in FIGURES
        if unit == "ms"
    ]


def _memory(browser: Browser, record: Record) -> Row:
    """What one page holds that shows the same program in many outputs."""
    made = packed(grown(record, 4_000))
    page = empty_page(browser.new_page(viewport=VIEW))
    devtools = page.context.new_cdp_session(page)
    page.evaluate(_MORE, [made, 1])
    before = _heap(devtools)
    page.evaluate(_MORE, [made, VIEWS - 1])
    after = _heap(devtools)
    page.close()
    return Row(
        f"{VIEWS} views of 4,000 ops",
        "heap a view, in one page",
        (after - before) / (VIEWS - 1) / 1e6,
        "MB",
        most=20,
        means="what one more output of a notebook adds to its page",
    )


def _heap(devtools: Any) -> float:
    """Bytes of JavaScript objects and buffers that are in use."""
    devtools.send("HeapProfiler.collectGarbage")
    usage = devtools.send("Runtime.getHeapUsage")
    return float(usage["usedSize"] + usage.get("backingStorageSize", 0))

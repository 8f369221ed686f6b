"""What a page costs at 1,000 to 100,000 ops: Llama with more layers, and the same without modules.

In Chromium with software rendering. The Records are grown from one that was exported: see `grown`.
"""

from __future__ import annotations

import base64
import math
import statistics
from typing import Any

from playwright.sync_api import Page, sync_playwright

from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import encode

from ..browser import chromium
from ..models import llama
from .export_cost import request_of
from .grown import grown
from .page import FRAMES, MOUNT, VIEW, empty_page
from .table import Row

SIZES = (1_000, 4_000, 10_000, 40_000, 100_000)

_EXPAND = """async () => {
    performance.clearMarks();
    const tasks = [];
    const watch = new PerformanceObserver(list => tasks.push(...list.getEntries()));
    watch.observe({ entryTypes: ["longtask"] });
    const start = performance.now();
    document.querySelector("[aria-label^='Expand']").click();
    const painted = () => performance.getEntriesByName("tx:painted")[0];
    while (!painted()) await new Promise(done => setTimeout(done, 1));
    const total = painted().startTime - start;
    await new Promise(done => setTimeout(done, 50));
    return [total, Math.max(0, ...tasks.map(each => each.duration))];
}"""

_HOVER = """async () => {
    const canvas = document.querySelector(".tx-canvas");
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
    const times = [];
    for (let at = 0; at < 30; at++) {
        const [x, y] = [left + width * (0.2 + 0.02 * at), top + height * (0.2 + 0.02 * at)];
        await frame();
        const start = performance.now();
        canvas.dispatchEvent(new PointerEvent("pointermove", {
            bubbles: true, clientX: x, clientY: y }));
        await frame();
        times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)];
}"""


def run() -> list[Row]:
    """Times in a page by the number of ops, and how they grow."""
    record = describe(capture(request_of(llama(2))))
    rows: list[Row] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        for name, scopes in (("Llama", True), ("flat", False)):
            seen = {}
            for ops in SIZES:
                page = empty_page(browser.new_page(viewport=VIEW))
                made = encode(grown(record, ops, scopes=scopes))
                seen[ops] = _figures(page, base64.b64encode(made).decode())
                page.close()
                rows += [_row(f"{name}, {ops:,} ops", each, seen[ops][each[0]]) for each in FIGURES]
            rows += _growth(name, seen)
        browser.close()
    return rows


FIGURES: tuple[tuple[str, str, str, dict[str, float]], ...] = (
    ("paint", "Record to painted graph", "ms", {"small": 500, "large": 1500}),
    ("expand", "Expand all to painted graph", "ms", {"small": 1000, "large": 6000}),
    ("task", "longest task while expanding", "ms", {"small": 200, "large": 200}),
    ("hover", "hover to frame, 9 of 10", "ms", {"small": 16, "large": 16}),
    ("pan", "panning, all expanded", "frames/s", {"least": 50}),
)
_LARGE = 10_000


def _figures(page: Page, record: str) -> dict[str, float]:
    paint = page.evaluate(MOUNT, [record])
    expand, task = page.evaluate(_EXPAND)
    hover = page.evaluate(_HOVER)
    pan = page.evaluate(FRAMES, [False])
    return {"paint": paint, "expand": expand, "task": task, "hover": hover, "pan": pan}


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
        for key, title, *_ in FIGURES[:-1]
    ]

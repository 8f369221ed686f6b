"""What the page costs: from a Record's arrival to the painted graph, expanding all, and frames.

In Chromium with software rendering, on Llama-32 after `run_decompositions()` (about 4,000 ops), in
a page that holds nothing but the widget. Budgets: painted within 500 ms collapsed, expanded within
1 s, 50 frames a second while panning and zooming with everything expanded.
"""

from __future__ import annotations

import base64
import gzip
import statistics
from dataclasses import replace

from playwright.sync_api import Page, sync_playwright

from export_engine.attempt import Exported
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import Record, encode
from widgets.bundle import bundle, layout

from ..browser import chromium
from ..models import llama32
from .export_cost import request_of
from .table import Row

ROUNDS = 5
VIEW = {"width": 1200, "height": 900}

MOUNT = """async ([record]) => {
    const bytes = Uint8Array.from(atob(record), c => c.charCodeAt(0));
    const traits = { view: "all", attempts: [], current: 0, record: new DataView(bytes.buffer) };
    const model = { get: name => traits[name], send() {}, on() {}, off() {} };
    const el = document.createElement("div");
    document.body.replaceChildren(el);
    performance.clearMarks();
    window.view = window.explorer.mount({ model, el });
    const painted = () => performance.getEntriesByName("tx:painted")[0];
    while (!painted()) await new Promise(done => setTimeout(done, 1));
    const [start] = performance.getEntriesByName("tx:record-received");
    return painted().startTime - start.startTime;
}"""

EXPAND = """async () => {
    performance.clearMarks();
    const start = performance.now();
    document.querySelector("[aria-label^='Expand']").click();
    const painted = () => performance.getEntriesByName("tx:painted")[0];
    while (!painted()) await new Promise(done => setTimeout(done, 1));
    return painted().startTime - start;
}"""

FRAMES = """async ([zooming]) => {
    const canvas = document.querySelector(".tx-canvas");
    canvas.focus();
    const { width, height } = canvas.getBoundingClientRect();
    const frame = () => new Promise(done => requestAnimationFrame(done));
    await frame();
    const start = performance.now();
    let frames = 0;
    while (performance.now() - start < 2000) {
        const back = Math.floor(frames / 40) % 2 ? -1 : 1;
        canvas.dispatchEvent(new WheelEvent("wheel", {
            deltaY: back * (zooming ? 20 : 40), ctrlKey: zooming, bubbles: true, cancelable: true,
            clientX: canvas.getBoundingClientRect().x + width / 2,
            clientY: canvas.getBoundingClientRect().y + height / 2,
        }));
        await frame();
        frames += 1;
    }
    return frames / ((performance.now() - start) / 1000);
}"""


def run() -> list[Row]:
    """Times in a page, and frames a second."""
    record, ops = _record()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        colds, warms, expansions, rates = [], [], [], []
        for _ in range(ROUNDS):
            page = empty_page(browser.new_page(viewport=VIEW))
            colds.append(page.evaluate(MOUNT, [record]))
            warms.append(page.evaluate(MOUNT, [record]))
            expansions.append(page.evaluate(EXPAND))
            rates.append(_frame_rates(page))
            page.close()
        browser.close()
    name = f"llama32, core ATen, {ops:,} ops"
    middle = statistics.median
    return [
        Row(
            name,
            "Record to painted graph, first in a page",
            middle(colds),
            "ms",
            most=500,
            means="from the bytes' arrival until the collapsed graph is on screen",
        ),
        Row(
            name,
            "Record to painted graph, the next",
            middle(warms),
            "ms",
            most=500,
            means="the same for a second output, once the page's code is warm",
        ),
        Row(
            name,
            "Expand all to painted graph",
            middle(expansions),
            "ms",
            most=1000,
            means="from the click until every op is laid out and drawn",
        ),
        Row(
            name,
            "panning, all expanded",
            middle(r[0] for r in rates),
            "frames/s",
            least=50,
            means="how smoothly the graph follows the wheel, a part of it in view",
        ),
        Row(
            name,
            "panning, all of it in view",
            middle(r[1] for r in rates),
            "frames/s",
            least=50,
            means="the same with every op on screen",
        ),
        Row(
            name,
            "zooming, all expanded",
            middle(r[2] for r in rates),
            "frames/s",
            least=50,
            means="the same while it grows and shrinks",
        ),
    ]


def _frame_rates(page: Page) -> tuple[float, float, float]:
    near = page.evaluate(FRAMES, [False])
    page.locator("[aria-label^='Fit']").click()
    page.wait_for_timeout(400)
    far = page.evaluate(FRAMES, [False])
    return near, far, page.evaluate(FRAMES, [True])


def packed(record: Record) -> str:
    """A Record as it travels to a page, compressed, as text that JavaScript's `atob` reads."""
    return base64.b64encode(gzip.compress(encode(record), mtime=0)).decode()


def empty_page(page: Page) -> Page:
    """An empty page with the bundle loaded, as after the first output of a notebook."""
    page.goto("about:blank")
    page.evaluate(
        """async (sources) => {
            const load = (source) => {
                const bytes = Uint8Array.from(atob(source), c => c.charCodeAt(0));
                return import(URL.createObjectURL(new Blob([bytes], { type: "text/javascript" })));
            };
            const [explorer, worker] = await Promise.all(sources.map(load));
            const layout = Promise.resolve(worker.default);
            window.explorer = { mount: (place) => explorer.mount({ ...place, layout }) };
        }""",
        [base64.b64encode(source).decode() for source in (bundle(), layout())],
    )
    return page


def _record() -> tuple[str, int]:
    attempt = capture(request_of(llama32()))
    assert isinstance(attempt, Exported)
    core = replace(attempt, program=attempt.program.run_decompositions())
    described = describe(core)
    return packed(described), len(described.graphs[0].name)

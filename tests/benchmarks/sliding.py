"""What a step of a slider of Cost takes: formulas, ranking, curve, and the heat map of all ops.

In Chromium with software rendering, in a saved page of a Llama of 10,000 ops, all of it in view.
Beside frames a second, the page's own CPU time: others that take the cores do not change that.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from explorer.display.report import write_report
from explorer.session.entry import Entry
from explorer.session.session import Session

from ..browser import chromium
from ..models import llama
from .export_cost import request_of
from .grown import grown
from .page import VIEW
from .table import Row

OPS = 10_000

_SLIDE = """async () => {
    const slider = [...document.querySelectorAll("[data-testid=cost] input[type=range]")].at(-1);
    const frame = () => new Promise(done => requestAnimationFrame(done));
    const [low, high] = [Number(slider.min), Number(slider.max)];
    await frame();
    const start = performance.now();
    let frames = 0;
    while (performance.now() - start < 3000) {
        slider.value = low + ((frames * 7) % (high - low));
        slider.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await frame();
        frames += 1;
    }
    return [frames, frames / ((performance.now() - start) / 1000)];
}"""


def run() -> list[Row]:
    """Frames a second, and CPU time of a step."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        page = browser.new_page(viewport=VIEW)
        page.goto(_report(Path(folder) / "page.html").as_uri())
        work, rate = _slide(page)
        browser.close()
    name = f"Llama, {OPS:,} ops, all in view"
    return [
        Row(name, "a slider of Cost", rate, "frames/s", least=30, means="on this machine as it is"),
        Row(name, "CPU time of a step of it", work, "ms", most=33, means="of the page's thread"),
    ]


def _report(path: Path) -> Path:
    """A saved page of a program that is grown to so many ops."""
    from export_engine.capture import capture

    entry = Entry.of(capture(request_of(llama(2))))
    entry.__dict__["record"] = grown(entry.record, OPS)
    return write_report(Session([entry]), path, values=False)


def _slide(page: Page) -> tuple[float, float]:
    """Milliseconds of the page's thread per step, and frames a second."""
    page.locator("[aria-label^='Expand']").click()
    page.wait_for_timeout(2000)
    page.locator("[aria-label^='Fit']").click()
    page.get_by_role("tab", name="Cost").click()
    page.get_by_test_id("cost-heat").select_option("flops")
    page.wait_for_timeout(1000)
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable", {"timeDomain": "threadTicks"})

    def seconds() -> float:
        metrics = client.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration")

    before = seconds()
    frames, rate = page.evaluate(_SLIDE)
    return 1000 * (seconds() - before) / frames, rate

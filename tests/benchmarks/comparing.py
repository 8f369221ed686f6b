"""What a comparison costs: the diff in the kernel, and both sides on the page.

Llama-32 as traced beside Core ATen (about 4,000 ops), in a page that holds nothing but the widget.
Budgets: those of one program for painting, and a second for the diff.
"""

from __future__ import annotations

import base64
import statistics
import time
from typing import Any

import msgspec
from playwright.sync_api import sync_playwright

from export_engine.attempt import DecompositionTable, Exported
from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.diff import diff_records
from export_engine.record import encode
from export_engine.transform import decompose

from ..browser import chromium
from ..models import llama32
from .export_cost import request_of
from .page import EXPAND, FRAMES, VIEW, empty_page, packed
from .table import Row

ROUNDS = 5

_COMPARE = """async ([before, after, diff]) => {
    const bytes = text => new DataView(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
    const head = { label: "", outcome: "exported", verdict: "", parent: -1, step: "" };
    const traits = {
        view: "all", attempts: [head, { ...head, parent: 0 }], current: 1, record: bytes(after),
    };
    const heard = [];
    const answers = { record: [null, [bytes(before)]], diff: [diff, []], texts: [[], []] };
    const model = {
        get: name => traits[name],
        send: ({ id, ask }) => {
            const [value, buffers] = answers[ask] ?? [null, []];
            setTimeout(() => heard.forEach(hear => hear({ id, ok: true, value }, buffers)));
        },
        on: (name, hear) => name === "msg:custom" && heard.push(hear),
        off() {},
    };
    const el = document.createElement("div");
    document.body.replaceChildren(el);
    performance.clearMarks();
    window.view = window.explorer.mount({ model, el });
    const wait = async found => {
        const latest = performance.now() + 60000;
        while (!found()) {
            if (performance.now() > latest) throw new Error(document.body.innerText.slice(-200));
            await new Promise(done => setTimeout(done, 1));
        }
    };
    const painted = () => performance.getEntriesByName("tx:painted");
    await wait(() => painted().length === 1);
    const button = name =>
        [...document.querySelectorAll("button")].find(each => name.test(each.textContent));
    button(/^History/).click();
    await wait(() => button(/^Compare$/));
    const start = performance.now();
    button(/^Compare$/).click();
    await wait(() => painted().length === 2);
    return painted()[1].startTime - start;
}"""

# Beside each other, there is no room for the button.
_EXPAND = EXPAND.replace(
    """document.querySelector("[aria-label^='Expand']").click()""",
    """document.querySelector(".tx-canvas").dispatchEvent(
        new KeyboardEvent("keydown", { key: "e", bubbles: true }))""",
)


def run() -> list[Row]:
    """Times of a diff, of painting it, and frames a second."""
    before, after = _programs()
    seconds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        diff = diff_records(before, after)
        seconds.append(time.perf_counter() - started)
    plain = base64.b64encode(encode(before)).decode()  # a reply is not compressed
    asked = [plain, packed(after), msgspec.to_builtins(diff)]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        paints, expansions, rates = [], [], []
        for _ in range(ROUNDS):
            page = empty_page(browser.new_page(viewport=VIEW))
            paints.append(page.evaluate(_COMPARE, asked))
            expansions.append(page.evaluate(_EXPAND))
            rates.append(page.evaluate(FRAMES, [False]))
            page.close()
        browser.close()
    ops = sum(len(record.graphs[0].name) for record in (before, after))
    name = f"llama32 beside Core ATen, {ops:,} ops"
    middle = statistics.median
    return [
        Row(
            name,
            "diff of two programs",
            middle(seconds),
            "s",
            most=1,
            means="finding what is the same, new, gone and changed, in the kernel",
        ),
        Row(
            name,
            "Compare to both sides painted",
            middle(paints),
            "ms",
            most=500,
            means="from the click until both graphs stand in step, the diff being there",
        ),
        Row(
            name,
            "Expand all, both sides",
            middle(expansions),
            "ms",
            most=1000,
            means="from the click until every op of both is drawn",
        ),
        Row(
            name,
            "panning both sides, all expanded",
            middle(rates),
            "frames/s",
            least=50,
            means="how smoothly two graphs move as one",
        ),
    ]


def _programs() -> tuple[Any, Any]:
    attempt = capture(request_of(llama32()))
    assert isinstance(attempt, Exported)
    core = decompose(attempt, DecompositionTable.parse("core"))
    return describe(attempt), describe(core)

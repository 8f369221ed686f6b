"""What is done and measured in a page with a large graph, as JavaScript that runs there."""

from __future__ import annotations

EXPAND = """async () => {
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
    watch.disconnect();
    return [total, Math.max(0, ...tasks.map(each => each.duration))];
}"""
"""Opens all: milliseconds until it is painted, and the longest task meanwhile."""

TOGGLE = """async () => {
    const canvas = document.querySelector(".tx-canvas");
    const { left, top, width, height } = canvas.getBoundingClientRect();
    for (let at = 0; at < 600; at++) {
        const [x, y] = [left + width * ((at % 20) / 20), top + height * (at / 600)];
        performance.clearMarks();
        const start = performance.now();
        canvas.dispatchEvent(new MouseEvent("dblclick", {
            bubbles: true, clientX: x, clientY: y }));
        if (performance.getEntriesByName("tx:layout-asked").length === 0) continue;
        const painted = () => performance.getEntriesByName("tx:painted")[0];
        while (!painted()) await new Promise(done => setTimeout(done, 1));
        return painted().startTime - start;
    }
    throw new Error("there is no scope to close");
}"""
"""Closes the first scope in view: milliseconds until it is painted."""

_WORK = """
    const canvas = document.querySelector(".tx-canvas");
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const next = () => new Promise(done => requestAnimationFrame(() => done(performance.now())));
    const worked = async act => {
        await next();
        const start = performance.now();
        const first = next();
        act();
        const handled = performance.now() - start;
        const painted = next(); // after the graph has asked for a frame
        const begun = await first;
        return handled + (await painted) - begun;
    };
    const nine = times => times.sort((a, b) => a - b)[Math.floor(times.length * 0.9)];
    const at = index => ({ bubbles: true, button: 0, pointerId: 1,
        clientX: left + width * (0.2 + 0.02 * index),
        clientY: top + height * (0.2 + 0.02 * index) });
"""

HOVER = f"""async () => {{
    {_WORK}
    const times = [];
    for (let index = 0; index < 30; index++) {{
        times.push(await worked(() => {{
            canvas.dispatchEvent(new PointerEvent("pointermove", at(index)));
        }}));
    }}
    return nine(times);
}}"""
"""Milliseconds that the page works for a move of the pointer: its handlers, then its frame."""

CLICK = f"""async () => {{
    {_WORK}
    canvas.setPointerCapture = () => undefined; // there is no such pointer
    const times = [];
    for (let index = 0; index < 30; index++) {{
        times.push(await worked(() => {{
            canvas.dispatchEvent(new PointerEvent("pointerdown", at(index)));
            canvas.dispatchEvent(new PointerEvent("pointerup", at(index)));
        }}));
    }}
    delete canvas.setPointerCapture;
    return nine(times);
}}"""
"""The same for a click, which selects what is there, in every pane."""

SEARCH = """async ([text]) => {
    const input = document.querySelector("[data-search]");
    const times = [];
    const focused = performance.now();
    input.focus(); // as a hand does before it types: what the first search needs is made here
    times.push(performance.now() - focused);
    for (const query of [text[0], text]) { // one that finds as many changes no word to wait for
        const found = new Promise((done, fail) => {
            const late = setTimeout(() => fail(new Error(`no answer to ${query}`)), 10_000);
            const watch = new MutationObserver(() => {
                watch.disconnect();
                clearTimeout(late);
                done();
            });
            watch.observe(input.closest("search"), {
                childList: true, subtree: true, characterData: true });
        });
        const start = performance.now();
        input.value = query;
        input.dispatchEvent(new InputEvent("input", { bubbles: true }));
        await found;
        times.push(performance.now() - start);
    }
    input.value = "";
    input.dispatchEvent(new InputEvent("input", { bubbles: true }));
    input.blur();
    return Math.max(...times);
}"""
"""Milliseconds of the longest: focus, or from a key in the box until what it finds is told."""

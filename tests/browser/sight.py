"""What is measured of a view's first sight, by geometry, and what of it is a fault."""

from __future__ import annotations

from typing import Any

MOST_CHROME = 90
LEAST_TEXT = 9
ROOM = 1.0
"""A pixel, for rounding."""

# What the graph's canvas shows: the size of its smallest text and where its boxes are, on screen.
NOTE_PAINTING = """() => {
    const context = CanvasRenderingContext2D.prototype;
    const { fillRect, fillText, roundRect } = context;
    const isGraph = ({ canvas }) => canvas.dataset.testid === "graph";
    const onScreen = (context, x, y) => {
        const { a, d, e, f } = context.getTransform();
        return [(a * x + e) / devicePixelRatio, (d * y + f) / devicePixelRatio];
    };
    context.fillRect = function (...area) {
        // a new picture
        if (isGraph(this)) this.canvas.painted = { smallest: Infinity, boxes: [], shortened: [] };
        return fillRect.apply(this, area);
    };
    context.fillText = function (...drawn) {
        const size = parseFloat(/([\\d.]+)px/.exec(this.font)[1]);
        const scale = this.getTransform().a / devicePixelRatio;
        const { painted } = this.canvas;
        if (!isGraph(this) || !painted) return fillText.apply(this, drawn);
        painted.smallest = Math.min(painted.smallest, size * scale);
        // What has no room is cut within a word; a caption that leaves something out is not.
        if (/[\\w\\]]{3,}…$|\\d…/.test(drawn[0])) painted.shortened.push(drawn[0]);
        return fillText.apply(this, drawn);
    };
    context.roundRect = function (x, y, width, height, ...rest) {
        if (isGraph(this) && this.canvas.painted) {
            const box = [...onScreen(this, x, y), ...onScreen(this, x + width, y + height)];
            this.canvas.painted.boxes.push(box);
        }
        return roundRect.apply(this, [x, y, width, height, ...rest]);
    };
}"""

MEASURE = """(shown) => {
    const root = shown ?? document.querySelector(".tx-root");
    const of = (query) => root.querySelector(query)?.getBoundingClientRect();
    const view = root.getBoundingClientRect(), graph = of("[data-testid=graph]");
    const painted = root.querySelector("[data-testid=graph]")?.painted;
    const details = [...root.querySelectorAll(".tx-body > .tx-side")].at(-1);
    const stacked = root.querySelector(".tx-body-column") !== null;
    const tabs = root.querySelector("[role=tablist][aria-label=Details]");
    const cut = [...root.querySelectorAll(".tx-header > *, .tx-toolbar > *")].filter((each) => {
        const { left, right, width } = each.getBoundingClientRect();
        return width > 0 && (left < view.left || right > view.right);
    });
    const rows = root.querySelectorAll(":is(.tx-header, .tx-toolbar, .tx-search) " +
        ":is(button, input, .tx-title, .tx-verdict)");
    const placed = [...rows].map((each) => [each.textContent, each.getBoundingClientRect()]);
    const overlapping = placed.flatMap(([name, a], at) => placed.slice(at + 1).filter(([, b]) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
    ).map(([other]) => [name, other]));
    const parts = [...root.querySelectorAll(".tx-verdict-parts > *")];
    const verdict = parts.filter((each) => each.scrollWidth > each.clientWidth + 1).map(
        (each) => each.textContent);
    const chrome = (graph ?? of(".tx-tab-panel")).top - view.top;
    const always = { chrome, cut: cut.map((each) => each.outerHTML), overlapping, verdict };
    if (!graph) return always;
    const below = graph.height - (root.querySelector(".tx-beyond-below") ? 26 : 0);
    const covered = ["legend", "minimap"].flatMap((name) => {
        const over = of(`.tx-${name}`);
        if (!over?.width) return [];
        const [left, right] = [over.left - graph.left, over.right - graph.left];
        const [top, bottom] = [over.top - graph.top, over.bottom - graph.top];
        return painted.boxes.filter((box) => {
            const isFrame = box[2] - box[0] > graph.width / 2 || box[3] - box[1] > graph.height / 2;
            const [boxTop, boxBottom] = [box[1], Math.min(box[3], below)];
            const isOver = box[0] < right && box[2] > left && boxTop < bottom && boxBottom > top;
            return isOver && !isFrame && boxTop < below;
        }).map((box) => [name, ...box]);
    });
    return {
        ...always,
        covered,
        shortened: painted.shortened,
        graph: of(".tx-graph-halves").width,
        view: view.width,
        details: stacked ? 0 : details.getBoundingClientRect().width,
        beyond: [...root.querySelectorAll(".tx-beyond")].map((each) => each.title),
        rows: new Set([...tabs.children].map((each) => each.offsetTop)).size,
        tabs: tabs.scrollWidth - tabs.clientWidth,
        smallest: painted.smallest,
        cutBoxes: painted.boxes.filter(([left, top, right, bottom]) => {
            const isFrame = right - left > graph.width / 2 || bottom - top > graph.height / 2;
            const isCut = left < 0 || right > graph.width || (top < below && bottom > graph.height);
            return isCut && !(isFrame && root.querySelector(".tx-beyond"));
        }),
        boxes: painted.boxes.length,
    };
}"""


def find_faults(seen: dict[str, Any]) -> list[str]:
    """What is cut, covered, too small or too narrow at a first sight, as `MEASURE` saw it."""
    holds = {"chrome": seen["chrome"] <= MOST_CHROME}
    if "graph" in seen:
        holds |= {
            "small text": seen["smallest"] >= LEAST_TEXT - 0.01,
            "no boxes": seen["boxes"] > 0,
            "narrow canvas": seen["graph"] + 2 * ROOM >= seen["view"] / 2,
            "wide details": seen["graph"] >= seen["details"],
            "tabs": seen["rows"] == 1 and seen["tabs"] <= ROOM,
        }
    empty = ("cut", "overlapping", "verdict", "covered", "cutBoxes", "shortened")
    faults = [name for name, is_so in holds.items() if not is_so]
    return faults + [f"{name}: {seen[name]}" for name in empty if seen.get(name)]

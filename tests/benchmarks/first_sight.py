"""The first sight of 34 programs in a cell of JupyterLab: how many faults its geometry has.

Text, vision, audio, diffusion and recurrent models, one op, 4,000 ops, a failure, a
comparison, a set, and a `.pt2` file in a tab; in windows of four widths, light and dark. A fault is
what `tests/browser/sight.py` finds: cut, covered, text below 9 pixels, over 90 pixels above the
graph, a canvas below half of the view. The pictures go to `tests/browser/screenshots`.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, sync_playwright

from ..browser import chromium
from ..browser.lab import Lab, Theme
from ..browser.server import Server, serve
from ..browser.sight import LEAST_TEXT, MEASURE, MOST_CHROME, NOTE_PAINTING, find_faults
from .table import Row

WIDTHS = (1200, 700, 830, 1600)
THEMES: tuple[Theme, ...] = ("light", "dark")
HEIGHT = 850
SECONDS = 2400.0
ZOO = (
    "bert", "modernbert", "gpt2", "llama", "qwen3 with cache", "gemma2", "t5", "bart", "mixtral",
    "deepseek-v3", "mamba", "lstm cells", "gru", "convolutional gru", "tagger", "vit", "resnet",
    "convnext", "swin", "segformer", "mobilevit", "wav2vec2", "hubert", "spectra", "windows",
    "denoiser", "pooling net", "transformer encoder",
)  # fmt: skip
"""Of the models that need transformers alone."""
START = f"""
%load_ext kernel_ext
import sys
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
import torch
import explorer
from tests.benchmarks.zoo import MODELS

def first_sight(name):
    model = next(each for each in MODELS if each.name == name)
    args, kwargs = model.call(**model.sizes)
    shapes = model.shapes if name in {{"bert", "llama"}} else None
    return explorer.explore(model.build(), args, kwargs, dynamic_shapes=shapes)

class Long(torch.nn.Module):
    def forward(self, x):
        for number in range(2000):
            x = x.sin() * number
        return x

class Fails(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x

def stack(activation):
    return torch.nn.Sequential(torch.nn.Linear(8, 16), activation, torch.nn.Linear(16, 4)).eval()

net, other = stack(torch.nn.ReLU()), stack(torch.nn.GELU())
kit = {{"encoder": (net[:2], (torch.ones(2, 8),)), "decoder": (net[2:], (torch.ones(2, 16),))}}
x = torch.ones(2, 8)
explorer.explore(net, (x,)).save("net.pt2")
"""
CELLS = {
    **{name: f"first_sight({name!r})" for name in ZOO},
    "one op": "explorer.explore(torch.nn.ReLU(), (x,))",
    "4,000 ops": "explorer.explore(Long(), (x,))",
    "failure": "explorer.explore(Fails(), (x,))",
    "comparison": "explorer.diff(*(explorer.explore(each, (x,)) for each in (net, other)))",
    "set": "explorer.explore_many(kit)",
}
TAB = ".pt2 tab"
_PAINTED = """root => {
    const graph = root.querySelector("[data-testid=graph]");
    return graph ? graph.painted?.boxes.length > 0 : root.querySelector(".tx-tab-panel") !== null;
}"""


def run() -> list[Row]:
    """Faults of each program in all windows, and the worst figures of all."""
    with (
        tempfile.TemporaryDirectory() as home,
        serve(Path(home), warm=True) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium.find(), args=list(chromium.ARGS)
        )
        seen = _look(browser, server)
        browser.close()
    views = len(WIDTHS) * len(THEMES)
    rows = [
        Row(name, "faults", sum(len(find_faults(each)) for each in sights), most=0,
            means=next((fault for each in sights for fault in find_faults(each)), "none")[:120]
            + f"; at {len(sights)} of {views} sizes and themes")
        for name, sights in seen.items()
    ]  # fmt: skip
    every = [each for sights in seen.values() for each in sights]
    graphs = [each for each in every if "graph" in each]
    share = 100 * min(each["graph"] / each["view"] for each in graphs)
    return [
        *rows,
        Row("all", "most above the graph", max(each["chrome"] for each in every), "px",
            most=MOST_CHROME, means=f"title and toolbar, of {len(every)} first sights"),
        Row("all", "smallest text", min(each["smallest"] for each in graphs), "px",
            least=LEAST_TEXT - 0.01, means="in the graph"),
        Row("all", "narrowest canvas", share, "%", least=49.5, means="of the view's width"),
    ]  # fmt: skip


def _look(browser: Browser, server: Server) -> dict[str, list[dict[str, Any]]]:
    context = browser.new_context(viewport={"width": WIDTHS[0], "height": HEIGHT})
    context.add_init_script(f"({NOTE_PAINTING})()")
    page = context.new_page()
    page.set_default_timeout(120_000)
    lab = Lab(page, server)
    lab.open([START, *CELLS.values()])
    lab.run_all(SECONDS)
    seen = defaultdict(list)
    for window in _set_windows(lab):
        for number, name in enumerate(CELLS, 1):
            root = lab.cell(number).locator(".tx-root").last
            seen[name].append(_measures(lab, root, f"{name}-{window}"))
    lab.command("docmanager:open", {"path": "net.pt2"})
    root = page.locator(".jp-Document:not(.jp-NotebookPanel) .tx-root")
    for window in _set_windows(lab):
        seen[TAB].append(_measures(lab, root, f"tab-{window}"))
    context.close()
    return seen


def _set_windows(lab: Lab) -> Iterator[str]:
    """Sets each theme and width in turn, and yields its name."""
    for theme in THEMES:
        lab.set_theme(theme)
        for width in WIDTHS:
            lab.page.set_viewport_size({"width": width, "height": HEIGHT})
            yield f"{width}-{theme}"


def _measures(lab: Lab, root: Locator, picture: str) -> dict[str, Any]:
    root.wait_for()
    lab.page.wait_for_function(_PAINTED, arg=root.element_handle())
    lab.page.wait_for_timeout(400)  # until the view has settled in a window of another size
    lab.screenshot(f"sight-{picture.replace(' ', '_')}", root)
    measures: dict[str, Any] = root.evaluate(MEASURE)
    return measures

"""The first sight of a program: nothing is cut or too small to read, and the graph has the room.

By geometry, over programs of all kinds, in one page: a program is exchanged for the next.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from playwright.sync_api import Browser, Page

import explorer
from explorer.display.report import encode_page
from widgets import front_end, front_end_layout

from ..models import Case, VisionNet, branching, gpt2_2, llama, tutorial, vision
from .lab import open_tab
from .sight import LEAST_TEXT, MEASURE, NOTE_PAINTING, ROOM, find_faults

WIDTHS = (584, 648, 1018, 1418)
"""What a cell of JupyterLab leaves of windows of 700, 830, 1200 and 1600 pixels."""
SET = "a set"


class One(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.relu()


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(50, 16)
        self.lstm = torch.nn.LSTM(16, 32, 2, batch_first=True, bidirectional=True)
        self.out = torch.nn.Linear(64, 10)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.out(self.lstm(self.embed(tokens))[0])


class Wide(torch.nn.Module):
    """Many branches beside each other."""

    def __init__(self) -> None:
        super().__init__()
        self.heads = torch.nn.ModuleList(torch.nn.Linear(8, 8) for _ in range(20))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([head(x).relu() for head in self.heads], -1)


class Long(torch.nn.Module):
    """Many ops below each other, in no module."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number in range(60):
            x = x.sin() * number
        return x


class Denoiser(torch.nn.Module):
    """Down and up again, with what was on the way down added on the way up, and a time."""

    def __init__(self) -> None:
        super().__init__()
        self.time = torch.nn.Linear(1, 8)
        self.start = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.down = torch.nn.ModuleList(torch.nn.Conv2d(8, 8, 3, padding=1) for _ in range(3))
        self.up = torch.nn.ModuleList(torch.nn.Conv2d(16, 8, 3, padding=1) for _ in range(3))
        self.end = torch.nn.Conv2d(8, 3, 3, padding=1)

    def forward(self, image: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        x = self.start(image) + self.time(time[:, None])[:, :, None, None]
        kept = []
        for down in self.down:
            x = down(x).relu()
            kept.append(x)
        for up in self.up:
            x = up(torch.cat([x, kept.pop()], 1)).relu()
        return self.end(x)


PROGRAMS: dict[str, Callable[[], Case]] = {
    "one op": lambda: Case(One(), (torch.ones(3),)),
    "three ops": tutorial,
    "branches": branching,
    "vision": vision,
    "formulas": lambda: Case(
        VisionNet().eval(), (torch.randn(2, 3, 32, 32),), shapes="image: batch, _, h[3..], w[3..]"
    ),
    "text": gpt2_2,
    "layers": lambda: llama(4),
    "recurrent": lambda: Case(Recurrent(), (torch.ones(2, 5, dtype=torch.long),)),
    "diffusion": lambda: Case(Denoiser(), (torch.ones(2, 3, 8, 8), torch.ones(2))),
    "wide": lambda: Case(Wide(), (torch.ones(2, 8),)),
    "long": lambda: Case(Long(), (torch.ones(3),)),
}

TOO_LARGE = {"wide", "long", "diffusion", "formulas", "vision"}
"""No view shows all of them legibly: they say how much is outside, and where."""

PAGE = """<!doctype html><meta charset="utf-8">
<style>html { color-scheme: light dark } body { margin: 0; background: Canvas }</style>
<div id="view"></div>
"""

START = """async (codes) => {
    const load = (code) => {
        const bytes = Uint8Array.from(atob(code), (each) => each.charCodeAt(0));
        return import(URL.createObjectURL(new Blob([bytes], { type: "text/javascript" })));
    };
    const [{ mountFrozen }, layout] = await Promise.all(codes.map(load));
    let leave = () => {};
    window.show = async (held) => {
        leave();
        performance.clearMarks();
        leave = await mountFrozen(
            held, document.getElementById("view"), Promise.resolve(layout.default));
    };
}"""

# Some frames, however long each takes.
SETTLED = """async () => {
    for (let count = 0; count < 6; count++) await new Promise(requestAnimationFrame);
}"""
LOWER = "height => document.querySelector('.tx-app').style.setProperty('--tx-height', height)"


@pytest.fixture(scope="module")
def held() -> dict[str, str]:
    """Per program, what a page without a kernel holds of it."""
    found = {}
    for name, make in PROGRAMS.items():
        case = make()
        ex = explorer.explore(
            case.model, case.args, dict(case.kwargs), dynamic_shapes=case.shapes or None
        )
        assert ex.ok, name
        packed = gzip.compress(encode_page(ex.session), 1)
        found[name] = base64.b64encode(packed).decode()
    case = tutorial()
    kit = dict.fromkeys(("encoder", "decoder"), (case.model, case.args, case.kwargs))
    packed = gzip.compress(encode_page(explorer.explore_many(kit).session), 1)
    return {**found, SET: base64.b64encode(packed).decode()}


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A page that shows one program after the other."""
    path: Path = tmp_path_factory.mktemp("sight") / "page.html"
    path.write_text(PAGE)
    context = browser.new_context(viewport={"width": 1418, "height": 850})
    page = context.new_page()
    page.goto(path.as_uri())
    page.evaluate(NOTE_PAINTING)
    sources = (front_end(), front_end_layout())
    page.evaluate(START, [base64.b64encode(source).decode() for source in sources])
    yield page
    context.close()


def look(page: Page, held: str, width: int, scheme: str) -> dict[str, Any]:
    """The measures of a program's first sight."""
    page.set_viewport_size({"width": width, "height": 850})
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.evaluate("held => window.show(held)", held)
    page.wait_for_function("performance.getEntriesByName('tx:painted').length > 0")
    # The canvas has its size, and was painted in it, within two frames.
    page.evaluate(SETTLED)
    measures: dict[str, Any] = page.evaluate(MEASURE)
    return measures


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_sight_is_whole_legible_and_has_the_room(
    page: Page, held: dict[str, str], width: int, scheme: str
) -> None:
    for name, packed in held.items():
        seen = look(page, packed, width, scheme)
        told = f"{name} at {width}, {scheme}: {seen}"
        assert find_faults(seen) == [], told
        if name not in TOO_LARGE:
            assert seen["beyond"] == [], told


@pytest.mark.parametrize("height", [300, 340, 540])
def test_a_low_view_covers_and_shortens_nothing(
    page: Page, held: dict[str, str], height: int
) -> None:
    for width in (584, 1018):
        for name in ("branches", "layers", "diffusion", SET):
            look(page, held[name], width, "light")
            page.evaluate(LOWER, f"{height}px")
            page.evaluate(SETTLED)
            seen = page.evaluate(MEASURE)
            told = f"{name} at {width} by {height}: {seen}"
            assert seen["smallest"] >= LEAST_TEXT - 0.01, told
            for fault in ("cut", "covered", "overlapping", "shortened", "verdict"):
                assert seen[fault] == [], told


@pytest.mark.parametrize("width", WIDTHS)
def test_a_scale_of_colours_covers_no_box(page: Page, held: dict[str, str], width: int) -> None:
    for name in ("three ops", "branches", "text", "layers", "recurrent"):
        look(page, held[name], width, "light")
        open_tab(page, "Cost")
        page.get_by_test_id("cost-heat").select_option("flops")
        page.wait_for_selector("[data-testid=scale]")
        page.evaluate(SETTLED)
        seen = page.evaluate(MEASURE)
        assert seen["covered"] == [], f"{name} at {width}: {seen}"


@pytest.mark.parametrize("width", [1018, 1418])
def test_no_tab_is_cut_where_source_is_below(page: Page, held: dict[str, str], width: int) -> None:
    look(page, held["layers"], width, "light")
    page.get_by_role("button", name="Source and Code below").click()
    page.wait_for_selector("[role=tablist][aria-label=Facts]")
    page.evaluate(SETTLED)
    cut = """() => [...document.querySelectorAll("[role=tablist]")]
        .map((each) => each.scrollWidth - each.clientWidth)"""
    assert max(page.evaluate(cut)) <= ROOM
    page.get_by_role("button", name="Source and Code as tabs").click()

"""A notebook that is seen again: reloaded, reopened with another kernel, executed elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from .lab import Lab
from .test_explorer import LOAD, SMALL, explorer

RELOADS = 24
GRAPH = "ex.view(pane='graph')"
VIEWS = 3

_PAINTED = """count => {
    const graphs = [...document.querySelectorAll('[data-testid=graph]')];
    const seen = graphs.filter(each => {
        const pixels = each.width > 0 && each.getContext('2d').getImageData(
            0, 0, each.width, each.height).data;
        if (!pixels) return false;
        const corner = pixels.slice(0, 3);
        const drawn = pixels.some((value, at) => value !== corner[at % 4] && at % 4 < 3);
        return Math.min(...corner) > 200 && drawn;
    });
    return seen.length === count;
}"""
"""Whether so many graphs are on screen, each drawn, each on a light ground."""


def _texts(page: Page) -> str:
    return " ".join(page.locator(".jp-OutputArea-output").all_inner_texts())


@pytest.mark.slow
@pytest.mark.own_page
def test_reloads_bring_back_every_view_and_none_is_dark(
    lab: Lab, one_of: Callable[[int], int]
) -> None:
    lab.page.set_viewport_size({"width": 1400, "height": 1900})
    lab.open(
        [
            LOAD,
            SMALL,
            '%export -d "x: batch, _" --as ex small(x)',
            GRAPH,
            GRAPH,
        ]
    )
    lab.run_all(120)
    lab.page.wait_for_function(_PAINTED, arg=VIEWS)
    lab.save()
    for _ in range(RELOADS)[:: one_of(3)]:
        lab.page.reload()
        lab.page.wait_for_function(_PAINTED, arg=VIEWS)
    assert "model not found" not in _texts(lab.page)
    assert "Loading widget" not in _texts(lab.page)


@pytest.mark.own_page
def test_reopened_with_another_kernel_a_view_is_a_still_picture(lab: Lab) -> None:
    lab.open([LOAD, SMALL, '%export -d "x: batch, _" --as ex small(x)', GRAPH])
    lab.run_all(120)
    lab.page.wait_for_function(_PAINTED, arg=2)  # a view that is not there yet keeps no picture
    lab.save()
    assert lab.path is not None
    stored = json.loads(lab.path.read_text(encoding="utf-8"))
    assert len(json.dumps(stored)) < 100_000
    lab.server.start_over()
    lab.reload()
    output = lab.page.locator(".jp-OutputArea-output")
    expect(output.nth(0).locator("img")).to_be_visible()
    for number in range(2):
        expect(output.nth(number)).to_contain_text("exported, non-strict, 3 ops")
        expect(output.nth(number)).to_contain_text("A static picture")
    assert "model not found" not in _texts(lab.page)
    lab.screenshot("reopened")
    # The live view is there again once the cell has run.
    lab.run_all(120)
    explorer(lab)

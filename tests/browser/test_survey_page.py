"""The page of a survey filters, sorts and groups its trials, and is not wider than the window."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from explorer.surveys.page import survey_page
from explorer.surveys.rows import Row

ROWS = [
    Row(key="a", name="bert", mode="strict", outcome="exported", torch="2.13.0", ops={"add": 3}),
    Row(
        key="b",
        name="gpt2",
        mode="strict",
        outcome="fixed",
        code="EX102",
        kind="The requested dynamic shapes do not hold",
        fixes=["Bound seq ≤ 512"],
        agrees="agrees",
        sizes=12,
        agreement="Agrees with eager at 12 combinations of batch 1, 2, 3, 7 and seq 1, 2, 4, 7.",
        shapes="input_ids: batch, seq; attention_mask: batch, seq",
        symbols={"batch": "[0, ∞)", "seq": "[0, 512]"},
        torch="2.13.0",
        ops={"add": 20},
    ),
    Row(key="c", name="unet", mode="non-strict", outcome="failed", code="EX111", torch="2.13.0"),
]


@pytest.fixture
def page_of_rows(context: BrowserContext, tmp_path: Path) -> Page:
    page = context.new_page()
    file = tmp_path / "table.html"
    file.write_text(survey_page(ROWS), encoding="utf-8")
    page.goto(file.as_uri())
    return page


def names(page: Page) -> list[str]:
    return page.locator("#trials tbody th[scope=row]").evaluate_all(
        "(cells) => cells.map((cell) => cell.dataset.value)"
    )


def test_trials_are_filtered_sorted_and_grouped(page_of_rows: Page) -> None:
    page = page_of_rows
    expect(page.get_by_text("3 of 3 trials")).to_be_visible()

    page.get_by_label("Filter").fill("seq 512")
    assert names(page) == ["gpt2"]
    expect(page.get_by_text("1 of 3 trials")).to_be_visible()

    page.get_by_label("Filter").fill("")
    page.get_by_role("button", name="ops").click()
    assert names(page) == ["unet", "bert", "gpt2"]

    page.get_by_label("Group by").select_option("mode")
    expect(page.locator("tr.group")).to_have_text(["non-strict: 1", "strict: 2"])

    page.get_by_label("Outcome all").select_option("failed")
    assert names(page) == ["unet"]


def test_the_table_fits_into_a_window(page_of_rows: Page) -> None:
    page_of_rows.set_viewport_size({"width": 1200, "height": 700})
    region = page_of_rows.locator(".scroll")

    assert region.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    assert page_of_rows.get_by_text("torch 2.13.0,").is_visible()

"""ExportDB in JupyterLab: browse, open, edit (wrong first), export again, follow a link."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from .lab import Lab
from .test_explorer import LOAD, unfold_outline


def test_a_reader_browses_opens_edits_and_exports_a_case(lab: Lab) -> None:
    lab.open([LOAD, "%exportdb"])
    lab.run_all(60)
    page = lab.page
    library = page.locator(".tx-library")
    live = page.get_by_test_id("live")
    expect(library).to_contain_text("36 cases")
    expect(library).to_contain_text("Choose a case")

    library.get_by_label("Tag", exact=True).select_option("torch.dynamic-shape")
    expect(library).to_contain_text("13 of 36 cases")
    search = library.get_by_label("Search the cases")
    search.fill("slicing")
    search.press("Enter")
    page.keyboard.press("Enter")
    case = library.get_by_test_id("case-page")
    expect(case).to_contain_text("x: f32[3, 2]")
    opened = library.locator(".tx-found [aria-current]")
    for width in (700, 830):  # the page opens below the list, which keeps what is open in view
        page.set_viewport_size({"width": width, "height": 900})
        expect(opened).to_be_in_viewport(ratio=0.95)
    page.set_viewport_size({"width": 1400, "height": 900})
    library.get_by_test_id("try-case").click()
    expect(live.get_by_test_id("verdict")).to_contain_text("exported, non-strict")
    expect(live.locator(".tx-attempts [role=tab]")).to_have_text(["non-strict", "strict"])
    expect(case.get_by_test_id("tried")).to_contain_text("exported, strict")

    # Wrong first: the text stays, the line is marked, what was shown stays.
    source = case.get_by_test_id("case-source")
    text = source.input_value()
    source.fill(text.replace("return x[", "return x[["))
    source.press("Control+Enter")
    expect(case.get_by_test_id("case-problem")).to_contain_text("This is not valid Python")
    expect(case.locator(".tx-failing")).to_contain_text("return x[[")
    expect(live.get_by_test_id("verdict")).to_contain_text("exported, non-strict")

    # Python, but not exported: it explains itself.
    line = next(each for each in text.splitlines() if "return x[" in each)
    indent = line[: len(line) - len(line.lstrip())]
    source.fill(text.replace(line, f"{indent}if x.sum() > 0:\n{indent}    return x\n{line}"))
    source.press("Control+Enter")
    failure = live.get_by_test_id("failure")
    expect(failure).to_contain_text("A branch on data")
    failure.get_by_text("Read more").click()
    failure.get_by_text("Show the case").click()
    expect(failure.get_by_test_id("linked-case")).to_contain_text("class CondPredicate")

    # Right: the edit is in the program.
    source.fill(text.replace(line, f"{line}.sin()"))
    source.press("Control+Enter")
    expect(live.get_by_test_id("verdict")).to_contain_text("exported, non-strict")
    unfold_outline(live)
    expect(live.locator("[role=treeitem]").filter(has_text="sin")).to_have_count(1)
    assert lab.value("'model' in globals()") is False
    library.get_by_role("button", name="Undo the edits").click()
    assert source.input_value() == text
    expect(case.get_by_test_id("tried")).to_contain_text("before your last edits")

    # Back: the case that a failure linked to says which failures it explains.
    library.get_by_role("button", name="show all").click()
    library.locator("[data-name=cond_predicate]").click()
    expect(case).to_contain_text("A branch on data")


@pytest.mark.own_page
def test_an_endless_text_is_stopped_and_a_view_comes_back_after_a_reload(lab: Lab) -> None:
    lab.open([LOAD, "%exportdb list_contains"])
    lab.run_all(60)
    library, live = lab.page.locator(".tx-library"), lab.page.get_by_test_id("live")
    source = library.get_by_test_id("case-source")
    expect(source).to_be_visible()
    source.fill("while True:\n    pass\n")
    source.press("Control+Enter")
    library.get_by_role("button", name="Stop").click(delay=500)
    problem = library.get_by_test_id("case-problem")
    expect(problem).to_contain_text("Interrupted. Nothing has changed.")

    library.get_by_role("button", name="Undo the edits").click()
    library.get_by_test_id("try-case").click()
    expect(live.get_by_test_id("verdict")).to_contain_text("exported")
    lab.save()
    lab.reload()
    lab.cell(1)
    expect(library.get_by_test_id("case-page")).to_contain_text("list_contains")
    expect(live.get_by_test_id("verdict")).to_contain_text("exported")


def test_graph_breaks_are_searched_and_read(lab: Lab) -> None:
    lab.open([LOAD, "%graph_breaks data-dependent branching"])
    lab.run_all(60)
    library = lab.page.locator(".tx-library")
    expect(library).to_contain_text("2 graph breaks")
    library.locator("[data-name=GB0170]").click()
    expect(library.get_by_test_id("break-page")).to_contain_text("Use torch.cond to express")
    library.get_by_label("Search the graph breaks").fill("zebra crossing")
    expect(library).to_contain_text("No matching graph breaks")


SLIDE = """
def slide(x, w):
    if x.shape[0] <= 1024:
        return torch.relu(x @ w)
    return torch.sigmoid(x @ w) * 2

x, w = torch.randn(512, 8), torch.randn(8, 8)
"""


def test_compile_is_shown_beside_export(lab: Lab) -> None:
    lab.open([LOAD, SLIDE, "%export --vs-compile --sizes 512,1024,2048 --as ex slide(x, w)"])
    lab.run_all(120)
    output = lab.cell(2).locator(".jp-OutputArea")
    rows = output.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("compiles graph 1")
    expect(rows.nth(1)).to_contain_text("graph 1 requires x.shape[0] == 512")
    expect(rows.nth(2)).to_contain_text("graph 2 requires 2 <= x.shape[0] <= 1024")
    expect(rows.nth(2)).to_contain_text("rejects it")
    expect(rows.nth(2)).to_contain_text("Cell In[2], line 2")
    verdict = output.get_by_test_id("verdict")
    expect(verdict).to_contain_text("x.shape[0] in [2, 1024]")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    size = rows.nth(1).locator("td").first.locator("code")
    assert size.evaluate("code => code.getClientRects().length") == 1

"""JupyterLab's editors and a view, linked: a line's ops, an op's line, fixes written, squiggles."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from .lab import Lab
from .test_explorer import LOAD, explorer
from .test_fixes import EXPORT, FORK, LIMIT

TWO = """
def halved(x):
    return x / 2

def two(x):
    y = halved(x).sin()
    return y.cos()
"""
HELPER = """import torch
{far}
def shifted(x):
    return torch.add(x, 1)
"""


def editor(lab: Lab, index: int) -> Locator:
    return lab.cell(index).locator(".cm-content")


def _selected(root: Locator) -> Locator:
    return root.get_by_role("status").last


def _select(root: Locator, op: str) -> None:
    root.get_by_role("combobox", name="Search ops").fill(op)
    root.get_by_role("treeitem").filter(has_text=op).first.click()


def _go_to_source(root: Locator) -> None:
    root.get_by_test_id("inspector").get_by_role("button", name="Go to source").first.click()


def _expect_cursor(lab: Lab, line: str) -> None:
    """Waits until the cursor of the document in front is on a line."""
    lab.page.wait_for_function(
        """line => {
            const { content } = jupyterapp.shell.currentWidget;
            const editor = (content.activeCell ?? content).editor;
            return editor.getLine(editor.getCursorPosition().line).trim() === line;
        }""",
        arg=line,
    )


def test_the_cursor_marks_ops_and_an_op_opens_its_line(lab: Lab) -> None:
    text = HELPER.format(far=100 * "\n")
    (lab.server.folder / "helper.py").write_text(text, encoding="utf-8")
    lab.open(
        [
            f"{LOAD}\nimport sys\nsys.path.append({str(lab.server.folder)!r})\nimport helper",
            TWO.strip(),
            "def all(x):\n    return two(helper.shifted(x))",
            "%export all(torch.ones(3))",
        ]
    )
    lab.run_all()
    root = explorer(lab)

    # The cursor in a cell marks the ops of its line, and of no line that made none.
    editor(lab, 1).get_by_text("cos").click()
    expect(_selected(root)).to_contain_text("1 op")
    expect(root.get_by_test_id("inspector")).to_contain_text("cos")
    editor(lab, 1).press("ArrowUp")
    expect(root.get_by_test_id("inspector")).to_contain_text("sin")
    lab.screenshot("editor-link")

    # An op's line opens in its cell; what is selected stays so.
    _select(root, "div")
    _go_to_source(root)
    _expect_cursor(lab, "return x / 2")
    expect(root.get_by_test_id("inspector")).to_contain_text("div")

    # Text that was edited since is not shown as if it were what was exported.
    editor(lab, 1).press("End")
    lab.page.keyboard.type(" ")
    lab.page.keyboard.type("# halved")
    _select(root, "cos")
    _go_to_source(root)
    expect(root.get_by_test_id("outcome")).to_contain_text("was edited since the export")

    # A line of a file opens beside the notebook, and its cursor marks ops, too.
    _select(root, "add")
    _go_to_source(root)
    _expect_cursor(lab, "return torch.add(x, 1)")
    file = lab.page.locator(".jp-FileEditor .cm-content")
    file.get_by_text("add").click()
    expect(_selected(root)).to_contain_text("1 op")
    file.get_by_text("def").click()
    expect(_selected(root)).not_to_contain_text("op")
    lab.screenshot("editor-link-file")


def source(lab: Lab, index: int) -> str:
    text = lab.page.evaluate(
        "i => jupyterapp.shell.currentWidget.content.widgets[i].model.sharedModel.getSource()",
        index,
    )
    assert isinstance(text, str)
    return text


def test_a_fix_is_written_into_the_code_and_undone(lab: Lab) -> None:
    lab.open([LOAD, FORK, LIMIT, "%export --as ex fork(torch.rand(4))", EXPORT])
    lab.run_all()
    before = [source(lab, index) for index in range(5)]
    dialog = lab.page.locator(".jp-Dialog")

    # A code fix goes into the cell of the function, once its diff is accepted.
    fix = explorer(lab, 0).get_by_test_id("fix").filter(has_text="torch.where").first
    fix.get_by_role("button", name="Apply to my code").click()
    expect(dialog).to_contain_text("torch.where")
    lab.screenshot("editor-link-diff")
    dialog.get_by_role("button", name="Cancel").click()
    assert source(lab, 1) == before[1]
    fix.get_by_role("button", name="Apply to my code").click()
    dialog.get_by_role("button", name="Write").click()
    expect(editor(lab, 1)).to_contain_text("torch.where")
    expect(explorer(lab, 0).get_by_test_id("outcome")).to_contain_text("Written into Cell In[2]")
    assert "torch.where" in source(lab, 1)

    # What is there now is not what was exported: it is not written twice.
    fix.get_by_role("button", name="Apply to my code").click()
    expect(explorer(lab, 0).get_by_test_id("outcome")).to_contain_text("edited since the export")
    editor(lab, 1).click()
    lab.page.keyboard.press("Control+z")
    expect(editor(lab, 1)).not_to_contain_text("torch.where")
    assert source(lab, 1) == before[1]

    # A fix of shapes goes into the line of %export.
    lab.cell(4)
    fix = explorer(lab, 1).get_by_test_id("fix").first
    fix.get_by_role("button", name="Apply to my code").click()
    dialog.get_by_role("button", name="Write").click()
    expect(editor(lab, 4)).to_contain_text('-d "x: a[..16], b; y: b, d[17..]"')
    after = '%export -d "x: a[..16], b; y: b, d[17..]" --as ex limit(x, y)'
    assert [source(lab, index) for index in range(5)] == [*before[:4], after]


def test_a_failure_stands_in_its_cell_with_its_fix(lab: Lab) -> None:
    lab.open([LOAD, FORK, "%export --as ex fork(torch.rand(4))"])
    lab.run_all()
    explorer(lab)
    before = source(lab, 1)
    squiggle = editor(lab, 1).locator(".tx-squiggle")
    expect(squiggle).to_have_text("x.sum() > 0")

    # It says what is wrong, and begins its fix; that is undone as any edit.
    squiggle.hover()
    tip = lab.page.locator(".tx-squiggle-tip")
    expect(tip).to_contain_text("depends on the values of x.sum() > 0")
    lab.screenshot("editor-squiggle")
    lab.page.mouse.move(5, 5)
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    squiggle.hover()
    expect(tip).to_be_visible()
    lab.screenshot("editor-squiggle-dark-700")
    tip.get_by_role("button", name="Apply to my code").click()
    dialog = lab.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("torch.where")
    lab.screenshot("editor-diff-dark-700")
    dialog.get_by_role("button", name="Write").click()
    expect(editor(lab, 1)).to_contain_text("torch.where")
    expect(squiggle).to_have_count(0)
    editor(lab, 1).click()
    lab.page.keyboard.press("Control+z")
    expect(squiggle.first).to_have_text("x.sum() > 0")
    assert source(lab, 1) == before

    # The palette does the same without a pointer; what ran again has no squiggle of an old run.
    lab.command("export-explorer:go-to-source")
    lab.command("export-explorer:apply-fix")
    dialog.get_by_role("button", name="Cancel").click()
    lab.command("notebook:run-cell")
    expect(squiggle).to_have_count(0)
    lab.command("export-explorer:own-tab")
    expect(lab.page.locator(".jp-LinkedOutputView .tx-root")).to_be_visible()
    lab.screenshot("editor-own-tab")

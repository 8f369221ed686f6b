"""The view of the last export, two notebooks, fixes in files, settings and shortcuts."""

from __future__ import annotations

from playwright.sync_api import expect

from .lab import Lab
from .test_editor_link import source
from .test_explorer import LOAD, explorer
from .test_fixes import FORK

SIN = "%export (lambda x: x.sin())(torch.ones(3))"
COS = "%export (lambda x: x.cos())(torch.ones(3))"


def _activate(lab: Lab, index: int) -> None:
    lab.page.evaluate("i => { jupyterapp.shell.currentWidget.content.activeCellIndex = i; }", index)


def test_a_tab_and_the_sidebar_follow_the_last_export(lab: Lab) -> None:
    lab.open([LOAD, SIN, COS])
    lab.run_all()
    explorer(lab)
    lab.command("export-explorer:last-in-tab")
    last = lab.page.locator("#export-explorer-last-export")
    shown = last.locator(".tx-root")
    expect(shown).to_contain_text("x.cos()")
    lab.screenshot("last-export-tab")
    assert lab.path
    lab.command("docmanager:open", {"path": lab.path.name})

    # A cell that runs is the last, and so is one of another notebook.
    _activate(lab, 1)
    lab.command("notebook:run-cell")
    expect(shown).to_contain_text("x.sin()")
    lab.open([LOAD, "%export (lambda x: x.tanh())(torch.ones(3))"])
    lab.run_all()
    expect(shown).to_contain_text("x.tanh()")

    # In the sidebar it is the same, and no longer in the tab.
    lab.command("export-explorer:last-in-sidebar")
    expect(last).to_have_count(1)
    expect(lab.page.locator("#jp-right-stack #export-explorer-last-export")).to_be_visible()
    expect(shown).to_contain_text("x.tanh()")
    lab.screenshot("last-export-sidebar")
    lab.set_theme("dark")
    lab.page.set_viewport_size({"width": 700, "height": 900})
    lab.screenshot("last-export-sidebar-dark-700")

    # A deleted cell leaves a word.
    _activate(lab, 1)
    lab.command("notebook:delete-cell")
    expect(last).to_contain_text("The cell of the last export is gone")
    lab.command("export-explorer:last-in-sidebar")
    expect(last).to_have_count(0)


def test_a_fix_is_written_into_a_file_and_undone(lab: Lab) -> None:
    file = lab.server.folder / "forks.py"
    text = f"import torch\n{FORK}"
    file.write_text(text, encoding="utf-8")
    lab.open(
        [
            f"{LOAD}\nimport sys\nsys.path.append({str(file.parent)!r})\nimport forks",
            "%export forks.fork(torch.rand(4))",
        ]
    )
    lab.run_all()
    fix = explorer(lab).get_by_test_id("fix").filter(has_text="torch.where").first
    fix.get_by_role("button", name="Apply to my code").click()
    dialog = lab.page.locator(".jp-Dialog")
    expect(dialog).to_contain_text("forks.py")
    lab.screenshot("fix-into-a-file-diff")
    dialog.get_by_role("button", name="Write").click()

    # It stands in the file's editor, unsaved, and is one step of its undo.
    written = lab.page.locator(".jp-FileEditor .cm-content")
    expect(written).to_contain_text("torch.where")
    lab.screenshot("fix-into-a-file")
    assert file.read_text(encoding="utf-8") == text
    written.click()
    lab.page.keyboard.press("Control+z")
    expect(written).not_to_contain_text("torch.where")
    lab.command("docmanager:save")
    assert file.read_text(encoding="utf-8") == text


def test_two_notebooks_with_the_same_cells_are_told_apart(lab: Lab) -> None:
    cells = [LOAD, FORK, "%export --as ex fork(torch.rand(4))"]
    lab.open(cells)
    lab.run_all()
    explorer(lab)
    first = lab.path
    lab.open(cells)
    lab.run_all()
    front = lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
    expect(front.locator(".tx-squiggle").first).to_be_visible()
    _activate(lab, 1)
    lab.command("export-explorer:apply-fix")
    lab.page.locator(".jp-Dialog").get_by_role("button", name="Write").click()
    expect(front.locator(".cm-content").nth(1)).to_contain_text("torch.where")

    # The other notebook's cell is as it was, and keeps its squiggle.
    assert first
    lab.command("docmanager:open", {"path": first.name})
    assert source(lab, 1) == FORK
    expect(front.locator(".tx-squiggle").first).to_have_text("x.sum() > 0")


def test_the_settings_say_what_is_linked_and_what_opens(lab: Lab) -> None:
    lab.open([LOAD, FORK, "%export --as ex fork(torch.rand(4))"])
    lab.run_all()
    explorer(lab)
    squiggle = lab.page.locator(".tx-squiggle").first
    expect(squiggle).to_be_visible()
    lab.command("settingeditor:open", {"query": "Export Explorer"})
    settings = lab.page.locator("#setting-editor")
    underline = settings.get_by_label("Underline failures and findings")
    lab.screenshot("settings")
    underline.uncheck()
    expect(squiggle).to_have_count(0)
    settings.get_by_role("combobox").select_option("Also in a tab")
    last = lab.page.locator("#export-explorer-last-export")
    expect(last.get_by_test_id("failure")).to_contain_text("depends on the values")
    settings.get_by_role("button", name="Restore to Defaults").click()
    expect(underline).to_be_checked()


def test_shortcuts_are_listed_and_work(lab: Lab) -> None:
    lab.open([LOAD, "%export (lambda x: x.sin())(torch.ones(3))"])
    lab.run_all()
    explorer(lab)
    lab.page.keyboard.press("Alt+x")
    lab.page.keyboard.press("l")
    expect(lab.page.locator("#export-explorer-last-export")).to_contain_text("x.sin()")

"""The harness itself: a click reaches the kernel, and what must not happen is noticed."""

from __future__ import annotations

import pytest
from playwright.sync_api import BrowserContext, expect

from .lab import Lab
from .server import Server
from .watch import Watch

COUNTER = """
import anywidget, traitlets

class Counter(anywidget.AnyWidget):
    _esm = '''
    export default {
      render({ model, el }) {
        const button = document.createElement("button");
        button.dataset.testid = "counter";
        const show = () => { button.textContent = `clicked ${model.get("clicks")} times`; };
        button.onclick = () => {
          model.set("clicks", model.get("clicks") + 1);
          model.save_changes();
        };
        model.on("change:clicks", show);
        show();
        el.append(button);
      },
    };
    '''
    clicks = traitlets.Int(0).tag(sync=True)

counter = Counter()
"""


def test_a_click_reaches_the_kernel(lab: Lab) -> None:
    lab.open([COUNTER, "counter"])
    lab.run_all()

    button = lab.cell(1).get_by_test_id("counter")
    button.click()

    expect(button).to_have_text("clicked 1 times")
    assert lab.value("counter.clicks") == 1


def test_the_kernel_reaches_the_page(lab: Lab) -> None:
    lab.open([COUNTER, "counter"])
    lab.run_all()

    lab.execute("counter.clicks = 41")

    expect(lab.cell(1).get_by_test_id("counter")).to_have_text("clicked 41 times")


@pytest.mark.own_page
def test_a_widget_comes_back_after_a_reload(lab: Lab) -> None:
    lab.open([COUNTER, "counter"])
    lab.run_all()
    lab.cell(1).get_by_test_id("counter").click()
    lab.save()

    lab.reload()

    expect(lab.cell(1).get_by_test_id("counter")).to_have_text("clicked 1 times")


def test_themes_switch(lab: Lab) -> None:
    lab.open(["1 + 1"])

    lab.set_theme("dark")

    expect(lab.page.locator("body")).to_have_attribute("data-jp-theme-light", "false")
    assert lab.screenshot("harness-dark").stat().st_size > 0


def test_a_theme_does_not_outlive_its_test(lab: Lab) -> None:
    lab.open(["1 + 1"])

    expect(lab.page.locator("body")).to_have_attribute("data-jp-theme-light", "true")


def test_a_cell_that_raises_is_noticed(lab: Lab) -> None:
    lab.open(["1 / 0"])

    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        lab.run_all()


def test_errors_and_requests_to_elsewhere_are_noticed(context: BrowserContext) -> None:
    watch = Watch(context)
    page = context.new_page()

    page.set_content("""<script>
      fetch("http://127.0.0.2:9/").catch(() => {});
      console.error("a logged error");
      throw new Error("a thrown error");
    </script>""")
    page.wait_for_function("document.readyState === 'complete'")

    said = "\n".join(watch.problems)
    assert "a request left this machine: http://127.0.0.2:9/" in said
    assert "a logged error" in said
    assert "a thrown error" in said


def test_a_command_during_which_the_page_is_left_says_so(
    context: BrowserContext, server: Server
) -> None:
    lab = Lab(context.new_page(), server)
    lab.page.set_content(
        "<script>window.jupyterapp = { commands: { execute: () => {"
        "location.reload(); return new Promise(() => {}); } } };</script>"
    )

    with pytest.raises(AssertionError, match="the page was left"):
        lab.command("reload")

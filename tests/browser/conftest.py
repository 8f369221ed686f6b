"""One server and one browser for the whole run; a page of its own for each test."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, sync_playwright

from . import chromium
from .lab import Lab
from .server import Server, serve
from .watch import Watch

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks every test of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keeps a picture of what a failing test last saw."""
    report = yield
    lab = getattr(item, "funcargs", {}).get("lab")
    if report.when == "call" and report.failed and isinstance(lab, Lab):
        with suppress(Error):  # the page may be what failed
            report.sections.append(("Screenshot", str(lab.screenshot(f"failed-{item.name}"))))
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab server with settings of its own."""
    with serve(tmp_path_factory.mktemp("jupyter")) as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, without a window."""
    path = chromium.find()
    assert path is not None, chromium.MISSING
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGS))
        yield running
        running.close()


@pytest.fixture
def watch(context: BrowserContext) -> Iterator[Watch]:
    """What went wrong in the test's pages; anything that did fails the test."""
    watch = Watch(context)
    yield watch
    assert not watch.problems, "\n".join(watch.problems)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh browser profile, of a laptop's window."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    yield context
    context.close()


@pytest.fixture
def lab(server: Server, context: BrowserContext, watch: Watch) -> Iterator[Lab]:
    """JupyterLab in a page of its own. Its kernels end with the test."""
    page = context.new_page()
    yield Lab(page, server)
    page.close()
    server.start_over()

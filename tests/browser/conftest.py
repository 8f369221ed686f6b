"""One server and one browser for the whole run, and one page of JupyterLab for most tests."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    ViewportSize,
    expect,
    sync_playwright,
)

from . import chromium
from .lab import Lab
from .server import Server, serve
from .watch import Watch

HERE = Path(__file__).parent
WINDOW: ViewportSize = {"width": 1400, "height": 900}
FAILED = pytest.StashKey[bool]()

PATIENCE = 120_000
"""Milliseconds. The page shares its cores with other tests; only what fails takes as long."""
expect.set_options(timeout=PATIENCE)


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
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    if report.when == "call" and report.failed and isinstance(lab, Lab):
        with suppress(Error):  # the page may be what failed
            report.sections.append(("Screenshot", str(lab.screenshot(f"failed-{item.name}"))))
    return report


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A JupyterLab server with settings of its own."""
    with serve(tmp_path_factory.mktemp("jupyter"), warm=True) as running:
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
    context = _profile(browser)
    yield context
    context.close()


def _profile(browser: Browser) -> BrowserContext:
    context = browser.new_context(viewport=WINDOW)
    context.set_default_timeout(PATIENCE)
    return context


class Desk:
    """JupyterLab in a page that one test after the other works in: opening one takes seconds."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser = browser
        self.server = server
        self.lab: Lab | None = None
        self.watch: Watch | None = None

    def taken(self) -> tuple[Lab, Watch]:
        """The page as it was before any test, and what goes wrong there."""
        if self.lab is None or self.watch is None:
            context = _profile(self.browser)
            self.watch = Watch(context)
            self.lab = Lab(context.new_page(), self.server)
        self.lab.page.set_viewport_size(WINDOW)
        return self.lab, self.watch

    def given_back(self, clean: bool) -> None:
        """Ends the test's kernels; a page that is not as it was is closed."""
        if self.lab is not None and self.watch is not None and clean:
            self.lab.close()
            self.watch.problems.clear()  # closing cancels what JupyterLab was still asking
        elif self.lab is not None:
            self.lab.page.context.close()
            self.lab = None
        self.server.start_over()


@pytest.fixture(scope="session")
def desk(browser: Browser, server: Server) -> Iterator[Desk]:
    """Where tests of JupyterLab take turns."""
    desk = Desk(browser, server)
    yield desk
    desk.given_back(clean=False)


@pytest.fixture
def lab(desk: Desk, request: pytest.FixtureRequest) -> Iterator[Lab]:
    """JupyterLab, with no notebook open. Its kernels end with the test, its page may stay.

    A test marked `own_page` gets a page of its own, which no other had and no other gets.
    """
    own = request.node.get_closest_marker("own_page") is not None
    if own:
        desk.given_back(clean=False)
    lab, watch = desk.taken()
    yield lab
    problems, watch.problems = watch.problems, []
    desk.given_back(clean=not (own or problems or request.node.stash.get(FAILED, False)))
    assert not problems, "\n".join(problems)

"""Walks the built site in Chromium: `python -m docs.site.check`, after `make docs`.

Every page is opened at the width of a phone and of a laptop, in a light and in a dark scheme. It
fails on a dead link, on an error in the console, on a request that leaves the site, on a page that
is wider than the phone, on a live view that does not start, and on a search that finds nothing.
"""

from __future__ import annotations

import functools
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from playwright.sync_api import Page, sync_playwright

from docs.site.links import DOCS
from tests.browser import chromium

HTML = DOCS / "_build" / "html"
PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1200, "height": 800}
_ADDRESSES = """() => [...document.querySelectorAll("[href], [src]")]
  .map((each) => each.href || each.src).filter((each) => typeof each === "string")"""
_STARTED = """() => document.querySelector(".tx-root canvas, .tx-root") !== null"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Requests are not news."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder at an address of this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


class Walk:
    """What is wrong on the pages that a browser opened."""

    def __init__(self, page: Page, home: str) -> None:
        self.page = page
        self.home = home
        self.problems: dict[str, None] = {}
        self.links = 0
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note(f"error: {error}"))
        page.on("requestfailed", self._failed)
        page.on("request", self._asked)

    def _note(self, what: str) -> None:
        self.problems[f"{self.page.url.removeprefix(self.home)}: {what}"] = None

    def _failed(self, request: object) -> None:
        # What is under way as the walk goes to the next page ends there.
        if getattr(request, "failure", "") != "net::ERR_ABORTED":
            self._note(f"failed: {getattr(request, 'url', '')[:120]}")

    def _said(self, message: object) -> None:
        if getattr(message, "type", "") in ("error", "warning"):
            self._note(f"console: {getattr(message, 'text', '')[:200]}")

    def _asked(self, request: object) -> None:
        address = getattr(request, "url", "")
        if not address.startswith((self.home, "data:", "blob:")):
            self._note(f"asks the network for {address[:120]}")

    def page_of(self, file: Path) -> None:
        """Opens one page at both widths, and follows what it links to."""
        self.page.set_viewport_size(PHONE)
        self.page.goto(f"{self.home}/{file.relative_to(HTML).as_posix()}")
        wide = self.page.evaluate("document.documentElement.scrollWidth")
        if wide > PHONE["width"]:
            self._note(f"is {wide} pixels wide on a phone of {PHONE['width']}")
        self.page.set_viewport_size(LAPTOP)
        for address in dict.fromkeys(self.page.evaluate(_ADDRESSES)):
            self._link(address)
        for frame in self.page.query_selector_all("iframe.live"):
            frame.scroll_into_view_if_needed()
            inside = frame.content_frame()
            try:
                assert inside is not None
                inside.wait_for_function(_STARTED, timeout=60_000)
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a problem of the page
                self._note(f"a live view does not start: {str(error)[:120]}")

    def _link(self, address: str) -> None:
        if not address.startswith(self.home):
            return  # a link out of the site is not a request
        self.links += 1
        parts = urlsplit(address)
        target = HTML / unquote(parts.path).lstrip("/")
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            self._note(f"links to {parts.path}, which is not there")
        elif parts.fragment and unquote(parts.fragment) not in _ids(target):
            self._note(f"links to #{parts.fragment}, which {parts.path} does not have")

    def search(self, words: str) -> None:
        """Searches the site, without a server's help."""
        self.page.goto(f"{self.home}/search.html?q={words}")
        self.page.wait_for_selector("#search-results li a", timeout=30_000)


@functools.cache
def _ids(file: Path) -> set[str]:
    return set(re.findall(r'\bid="([^"]+)"', file.read_text(encoding="utf-8"))) | {""}


def main() -> int:
    """Walks all pages; returns an exit code."""
    files = sorted(each for each in HTML.rglob("*.html") if each.parent.name != "live")
    if not files:
        sys.stderr.write(f"There is no site in {HTML}: run `make docs`.\n")
        return 2
    path = chromium.find()
    assert path is not None, chromium.MISSING
    with served(HTML) as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(chromium.ARGS))
        walks = []
        for scheme in ("light", "dark"):
            context = browser.new_context(color_scheme=scheme, viewport=LAPTOP)
            walk = Walk(context.new_page(), home)
            for file in files:
                walk.page_of(file)
            walk.search("dynamic")
            walks.append(walk)
        browser.close()
    problems = list(dict.fromkeys(each for walk in walks for each in walk.problems))
    sys.stdout.write("".join(f"{each}\n" for each in problems))
    links = sum(walk.links for walk in walks)
    sys.stdout.write(f"{len(files)} pages, {links} links followed, {len(problems)} problems\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())

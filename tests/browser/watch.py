"""Watches what pages do beside what a test looks at: errors they log, and requests they send."""

from __future__ import annotations

from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage


class Watch:
    """What went wrong in a browser context, as sentences."""

    def __init__(self, context: BrowserContext) -> None:
        self.problems: list[str] = []
        context.on("console", self._on_console)
        context.on("weberror", lambda error: self.problems.append(f"uncaught: {error.error}"))
        context.on("request", lambda request: self._on_request(request.url))
        context.on("page", lambda page: page.on("websocket", lambda ws: self._on_request(ws.url)))

    def _on_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text} ({message.location['url']})")

    def _on_request(self, url: str) -> None:
        parts = urlsplit(url)
        inside = parts.scheme in {"blob", "data", "file", "about"}
        if not inside and parts.hostname != "127.0.0.1":
            self.problems.append(f"a request left this machine: {url}")

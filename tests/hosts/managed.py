"""A page whose widgets a manager of another host holds; the kernel is this process.

`@vscode/jupyter-ipywidgets8` is what VS Code shows a notebook's widgets with. Its page is made here
as VS Code makes it: anywidget comes from the `nbextensions` of the kernel's Python, and comms carry
the messages. Everything but the page's own files is refused: it is offline. It has no policy for
its content, since VS Code's page of outputs has none unless an experimental setting asks for one,
under which no anywidget runs.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import comm
from comm.base_comm import BaseComm
from playwright.sync_api import Page, Route

ORIGIN = "https://vscode.test"
MANAGER = "ipywidgets8 1.0.9"
"""Which manager it is."""
HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"></head>
<body style="margin: 0; background: #fff"><div id="widgets"></div>
<script src="/require.js"></script><script type="module" src="/page.js"></script></body></html>
"""


class Kernel:
    """The kernel's side of all comms."""

    def __init__(self) -> None:
        self._said: list[dict[str, Any]] = []

    def say(self, message: dict[str, Any], buffers: Any) -> None:
        """Keeps a message until the page asks."""
        packed = [base64.b64encode(bytes(each)).decode() for each in buffers or []]
        self._said.append({**message, "buffers": packed})

    def hear(self, message: dict[str, Any] | None) -> list[dict[str, Any]]:
        """Takes a message of the page's, and gives all that was said since the last."""
        if message is not None:
            self._handle(message)
        said, self._said = self._said, []
        return said

    def _handle(self, message: dict[str, Any]) -> None:
        manager, found = comm.get_comm_manager(), message["comm_id"]
        if message["type"] == "comm_open":
            # Asks for the states of all widgets; the page learns them one by one.
            self.say({"type": "comm_close", "comm_id": found, "data": {}}, [])
        elif found in manager.comms:
            buffers = [base64.b64decode(each) for each in message["buffers"]]
            content = {"comm_id": found, "data": message["data"]}
            manager.comms[found].handle_msg({"content": content, "buffers": buffers})


@contextmanager
def kernel_here() -> Iterator[Kernel]:
    """This process as a kernel: widgets that are made until the block ends speak to the page."""
    kernel, before = Kernel(), comm.create_comm

    class PageComm(BaseComm):
        def publish_msg(
            self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None,
            **keys: Any,
        ) -> None:  # fmt: skip
            told = {"type": msg_type, "comm_id": self.comm_id, "target_name": self.target_name}
            kernel.say({**told, "data": data or {}}, buffers)

    comm.create_comm = PageComm
    try:
        yield kernel
    finally:
        comm.create_comm = before


def opened(page: Page, kernel: Kernel, scripts: Path, nbextensions: Path, *, drop: bool) -> None:
    """Opens the page.

    Args:
        page: to open it in.
        kernel: what it speaks to.
        scripts: the folder with `ipywidgets.js` and `require.js`.
        nbextensions: the folder of widgets' scripts.
        drop: leave out what is binary in a widget's state.
    """
    files = {
        "/require.js": scripts / "require.js",
        "/ipywidgets.js": scripts / "ipywidgets.js",
        "/page.js": Path(__file__).with_name("manager_page.js"),
        "/nbextensions/anywidget/index.js": nbextensions / "anywidget" / "index.js",
    }

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN).partition("?")[0]
        if path == "/":
            route.fulfill(body=HTML, content_type="text/html; charset=utf-8")
        elif path in files and files[path].is_file():
            text = files[path].read_text(encoding="utf-8")
            route.fulfill(body=text, content_type="text/javascript; charset=utf-8")
        else:
            route.abort()

    page.route("**/*", answer)
    page.expose_function("kernelSend", kernel.hear)
    page.goto(f"{ORIGIN}/?{'drop' if drop else ''}")
    page.wait_for_function("() => typeof window.show === 'function'")

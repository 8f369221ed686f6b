"""The server's handlers: a file read as data, the front end, the served folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import APIHandler
from jupyter_server.utils import ApiPath, to_os_path, url_path_join
from tornado import web

from explorer.opening.file_page import page_of_file
from export_engine.archive import ArchiveError
from widgets import FrontEndMissing, front_end, front_end_layout

NAME = "export-explorer"


class ProgramHandler(APIHandler):
    """`GET program?path=`: all that a view of a file's first program shows, as `messages.Frozen`.

    With `&with=` it is compared with the first program of another file. A file that is not a
    program gives `{"refused": "why"}`.
    """

    auth_resource = "contents"

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Reads files in a thread: the server answers others meanwhile."""
        path = self._path(self.get_query_argument("path"))
        others = [
            self._path(query_argument) for query_argument in self.get_query_arguments("with")[:1]
        ]
        try:
            held = await asyncio.to_thread(page_of_file, path, *others)
        except ArchiveError as error:  # an answer about the file, not a failed request
            held = json.dumps({"refused": str(error)}).encode()
        self.set_header("Content-Type", "application/json")
        self.finish(held)

    def _path(self, asked: str) -> Path:
        """The file below the server's root; what the server would not list is not found."""
        folder = getattr(self.contents_manager, "root_dir", "")
        if not folder:
            raise web.HTTPError(404, reason="This server does not store its files in a folder.")
        root = Path(folder).resolve()
        hidden = any(part.startswith(".") for part in Path(asked).parts)
        with suppress(OSError, RuntimeError, ValueError):  # no name of a file, or links in a circle
            path = Path(to_os_path(ApiPath(asked), str(root))).resolve()
            if not hidden and path.is_relative_to(root) and path.is_file():
                return path
        raise web.HTTPError(404, reason="There is no such file.")


class RootHandler(APIHandler):
    """`GET root`: the folder that is served, by its name and by its resolved one.

    The page tells by it which files of Python's it can open.
    """

    auth_resource = "contents"

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """No names where the contents are not in a folder."""
        root = getattr(self.contents_manager, "root_dir", "")
        names = {str(Path(root).absolute()), str(Path(root).resolve())} if root else set()
        self.finish({"roots": sorted(names)})


class FrontEndHandler(APIHandler):
    """`GET front-end`: the module that draws views; `GET layout`: the one that it lays out with."""

    def initialize(self, read: Callable[[], bytes]) -> None:
        """Set which module is sent."""
        super().initialize()
        self._read = read

    @web.authenticated
    async def get(self) -> None:
        """The module of this installation."""
        try:
            source = self._read()
        except FrontEndMissing as error:
            raise web.HTTPError(500, reason=_line(error)) from error
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(source)


def add_handlers(app: Any) -> None:
    """Adds the handlers below the server's base URL."""
    base = app.settings["base_url"]
    app.add_handlers(
        ".*$",
        [
            (url_path_join(base, NAME, "program"), ProgramHandler),
            (url_path_join(base, NAME, "root"), RootHandler),
            (url_path_join(base, NAME, "front-end"), FrontEndHandler, {"read": front_end}),
            (url_path_join(base, NAME, "layout"), FrontEndHandler, {"read": front_end_layout}),
        ],
    )


def _line(error: Exception) -> str:
    """A sentence that fits the status line of a reply."""
    return " ".join(str(error).split()).encode("ascii", "replace").decode()[:300]

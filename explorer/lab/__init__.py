"""The part of JupyterLab's server: a `.pt2` file read as data, for the tab that shows it.

No kernel runs, no torch is imported, and nothing in the file is executed. The part in the page is
`widgets/frontend/src/lab/`. Jupyter's server imports this only when it starts.
"""

from __future__ import annotations

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "explorer.lab"}]


def _load_jupyter_server_extension(server: Any) -> None:
    from explorer.lab.handlers import add_handlers

    add_handlers(server.web_app)

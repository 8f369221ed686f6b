"""The widget of the browser of ExportDB and graph breaks; a case that is tried is shown below it.

It is an ExplorerWidget of the case that was tried last, so the same view draws it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from widgets.answers import Answer
from widgets.explorer_widget import ExplorerWidget


class LibraryWidget(ExplorerWidget):
    """Browses: see `widgets/frontend/src/exportdb` for what the page shows and asks."""

    app = traitlets.Unicode("library").tag(sync=True)
    """The component that the front end mounts."""
    section = traitlets.Unicode("cases").tag(sync=True)
    """`cases` or `breaks`: which of them is open first."""
    query = traitlets.Unicode("").tag(sync=True)
    """A name to open, or what to search for first."""

    def __init__(
        self,
        *,
        section: str,
        query: str,
        answer: Callable[[str, dict[str, Any]], Answer],
        fallback: Callable[[], dict[str, str]],
    ) -> None:
        """Make one.

        Args:
            section: `cases` or `breaks`.
            query: a name, a tag or words.
            answer: called with what is asked and the message; returns the reply or raises Refusal.
            fallback: makes the static `text/html` and `text/plain` for hosts without widgets.
        """
        super().__init__(attempts=[], current=0, record=b"", answer=answer, fallback=fallback)
        self.section, self.query = section, query

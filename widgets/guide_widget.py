"""The widget of what the guide leaves to decide: a row of buttons below its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from widgets.answers import Answer
from widgets.explorer_widget import ExplorerWidget


class GuideWidget(ExplorerWidget):
    """Offers choices: see `widgets/frontend/src/guide` for what the page shows and asks."""

    app = traitlets.Unicode("guide").tag(sync=True)
    """The component that the front end mounts."""
    choices = traitlets.List(traitlets.Dict()).tag(sync=True)
    """Per choice, its `title` and what it `means`."""

    def __init__(self, answer: Callable[[str, dict[str, Any]], Answer]) -> None:
        """Make one, without choices yet.

        Args:
            answer: called with what is asked and the message; returns the reply or raises Refusal.
        """
        super().__init__(attempts=[], current=0, record=b"", answer=answer, fallback=_fallback)


def _fallback() -> dict[str, str]:
    return {"text/plain": "", "text/html": ""}

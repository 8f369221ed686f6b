"""A session as a widget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.session import Session


def widget_of(
    session: Session, fallback: Mapping[str, str], pane: str = "all", compared: int = -1
) -> Any:
    """A widget of the current attempt, which follows the session.

    Args:
        session: whose attempts.
        fallback: what is shown where no widget runs, by MIME type.
        pane: the one pane to show, or `all`.
        compared: the attempt to compare the current one with from the start; -1 for none.

    Raises:
        FrontEndMissing: the front end was not built.
    """
    from explorer.page_requests import Answers
    from widgets import ExplorerWidget

    answers = Answers(session)
    widget = ExplorerWidget(
        **session.state(),
        answer=answers,
        view=pane,
        compared=compared,
        fallback=lambda: dict(fallback),
    )
    answers.progress = widget.progress
    session.watch(lambda: widget.update(**session.state()))
    return widget

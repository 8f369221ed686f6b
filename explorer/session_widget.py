"""A session as a widget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from explorer.session import Session

_MOST_TEXT = 20_000
"""Characters of text that a saved notebook keeps with a view."""


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
    from explorer.page_answers import Answers
    from widgets import ExplorerWidget

    answers = Answers(session)
    widget = ExplorerWidget(
        **session.state(),
        answer=answers,
        view=pane,
        compared=compared,
        still=_still(session, fallback),
        fallback=lambda: dict(fallback),
    )
    answers.progress = widget.progress
    session.watch(lambda: widget.update(**session.state()))
    return widget


def _still(session: Session, fallback: Mapping[str, str]) -> dict[str, str]:
    """What is seen of the current attempt while no kernel answers."""
    from explorer.picture import picture_svg

    text = fallback.get("text/plain", "")
    picture = "" if session.entry.record.failure else picture_svg(session.entry.record)
    return {"text": text[:_MOST_TEXT], "picture": picture}

"""A session as a widget, which keeps the session only while someone can see it.

ipywidgets keeps every widget of the process. So a widget holds its session while a page shows it,
or may show it soon; once its output was cleared or its cell run again, the session lives only as
long as the user has it: in a variable, in `_export`, in `Out`.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from explorer.display.handlers import MessageHandlers
from explorer.session.session import Session
from widgets import Answer, ExplorerWidget, Refusal

_MOST_TEXT = 20_000
"""Characters of text that a saved notebook keeps with a view."""


def widget_of(
    session: Session,
    fallback: Mapping[str, str],
    pane: str = "all",
    compared: int = -1,
    first: Mapping[str, list[str]] | None = None,
) -> ExplorerWidget:
    """A widget of the current attempt, which follows the session.

    Args:
        session: whose attempts.
        fallback: what is shown where no widget runs, by MIME type.
        pane: the one pane to show, or `all`.
        compared: the attempt to compare the current one with from the start; -1 for none.
        first: what is to be seen first, as `widgets.ExplorerWidget.first` says.

    Raises:
        FrontEndMissing: the front end was not built.
    """
    _close_the_gone()
    following = _Following(session)
    following.widget = ExplorerWidget(
        **session.state(),
        answer=following,
        view=pane,
        compared=compared,
        first=first,
        still=_still(session, fallback),
        fallback=lambda: dict(fallback),
        seen=following.seen,
    )
    following.follow()
    _followings.append(following)
    return following.widget


def begin_cell(cell: str) -> None:
    """Notes that a cell runs again: its earlier output is no longer visible.

    Args:
        cell: what identifies it: its id, or its text.
    """
    global _cell  # noqa: PLW0603 - a kernel runs one cell at a time
    _cell = cell
    for following in _followings:
        if following.cell == cell:
            following.let_go()
    _close_the_gone()


class _Following:
    """The link between a widget and a session."""

    widget: ExplorerWidget

    def __init__(self, session: Session) -> None:
        self.cell = _cell
        self._known = weakref.ref(session)
        self._answers: MessageHandlers | None = None
        self._stop: Callable[[], None] = lambda: None

    @property
    def gone(self) -> bool:
        """Whether the session is gone."""
        return self._known() is None

    def follow(self) -> None:
        """Keeps the session and follows it, if it still exists."""
        session = self._known()
        if session is None or self._answers is not None:
            return
        self._answers = MessageHandlers(session)
        self._answers.progress = self.widget.progress
        self._stop = session.watch(self._show)

    def let_go(self) -> None:
        """Releases it, and gets no more updates."""
        self._stop()
        self._stop = lambda: None  # it refers to the session, too
        self._answers = None

    def seen(self, shown: bool) -> None:
        """A page shows the widget, or no page does any longer."""
        if not shown:
            self.let_go()
        elif self._answers is None:
            self.follow()
            self._show()

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """An answer to the page."""
        session = self._known()
        if session is None:
            raise Refusal("This output was closed. Run its cell again.")
        return (self._answers or MessageHandlers(session))(ask, request)

    def _show(self) -> None:
        session = self._known()
        if session is not None:
            self.widget.update(**session.state())


_followings: list[_Following] = []
_cell = ""


def _close_the_gone() -> None:
    """Closes the widgets of sessions that are gone, and frees their memory.

    torch's programs refer to themselves, and Python counts objects and not their megabytes: left
    alone, it would collect them late.
    """
    gone = [following for following in _followings if following.gone]
    for following in gone:
        _followings.remove(following)
        following.widget.close()
    if gone:
        gc.collect()


def _still(session: Session, fallback: Mapping[str, str]) -> dict[str, str]:
    """The static picture and text of the current attempt."""
    from explorer.text.static_picture import picture_svg

    text = fallback.get("text/plain", "")
    picture = "" if session.entry.record.failure else picture_svg(session.entry.record)
    return {"text": text[:_MOST_TEXT], "picture": picture}

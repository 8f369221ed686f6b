"""Buttons for what a guide leaves to decide, and what a press does."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from explorer.display.handlers import answer_message
from explorer.page import messages as m
from widgets import Answer, FrontEndMissing, GuideWidget, Refusal

if TYPE_CHECKING:
    from explorer.guiding.guide import Guided
    from export_engine.progress import Progress


def try_buttons() -> GuideButtons | None:
    """Buttons; None where the front end is missing."""
    try:
        return GuideButtons()
    except FrontEndMissing:
        return None


class GuideButtons:
    """The buttons of one guide. They keep it no longer than its session lives."""

    def __init__(self) -> None:
        """Make them, without any yet.

        Raises:
            FrontEndMissing: the front end was not built.
        """
        self.widget = GuideWidget(self)
        self._guided: Callable[[], Guided | None] = lambda: None
        self._tell: Callable[[Guided], None] = lambda _: None

    def offer(self, guided: Guided, tell: Callable[[Guided], None]) -> None:
        """Shows a button per choice.

        Args:
            guided: the guide.
            tell: shows its steps.
        """
        self._guided, self._tell = weakref.ref(guided), tell
        self._put(guided)

    def _put(self, guided: Guided) -> None:
        seconds = max(round(guided.seconds), 1)
        again = f"Exports, checks and verifies again: about {seconds} s."
        self.widget.choices = [
            {"title": choice.title, "means": f"{choice.means}. {again}" if choice.means else again}
            for choice in guided.choices
        ]

    def __call__(self, ask: str, request: dict[str, Any]) -> Answer:
        """One answer. Raises Refusal with a sentence."""
        return answer_message(self, m.GUIDE_ASKS, ask, request)

    def check(self, request: msgspec.Struct) -> None:
        """Raises Refusal where there is no such choice any more."""
        guided = self._guided()
        if guided is None:
            raise Refusal("The export of this guide is gone. Run the cell again.")
        if isinstance(request, m.GuideChoice) and request.number not in range(len(guided.choices)):
            raise Refusal("This choice was already made. Run the cell again to choose differently.")

    def _take(self, asked: m.GuideChoice) -> None:
        guided = self._guided()
        assert guided is not None
        try:
            guided.take(asked.number, self._report)
        finally:
            self._tell(guided)
            self._put(guided)

    def _report(self, progress: Progress) -> None:
        self.widget.progress(progress.done, progress.total, progress.label or progress.what)

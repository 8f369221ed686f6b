"""Shows the steps of a guide as they run: in place in a notebook, line by line in a terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from IPython.display import display, update_display

if TYPE_CHECKING:
    from explorer.guiding.guide_buttons import GuideButtons
    from explorer.typing import Guided


class Steps:
    """Displays the progress of `explorer.guide`."""

    def __init__(self, live: bool) -> None:
        """Make one.

        Args:
            live: whether what was shown can be replaced, as in a notebook.
        """
        from explorer.guiding.guide_buttons import try_buttons

        self._live = live
        self._id: str | None = None
        self._written = 0
        self._buttons: GuideButtons | None = None
        if live:
            # Its place is above whatever is displayed later: a progress line, and then the view.
            self._show({"text/plain": "", "text/html": ""})
            self._buttons = try_buttons()
            if self._buttons is not None:
                display(self._buttons.widget)  # type: ignore[no-untyped-call]

    def __call__(self, guided: Guided) -> None:
        """Shows where the guide is."""
        if not self._live:
            self._write(guided)
            return
        self._show(guided._repr_mimebundle_())

    def offer(self, guided: Guided) -> None:
        """Puts a button for each choice that the guide leaves."""
        if self._buttons is not None:
            self._buttons.offer(guided, self)

    def _show(self, bundle: dict[str, Any]) -> None:
        if self._id is None:
            handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            self._id = handle.display_id if handle else None
        else:
            update_display(bundle, raw=True, display_id=self._id)  # type: ignore[no-untyped-call]

    def _write(self, guided: Guided) -> None:
        """Writes the steps that have ended since."""
        for step in guided.steps[self._written :]:
            if step.title.endswith("…"):
                return
            sys.stdout.write(f"{step!r}\n\n")
            self._written += 1

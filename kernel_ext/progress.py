"""A progress line in the cell, replaced by the result."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from IPython.display import display, update_display

from explorer.text.escape import escape_html

if TYPE_CHECKING:
    from explorer.typing import Progress

QUIET_SECONDS = 0.3
"""A faster export shows no progress."""
EVERY_SECONDS = 0.1


_DOING = {
    "fix": "Fixing",
    "guarantee": "Verifying",
    "op": "Decomposing",
    "case": "Checking",
    "script": "Shortening",
    "compile": "Calling",
    "run": "Running",
    "profile": "Profiling",
}


_KNOWN = {"failure": "", "found": "Found: "}
"""Text above the line that stays until the result."""


class ProgressLine:
    """Shows how far tracing is, and then, in the same place, the result.

    The first line is shown by a timer, since a slow module reports nothing meanwhile.
    """

    def __init__(self, title: str, live: bool, doing: str = "Exporting") -> None:
        """Make one.

        Args:
            title: what is being exported.
            live: whether to show progress: where a shown line can be replaced, in a notebook.
            doing: the text before any progress is reported.
        """
        self._title = title
        self._doing = doing
        self._live = live
        self._started = time.monotonic()
        self._last = self._started + QUIET_SECONDS - EVERY_SECONDS
        self._id: str | None = None
        self._known: list[str] = []
        """The diagnosis, and the fixes found so far."""
        self._drawing = threading.Lock()
        self._timer = threading.Timer(QUIET_SECONDS, self._begin)
        self._timer.daemon = True
        if live:
            self._timer.start()

    def __call__(self, progress: Progress) -> None:
        """Takes note of progress; draws at most ten times a second."""
        if progress.what in _KNOWN:
            self._known.append(f"{_KNOWN[progress.what]}{progress.label}")
            self._last = 0.0  # shown at once
        now = time.monotonic()
        if not self._live or now - self._last < EVERY_SECONDS:
            return
        self._last = now
        where = progress.label or "the model itself"
        count = f"{progress.what} {progress.done} of {progress.total}: " if progress.total else ""
        doing = _DOING.get(progress.what, "Exporting")
        doing = "Looking for fixes for" if progress.what in _KNOWN else doing
        where = "" if progress.what in _KNOWN else f": {count}{where}"
        text = f"{doing} {self._title}{where} ({now - self._started:.0f} s)"
        share = f' max="{progress.total}" value="{progress.done}"' if progress.total else ""
        message = "".join(f"<div>{escape_html(text)}</div>" for text in self._known)
        with self._drawing:
            self._put(
                {
                    "text/plain": "\n".join([*self._known, text]),
                    "text/html": f"{message}{_bar(share)} {escape_html(text)}",
                }
            )

    def stop(self) -> None:
        """Shows no more progress."""
        self._timer.cancel()
        with self._drawing:
            self._live = False

    def result(self, bundle: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Puts the result where the line was."""
        self.stop()
        with self._drawing:
            self._put(bundle, metadata)

    def note(self, text: str) -> None:
        """Puts a line of text where the line was."""
        self.result({"text/plain": text, "text/html": escape_html(text)}, {})

    def clear(self) -> None:
        """Takes the line away, if there is one."""
        if self._id is not None:
            self.note("")

    def _begin(self) -> None:
        text = f"{self._doing} {self._title} …"
        with self._drawing:
            if self._live and self._id is None:
                self._put({"text/plain": text, "text/html": f"{_bar()} {escape_html(text)}"})

    def _put(self, bundle: dict[str, Any], metadata: dict[str, Any] | None = None) -> None:
        """Draws. The caller holds the lock, so that no late progress covers a result."""
        if self._id is None:
            handle = display(  # type: ignore[no-untyped-call]
                bundle, metadata=metadata, raw=True, display_id=True
            )
            self._id = handle.display_id if handle else None
        else:
            update_display(  # type: ignore[no-untyped-call]
                bundle, metadata=metadata, raw=True, display_id=self._id
            )


def _bar(share: str = "") -> str:
    return f'<progress{share} aria-label="Progress" style="vertical-align: middle"></progress>'

"""The widget: passes messages between a page and the object that answers them.

The page is handed the current attempt's Record as a trait, so that it opens while the kernel is at
the next cell, and asks for the rest by message. Each
message `{id, ask, ...}` gets exactly one reply: `{id, ok: true, value}` with buffers, or
`{id, ok: false, error}` with a sentence.

Traits are what a saved notebook may keep of a view, so they are small: a large Record comes by
message alone, and the front end is carried by a widget of its own.
"""

from __future__ import annotations

import gzip
import logging
from collections.abc import Callable, Mapping
from typing import Any

import anywidget
import traitlets

from widgets.answers import Answer, Refusal
from widgets.bundle import bundle, bundle_hash, layout, loader
from widgets.bundle_widget import get_shared_bundle

_LOGGER = logging.getLogger("export_explorer")
MOST_RECORD = 24_000
"""The largest Record sent with the widget, in bytes of gzip; larger ones are requested."""


_MOST_TEXT = 2_000
"""Characters of an error that the page shows."""


class ExplorerWidget(anywidget.AnyWidget):
    """Shows attempts: see `widgets/frontend/src/host.ts` for what the page asks."""

    view = traitlets.Unicode("all").tag(sync=True)
    """`all`, or the one pane to show: graph, signature, source, shapes, code."""
    attempts = traitlets.List(traitlets.Dict()).tag(sync=True)
    """Per attempt: label, outcome, verdict, parent, step."""
    current = traitlets.Int(0).tag(sync=True)
    """The attempt whose Record is in `record`."""
    compared = traitlets.Int(-1).tag(sync=True)
    """The attempt that the current one is compared with from the start; -1 for none."""
    first = traitlets.Dict().tag(sync=True)
    """What is to be seen first, lists of names: `select`, `open` (modules) and `tab`."""
    record = traitlets.Bytes(b"").tag(sync=True)
    """The current attempt's Record, encoded and packed; empty where it is too large to be kept."""
    bundle = traitlets.Unicode("").tag(sync=True)
    """The hash of the front end."""
    bundle_model = traitlets.Unicode("").tag(sync=True)
    """Which widget carries the front end; see `widgets.bundle_widget.BundleWidget`."""
    still = traitlets.Dict().tag(sync=True)
    """`text` and `picture` (SVG), shown while no kernel answers."""
    programs = traitlets.Dict().tag(sync=True)
    """`set` and `attempts`, where the attempts are those of several programs; else empty."""
    own = traitlets.Unicode("").tag(sync=True)
    """By which id the page knows this widget."""

    def __init__(
        self,
        *,
        attempts: list[dict[str, Any]],
        current: int,
        record: bytes,
        answer: Callable[[str, dict[str, Any]], Answer],
        view: str = "all",
        compared: int = -1,
        first: Mapping[str, list[str]] | None = None,
        still: Mapping[str, str] | None = None,
        programs: Mapping[str, Any] | None = None,
        fallback: Callable[[], dict[str, str]],
        seen: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """Make one.

        Args:
            attempts: what a view knows about each attempt before its Record arrives.
            current: index of the attempt to show first.
            record: that attempt's Record, encoded.
            answer: called with what is asked and the message; returns the reply or raises Refusal.
            view: which pane to show alone, or `all`.
            compared: index of the attempt to compare it with from the start; -1 for none.
            first: what is to be seen first, as the trait says.
            still: `text` and `picture`, to be seen while no kernel answers.
            programs: the set that the attempts are of, as the trait says.
            fallback: makes the static `text/html` and `text/plain` for hosts without widgets.
            seen: told when a page shows it, and when none does any more: the output was cleared,
                or its cell run again.
        """
        self._answer = answer
        self._seen = seen
        self._page = ""
        self._views: set[str] = set()
        self._fallback = fallback
        super().__init__(
            _esm=loader(),
            attempts=attempts,
            current=current,
            record=_pack(record),
            bundle=bundle_hash(),
            bundle_model=get_shared_bundle().model_id or "",
            still=dict(still or {}),
            view=view,
            compared=compared,
            first=dict(first or {}),
            programs=dict(programs or {}),
        )
        self.own = self.model_id or ""
        self.on_msg(self._receive)

    def update(
        self,
        *,
        attempts: list[dict[str, Any]],
        current: int,
        record: bytes,
        programs: Mapping[str, Any] | None = None,
    ) -> None:
        """Shows other attempts, or another one of them."""
        with self.hold_sync():
            self.attempts, self.current, self.record = attempts, current, _pack(record)
            self.programs = dict(programs or {})

    def progress(self, done: int, total: int, label: str) -> None:
        """Sends the progress of the requested action; total 0 if unknown."""
        self.send({"progress": {"done": done, "total": total, "label": label}})

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The widget, and beside it a picture and a text for a saved notebook."""
        shown = super()._repr_mimebundle_(**options)
        if shown is None:
            return self._fallback()
        data, metadata = shown
        return {**data, **self._fallback()}, metadata

    def _receive(self, _: object, message: Any, __: object) -> None:
        if not isinstance(message, dict) or not isinstance(message.get("ask"), str):
            return
        if message["ask"] in ("opened", "closed"):
            self._note_view(message["ask"], str(message.get("view")), str(message.get("page")))
            return
        reply: dict[str, Any] = {"id": message.get("id")}
        groups: list[bytes] = []
        try:
            value, groups = self._answer_message(message["ask"], message)
            reply |= {"ok": True, "value": value}
        except Refusal as refusal:
            reply |= {"ok": False, "error": str(refusal)[:_MOST_TEXT]}
            reply |= {"report": refusal.report} if refusal.report else {}
        except Exception as error:  # the page needs a reply to any error
            _LOGGER.exception("no answer to %s", message["ask"])
            reply |= {"ok": False, "error": f"The kernel could not answer: {_text(error)}"}
        self.send(reply, groups)

    def _note_view(self, what: str, view: str, page: str) -> None:
        """Notes that a view came or went. One of a page that was reloaded never says that it went.

        Args:
            what: `opened` or `closed`.
            view: which view.
            page: on which page it is, which is another after each reload.
        """
        if what == "closed":
            self._views.discard(view)
        else:
            if page != self._page:
                self._page, self._views = page, set()
            self._views.add(view)
        self._seen(bool(self._views))

    def _answer_message(self, ask: str, message: dict[str, Any]) -> Answer:
        if ask == "bundle":
            return None, [bundle()]
        if ask == "layout":
            return None, [layout()]
        return self._answer(ask, message)


def _text(error: Exception) -> str:
    """The message of an error; only its class if a user's error cannot be formatted."""
    try:
        return str(error)[:_MOST_TEXT]
    except Exception:
        _LOGGER.exception("the error has no message")
        return type(error).__name__


def _pack(record: bytes) -> bytes:
    """A Record with gzip if a saved notebook may keep it, else nothing."""
    packed = gzip.compress(record, mtime=0) if record else b""
    return packed if len(packed) <= MOST_RECORD else b""

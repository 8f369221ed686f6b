"""The widget as a post office: one reply to each question, whatever happens."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import widgets.bundle
from widgets import Answer, ExplorerWidget, FrontEndMissing, Refusal
from widgets.bundle import STATIC, bundle, bundle_hash, layout, loader
from widgets.bundle_widget import get_shared_bundle
from widgets.explorer_widget import MOST_RECORD


def answered(ask: str, request: dict[str, Any]) -> Answer:
    if ask == "source":
        return {"lines": [[["k", "def"]]]}, []
    if ask == "record":
        return None, [b"record", bytes([request["attempt"]])]
    if ask == "code":
        raise Refusal("There is no graph 7.")
    if ask == "echo":
        raise Refusal(f"There is no graph {request['graph']}.")
    if ask == "speechless":
        raise Speechless
    raise ZeroDivisionError("<b>division</b>" if ask == "surprise" else "long " * 10**6)


class Speechless(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, Any]]:
    replies: list[tuple[Any, Any]] = []
    monkeypatch.setattr(
        ExplorerWidget, "send", lambda _, reply, buffers=None: replies.append((reply, buffers))
    )
    return replies


@pytest.fixture
def widget() -> ExplorerWidget:
    return made()


def made(record: bytes = b"bytes", **options: Any) -> ExplorerWidget:
    return ExplorerWidget(
        attempts=[{"label": "strict", "outcome": "exported", "verdict": "exported"}],
        current=0,
        record=record,
        **options,
        answer=answered,
        fallback=lambda: {"text/plain": "a text", "text/html": "<p>a picture</p>"},
    )


def ask(widget: ExplorerWidget, message: object) -> None:
    """A custom message, as the comm delivers it."""
    widget._handle_custom_msg(message, [])


def test_a_question_is_answered_with_a_value(
    widget: ExplorerWidget, sent: list[tuple[Any, Any]]
) -> None:
    ask(widget, {"id": 4, "ask": "source", "attempt": 0, "file": 1})
    assert sent == [({"id": 4, "ok": True, "value": {"lines": [[["k", "def"]]]}}, [])]


def test_bytes_travel_as_buffers(widget: ExplorerWidget, sent: list[tuple[Any, Any]]) -> None:
    ask(widget, {"id": 1, "ask": "record", "attempt": 5})
    assert sent == [({"id": 1, "ok": True, "value": None}, [b"record", b"\x05"])]


def test_the_bundle_is_the_widgets_own_to_give(
    widget: ExplorerWidget, sent: list[tuple[Any, Any]]
) -> None:
    ask(widget, {"id": 2, "ask": "bundle"})
    ask(widget, {"id": 3, "ask": "layout"})
    (reply, [source]), (_, [worker]) = sent
    assert reply == {"id": 2, "ok": True, "value": None}
    assert source == bundle()
    assert worker == layout()


def test_the_layout_worker_is_an_asset_of_its_own() -> None:
    assert len(bundle()) < 500_000
    assert sum(script.stat().st_size for script in STATIC.glob("*.js")) <= 1_200_000
    assert b"WebAssembly" in layout()
    assert get_shared_bundle().layout == layout()


def test_a_refusal_is_a_sentence(widget: ExplorerWidget, sent: list[tuple[Any, Any]]) -> None:
    ask(widget, {"id": 3, "ask": "code"})
    assert sent == [({"id": 3, "ok": False, "error": "There is no graph 7."}, [])]


def test_a_refusal_does_not_send_back_all_it_was_sent(
    widget: ExplorerWidget, sent: list[tuple[Any, Any]]
) -> None:
    ask(widget, {"id": 1, "ask": "echo", "graph": "7" * 10**6})

    assert sent[0][0]["error"].startswith("There is no graph 777")
    assert len(sent[0][0]["error"]) < 10_000


def test_an_error_is_answered_too(widget: ExplorerWidget, sent: list[tuple[Any, Any]]) -> None:
    ask(widget, {"id": 3, "ask": "surprise"})
    [(reply, buffers)] = sent
    assert reply["ok"] is False
    assert reply["error"] == "The kernel could not answer: <b>division</b>"
    assert buffers == []


def test_an_error_that_says_nothing_or_too_much_is_answered_too(
    widget: ExplorerWidget, sent: list[tuple[Any, Any]]
) -> None:
    for number, asked in enumerate(("speechless", "long")):
        ask(widget, {"id": number, "ask": asked})
    speechless, long = (reply for reply, _ in sent)
    assert speechless["error"] == "The kernel could not answer: Speechless"
    assert len(long["error"]) < 3_000


@pytest.mark.parametrize("message", [None, "hello", 7, [], {}, {"id": 1}, {"id": 1, "ask": 2}])
def test_what_is_no_question_gets_no_answer(
    widget: ExplorerWidget, sent: list[tuple[Any, Any]], message: object
) -> None:
    ask(widget, message)
    assert sent == []


def test_outputs_share_one_bundle() -> None:
    one, two = made(), made()
    assert one.bundle == two.bundle == bundle_hash()
    assert one.bundle_model == two.bundle_model == get_shared_bundle().model_id
    assert len(one.get_state("_esm")["_esm"]) < len(bundle()) / 20


def test_a_closed_bundle_is_replaced() -> None:
    first = made().bundle_model
    get_shared_bundle().close()
    assert made().bundle_model not in ("", first)


def test_a_saved_notebook_keeps_at_most_100_kb_of_a_view() -> None:
    still = {"text": "t" * 20_000, "picture": "p" * 40_000}
    for size in (MOST_RECORD - 100, MOST_RECORD + 1, 10_000_000):
        view = made(record=os.urandom(size), still=still)
        assert bool(view.record) == (size < MOST_RECORD)
        state = view.get_state()
        text = json.dumps(state, default=lambda held: base64.b64encode(held).decode())
        assert len(text) < 100_000
        view.update(attempts=view.attempts, current=0, record=os.urandom(20_000_000))
        assert view.record == b""


def test_a_record_comes_with_the_widget_packed() -> None:
    record = b"a record of many ops" * 10_000
    assert gzip.decompress(made(record=record).record) == record


def test_the_page_knows_a_widget_by_its_id(widget: ExplorerWidget) -> None:
    assert widget.own == widget.model_id != ""


def test_a_saved_notebook_gets_a_picture_and_a_text_beside_the_widget(
    widget: ExplorerWidget,
) -> None:
    data, _ = widget._repr_mimebundle_()
    assert data["text/plain"] == "a text"
    assert data["text/html"] == "<p>a picture</p>"
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id


@pytest.fixture
def unbuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(widgets.bundle, "STATIC", tmp_path)
    for cached in (bundle, bundle_hash, layout, loader):
        cached.cache_clear()
    yield
    for cached in (bundle, bundle_hash, layout, loader):
        cached.cache_clear()


@pytest.mark.usefixtures("unbuilt")
def test_a_missing_front_end_says_how_to_build_it() -> None:
    with pytest.raises(FrontEndMissing, match="run `make frontend`"):
        made()

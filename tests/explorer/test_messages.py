"""The page's messages: one schema, which the kernel's answers and the front end's types follow."""

from __future__ import annotations

import typing
from pathlib import Path

import pytest

from explorer.display.handlers import MessageHandlers, answer_message
from explorer.exportdb.library_handlers import LibraryHandlers
from explorer.page.messages import ASKS, LIBRARY_ASKS, Message, OfAttempt
from explorer.page.typescript import generate
from widgets import Refusal

FRONT_END = Path(__file__).parents[2] / "widgets" / "frontend" / "src"
KNOWN = [(MessageHandlers, *each) for each in ASKS.items()]
KNOWN += [(LibraryHandlers, *each) for each in LIBRARY_ASKS.items()]  # type: ignore[list-item]


@pytest.mark.after_check
def test_the_front_end_has_the_types_of_this_schema() -> None:
    assert (FRONT_END / "messages.gen.ts").read_text() == generate(), "run `make types`"


@pytest.mark.parametrize(("owner", "ask", "message"), KNOWN, ids=lambda each: str(each)[:20])
def test_a_message_is_answered_by_the_method_of_its_name(
    owner: type, ask: str, message: Message
) -> None:
    import explorer.page.messages as m

    hints = typing.get_type_hints(getattr(owner, f"_{ask}"), {**vars(m), "m": m})
    replied = hints.pop("return")

    assert replied == (type(None) if message.reply is None else message.reply)
    assert [*hints.values()] == [message.request]


def test_nothing_is_answered_that_is_no_message() -> None:
    said = {name[1:] for name, each in vars(MessageHandlers).items() if "asked" in _arguments(each)}

    assert said <= {*ASKS}
    assert not {*ASKS} & {*LIBRARY_ASKS}


def test_a_message_in_another_form_is_refused_and_says_what_is_wrong() -> None:
    class Unasked:
        def check(self, _: object) -> None:
            raise AssertionError

    known = {"use": Message(OfAttempt, None, "")}
    with pytest.raises(Refusal, match=r"is malformed: .*`attempt`"):
        answer_message(Unasked(), known, "use", {"id": "1", "ask": "use"})
    with pytest.raises(Refusal, match=r"Expected `int`, got `str`"):
        answer_message(Unasked(), known, "use", {"attempt": "0"})
    with pytest.raises(Refusal, match="does not know the request 'drop'"):
        answer_message(Unasked(), known, "drop", {"attempt": 0})


def _arguments(value: object) -> tuple[str, ...]:
    code = getattr(value, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ()

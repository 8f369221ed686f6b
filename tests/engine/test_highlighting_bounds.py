"""Source in colour: all of its text, in any time that somebody else's text may take."""

from __future__ import annotations

import time

import pytest

from export_engine.source.highlighting import LONG_TEXT, python_lines, python_lines_around

SOURCE = '''
import os

@decorated(
    1,
)
@again
async def first(
    x,
) -> int:
    """Text.

    More.
    """
    def inner():
        return 1

    return x


class C:
    def second(self):
        return 2
    third = 3
'''


def joined(lines: list[list[tuple[str, str]]]) -> str:
    return "\n".join("".join(text for _, text in line) for line in lines)


@pytest.mark.parametrize("text", [SOURCE, "", "\n", "a\r\nb\rc", "x" * 5000 + "\ny = 1", "'\n\n'"])
def test_no_text_is_lost(text: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
    assert joined(python_lines(text)) == plain
    assert joined(python_lines(text, seconds=0.0)) == plain


def test_of_a_long_text_the_functions_that_matter_are_coloured() -> None:
    text = SOURCE + "\n" + "# nothing\n" * (LONG_TEXT // 10)
    lines = python_lines_around(text, {SOURCE.split("\n").index("    return x") + 1})
    assert joined(lines) == text.removesuffix("\n")
    coloured = [number for number, line in enumerate(lines) if any(cls for cls, _ in line)]
    shown = [SOURCE.split("\n")[number] for number in coloured]
    assert shown[0] == "@decorated("
    assert shown[-1] == "    return x"
    assert "    def inner():" in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [" \n" * 14_000, "'%" + "0" * 28_000, ("'%" + "0" * 1_900 + "\n") * 14, "def f():\n" * 200_000],
    ids=["blank lines", "a format", "formats", "functions"],
)
def test_a_text_that_pygments_takes_minutes_for_is_plain_after_a_second(text: str) -> None:
    python_lines("first = 1")  # Pygments compiles its patterns once, which is no text's fault
    started = time.thread_time()
    lines = python_lines_around(text, {1})
    # A second, and what else may fall into it: a collection of all that torch holds, a busy core
    assert time.thread_time() - started < 6
    assert joined(lines).rstrip("\n") == text.rstrip("\n")


@pytest.mark.after_check
@pytest.mark.parametrize("text", [" \n" * 14_000, ("'%" + "0" * 1_900 + "\n") * 14])
def test_what_takes_pygments_long_stays_plain_and_whole(text: str) -> None:
    started = time.thread_time()
    lines = python_lines(text)
    assert time.thread_time() - started < 2.0  # it was a minute
    assert ["".join(token.text for token in line) for line in lines] == text.split("\n")[:-1]

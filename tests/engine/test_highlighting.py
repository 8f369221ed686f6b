"""Source in colour: of a long file, only what was traced."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from export_engine.source import Token, alike_lines, highlighting, python_lines
from export_engine.source.highlighting import python_lines_around

SOURCE = textwrap.dedent('''
    """A module: `def` in a text is no function."""
    import os


    def first(x):
        """Doc
        string."""
        return x + 1


    class Model:
        size = 3

        @staticmethod
        def forward(x):
            def inner(y):
                return y * 2

            return inner(x)
    ''').lstrip()


def plain(lines: list[list[Token]]) -> list[str]:
    return ["".join(token.text for token in line) for line in lines]


def coloured(lines: list[list[Token]]) -> set[int]:
    """Numbers of the lines that have a colour."""
    return {number for number, line in enumerate(lines, 1) if any(token.cls for token in line)}


@pytest.fixture
def long_texts_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(highlighting, "LONG_TEXT", 10)


@pytest.mark.usefixtures("long_texts_are_short")
def test_only_functions_with_a_line_that_matters_are_coloured() -> None:
    numbered = SOURCE.split("\n")
    decorator, inner = numbered.index("    @staticmethod") + 1, len(numbered) - 3

    found = python_lines_around(SOURCE, [inner])

    assert min(coloured(found)) == decorator
    assert plain(found) == plain(python_lines(SOURCE))
    whole = python_lines(SOURCE)
    assert found[decorator:] == whole[decorator:]


@pytest.mark.slow
@pytest.mark.usefixtures("long_texts_are_short")
def test_every_line_of_a_real_file_keeps_its_text() -> None:
    text = inspect.getsource(inspect)
    found = python_lines_around(text, range(1, 3000))

    assert plain(found) == plain(python_lines(text))


def test_a_short_text_is_coloured_whole() -> None:
    assert python_lines_around(SOURCE, []) == python_lines(SOURCE)


@pytest.mark.usefixtures("long_texts_are_short")
def test_what_is_no_python_is_coloured_all_the_same() -> None:
    text = "%export model(x)\nreturn 1\n"

    assert python_lines_around(text, []) == python_lines(text)


def test_lines_that_are_alike_are_coloured_as_each_alone() -> None:
    rows = [
        "def forward(self, x, p_0_weight):",
        '    linear_1: "f32[4]" = torch.ops.aten.linear.default(x, p_0_weight)  # a 1_000',
        '    linear_12: "f32[4]" = torch.ops.aten.linear.default(linear_1, p_0_weight)  # a 1_0',
        "",
        "    return (linear_12, 'a_3 {:_0} %_1', None)",
    ]
    assert alike_lines(rows) == [line for row in rows for line in python_lines(row) or [[]]]
    two = ["x_1 = 'a\rb'", "y_2 \n z"]
    assert alike_lines(two) == [[Token("", row)] for row in two]
    assert "".join(token.text for token in alike_lines(rows, 0.0)[2]) == rows[2]

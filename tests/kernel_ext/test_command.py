"""The line of `%export`, taken apart without evaluating any of it."""

from __future__ import annotations

import pytest

from kernel_ext.command import Command, parse_call, parse_command, split_cell
from kernel_ext.errors import ExportUsageError


def test_options_come_first_and_the_rest_is_the_call() -> None:
    line = '--strict -d "x: batch[2..64], _; y: *" --as ex model(x, f"{a - b}")'
    assert parse_command(line) == Command(
        call='model(x, f"{a - b}")', mode="strict", dynamic="x: batch[2..64], _; y: *", name="ex"
    )


def test_options_take_their_value_after_an_equals_sign_too() -> None:
    assert parse_command("--as=ex --dynamic='x: b' m(x)").dynamic == "x: b"
    assert parse_command("-D my_shapes m(x)").expression == "my_shapes"
    assert parse_command("--load model.pt2").load == "model.pt2"
    assert parse_command("--no-display m(x)").display is False


def test_a_call_may_begin_with_a_minus_only_in_its_arguments() -> None:
    assert parse_command("m(-x, --y)").call == "m(-x, --y)"


REFUSED = {
    "--strcit m(x)": "no option --strcit",
    "-d": "-d needs a value",
    "--strict --both m(x)": "exclude each other",
    "-d 'x: b' -D s m(x)": "both say what is dynamic",
    "--as 3x m(x)": "no name for a variable",
}


@pytest.mark.parametrize("line", REFUSED)
def test_lines_that_do_not_work_say_why(line: str) -> None:
    with pytest.raises(ExportUsageError, match=REFUSED[line]):
        parse_command(line)


def test_a_call_is_taken_apart() -> None:
    call = parse_call("self.net(x, *rest, mask=m[0], **options)")
    assert call.function == "self.net"
    assert call.args == [(False, "x"), (True, "rest")]
    assert call.kwargs == [("mask", "m[0]"), (None, "options")]


def test_an_assignment_names_the_result() -> None:
    assert parse_call("ex = model(x)").assigned == "ex"
    assert parse_call("ex = model(x)").text == "model(x)"


NO_CALLS = {
    "": "Give the call",
    "model": "Not a call: model",
    "model(x": "never closed",
    "a(x); b(x)": "Not a call",
    "await model(x)": "await",
    "x + model(x)": "Not a call",
}


@pytest.mark.parametrize("text", NO_CALLS)
def test_what_is_no_call_is_refused(text: str) -> None:
    with pytest.raises(ExportUsageError, match=NO_CALLS[text]):
        parse_call(text)


def test_a_syntax_error_is_pointed_at() -> None:
    with pytest.raises(ExportUsageError) as caught:
        parse_call("model(x y)")
    text, caret = str(caught.value).splitlines()[1:]
    assert caret.index("^") in (text.index("x"), text.index("x y"))


def test_a_cell_is_split_before_its_last_statement() -> None:
    assert split_cell("a = 1\nb = 2\nmodel(\n  a,\n)\n") == ("a = 1\nb = 2\n", "model(\n  a,\n)")
    assert split_cell("a = 1; model(a)") == ("a = 1; ", "model(a)")
    with pytest.raises(ExportUsageError, match="empty"):
        split_cell("# nothing\n")

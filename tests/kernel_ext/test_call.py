"""The call of `%export` and the cell of `%%export`, taken apart without evaluating any of it."""

from __future__ import annotations

import ast

import pytest

from kernel_ext.call import parse_call, split_cell
from kernel_ext.errors import ExportUsageError


def test_a_call_is_taken_apart() -> None:
    call = parse_call("self.net(x, *rest, mask=m[0], **options)")
    assert ast.unparse(call.node.func) == "self.net"
    assert [ast.unparse(each) for each in call.node.args] == ["x", "*rest"]
    assert [each.arg for each in call.node.keywords] == ["mask", None]


def test_an_assignment_names_the_result() -> None:
    assert parse_call("ex = model(x)").assigned == "ex"
    assert parse_call("ex = model(x)").text == "model(x)"


NO_CALLS = {
    "": "Pass the call",
    "model": "Not a call: model",
    "model(x": "never closed",
    "a(x); b(x)": "Not a call",
    "await model(x)": "An awaited call cannot be exported",
    "x + model(x)": "Not a call",
    "return model(x)": "Not a call",
    "a = b = model(x)": "assigned to one name",
    "a.b = model(x)": "assigned to one name",
    "a, b = model(x)": "assigned to one name",
    "a: int = model(x)": "assigned to one name",
    "a += model(x)": "assigned to one name",
    "model(x) --strict": "Options come before the call: %export --strict",
    'model(x) -d "x: b"': "Options come before the call: %export -d",
}


@pytest.mark.parametrize("text", NO_CALLS)
def test_what_is_no_call_is_refused(text: str) -> None:
    with pytest.raises(ExportUsageError, match=NO_CALLS[text]):
        parse_call(text)


def test_what_looks_like_an_option_inside_a_call_is_left_alone() -> None:
    assert parse_call("model(f(x) -d, '(y) --strict')").assigned is None


def test_a_syntax_error_is_pointed_at() -> None:
    with pytest.raises(ExportUsageError) as caught:
        parse_call("model(x y)")
    text, caret = str(caught.value).splitlines()[1:]
    assert caret.index("^") in (text.index("x"), text.index("x y"))


CELLS = {
    "a = 1\nb = 2\nmodel(\n  a,\n)\n": (2, "model(\n  a,\n)"),
    "a = 'é'; model(a)": (1, "model(a)"),
    "model(a)  # why": (0, "model(a)"),
    "model(a);": (0, "model(a)"),
    "a = 1\nex = model(a)": (1, "ex = model(a)"),
}


@pytest.mark.parametrize("source", CELLS)
def test_a_cell_is_split_before_its_last_statement(source: str) -> None:
    cell = split_cell(source)
    assert (len(cell.body.body), cell.call) == CELLS[source]


NO_CELLS = {
    "# nothing\n": "cell is empty",
    "a = (1\nmodel(a)": "not valid Python",
    "get_ipython().run_line_magic('time', 'model(x)')": "ends with a magic",
}


@pytest.mark.parametrize("source", NO_CELLS)
def test_a_cell_without_a_call_is_refused(source: str) -> None:
    with pytest.raises(ExportUsageError, match=NO_CELLS[source]):
        split_cell(source)

"""What Python asks at a place: read off the syntax tree, for every instruction of real files."""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

from export_engine.source import Code, Position, code_of

from .. import seed_cases

ASKED = {
    "if a > b: pass": ("if", "a > b"),
    "if not a: pass": ("if", "not a"),
    "if a and (b or not c): pass": ("if", "a and (b or not c)"),
    "while a: pass": ("while", "a"),
    "assert a, 'no'": ("assert", "a"),
    "x = b if a else c": ("conditional", "a"),
    "x = [y for y in b if a]": ("filter", "a"),
    "for y in range(a): pass": ("for", "range(a)"),
    "match a:\n  case 1: pass": ("match", "a"),
    "match b:\n  case _ if a: pass": ("if", "a"),
    "x = int(a)": ("call", "int(a)"),
    "if (x := a): pass": ("if", "(x := a)"),
}


@pytest.mark.parametrize("text", ASKED)
def test_what_is_asked(text: str) -> None:
    construct, asked = ASKED[text]
    code = Code(text)
    names = [n for n in ast.walk(code.tree) if isinstance(n, ast.Name) and n.id == "a"]
    wanted = names[0] if construct != "call" else code.tree.body[0].value  # type: ignore[attr-defined]
    around = [wanted, *code.ancestors(wanted)]
    found = next(
        question
        for node in around
        if isinstance(node, ast.expr) and (question := code.question(node)) is not None
    )
    assert found.construct == construct
    assert code.text(found.asked) == asked.strip("()") if ":=" in asked else asked


def test_a_comparison_asks_for_its_operands_in_vain() -> None:
    code = Code("if f(a) > 3: pass")
    call = next(node for node in ast.walk(code.tree) if isinstance(node, ast.Call))
    assert code.question(call) is None


def test_unpacking_asks_for_a_length() -> None:
    code = Code("a, b = rows(x)")
    target = next(node for node in ast.walk(code.tree) if isinstance(node, ast.Tuple))
    found = code.question(target)
    assert found is not None
    assert (found.construct, code.text(found.asked)) == ("unpack", "rows(x)")


FILES = [__file__, seed_cases.__file__, inspect.getsourcefile(ast) or ""]


@pytest.mark.parametrize("file", FILES, ids=lambda file: Path(file).name)
@pytest.mark.slow
def test_every_instruction_of_a_file_has_an_answer(file: str) -> None:
    code = code_of(file)
    assert code is not None
    seen = 0
    for position in set(positions(compile(Path(file).read_text(), file, "exec"))):
        expression = code.expression(position)
        if expression is None:
            continue
        seen += 1
        span = code.span(expression)
        assert span.line <= span.end_line
        assert code.text(expression)
        code.question(expression)
        if seen > 200:
            break
    assert seen > 50


def positions(compiled: CodeType) -> Iterator[Position]:
    for instruction in dis.get_instructions(compiled):
        at = instruction.positions
        if at is not None and at.lineno is not None:
            yield Position(at.lineno, at.col_offset, at.end_lineno, at.end_col_offset)
    for constant in compiled.co_consts:
        if isinstance(constant, CodeType):
            yield from positions(constant)


def test_columns_are_characters() -> None:
    code = Code("größe = 'ä' + y")
    name = next(n for n in ast.walk(code.tree) if isinstance(n, ast.Name) and n.id == "y")
    assert code.span(name).column == len("größe = 'ä' + ")


def test_what_is_no_python_is_none(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("if x ==")
    assert code_of(str(path)) is None
    assert code_of(str(tmp_path / "missing.py")) is None

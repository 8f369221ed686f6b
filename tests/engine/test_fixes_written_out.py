"""Statements that share a line are written out, where no rewrite takes them as they are."""

from __future__ import annotations

import ast

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.text_edits import CannotRewrite
from export_engine.fixes.own_lines import on_own_lines
from export_engine.shapes import Shapes

from ..fixes.cases.written_out import Recurs, Sums

FORMS = {
    "def": "def f(x): return x\n",
    "method": "class A:\n    def f(self, x): y = x; return y\n",
    "for": "def f(x):\n    for y in x: z = y; w = z\n    return w\n",
    "else": "def f(x):\n    if x: y = 1\n    elif x > 1: y = 2\n    else: y = 3; z = 4\n",
    "try": "def f(x):\n    try: y = 1\n    except E: y = 2\n    finally: z = 3\n    return y\n",
    "match": "def f(x):\n    match x:\n        case 1: y = 1; z = 2\n        case _: y = 2\n",
    "with": "def f(x):\n    with x: y = 1\n    return y # kept\n",
    "inner": "def f(x):\n    def g(y): z = y; return z\n    a = g(x); return a\n",
    "brackets": "def f(x): y = [x,\n    x]; return y\n",
    "tabs": "def f(x):\n\tfor y in x: z = y; w = z\n\treturn w\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_the_text_does_the_same_and_each_statement_begins_its_line(form: str) -> None:
    text = FORMS[form]
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "def f" in each)
    made = on_own_lines(text, line)
    tree = ast.parse(made.text)
    assert ast.dump(tree) == ast.dump(ast.parse(text))
    lines = made.text.splitlines()
    assert made.text.count("# kept") == text.count("# kept")
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            assert not lines[node.lineno - 1][: node.col_offset].strip()


@pytest.mark.parametrize("text", ["def f(x):\n    y = x\n    return y\n", "x = 1; y = 2\n"])
def test_what_needs_no_other_lines_is_left(text: str) -> None:
    with pytest.raises(CannotRewrite):
        on_own_lines(text, 1)

    # fmt: on


@pytest.mark.slow
@pytest.mark.parametrize("model", [Recurs, Sums])
def test_a_loop_in_one_line_becomes_a_scan(model: type[nn.Module]) -> None:
    shapes = Shapes.parse("x: batch, time, _")
    report = autofix(
        Request(target=model().eval(), args=(torch.randn(2, 5, 3),), dynamic_shapes=shapes)
    )
    assert isinstance(report.attempt, Exported), report
    assert report.attempt.agreement is not None
    assert report.attempt.agreement.verdict == "agrees"
    (step,) = report.kept
    assert "scan" in step.fix.title

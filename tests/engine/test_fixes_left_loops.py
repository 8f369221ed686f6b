"""Loops that data leave by `return`, or go on with by `continue`, and a `match` on data."""

from __future__ import annotations

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.branches.branch_to_cond import branch_to_cond
from export_engine.fixes.code.branches.match_to_if import match_as_if
from export_engine.fixes.code.branches.select_after import kept_where
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loop_continues import else_for_continue
from export_engine.fixes.code.loops.loop_returns import returned_at_end

from .test_fixes_code import defined
from .test_fixes_loops_on_data import INPUTS, agrees, line_of

RETURNS = {
    "what_is_behind_it": """
        for _ in range(4):
            x = torch.tanh(x) + 0.1
            if x.sum() < 0.5 or (x.max() > 0.9):  # stop
                return x
        x = x - 1
        return x * 2
    """,
    "several": """
        for n, layer in enumerate([torch.sin, torch.cos]):
            y = layer(x)
            if y.sum() < 0.5:  # stop
                z = y + n
                return z, x
            y += 1
            x = x + y
            if x.norm() > 2:
                return x, y
        return x, x * 2
    """,
    "nested": """
        if self.up is not None:
            for n in range(2):
                for m in range(2):
                    x = x * 0.7
                    if (x.sum() > 1).item():  # stop
                        return [x * n + m]
        return [x]
    """,
}
CONTINUES = {
    "skips": """
        total = torch.zeros(3)
        for t in range(x.shape[0]):
            if x[t].sum() < 0:  # stop
                continue
            total = total + x[t]

            # the first of them
            total = total * 0.5
        return total
    """,
    "not": """
        total = torch.zeros(3)
        for t in range(x.shape[0]):
            row = x[t]
            if not row.sum() < 0:  # stop
                continue
            total = total + row
        return total
    """,
    "does_more": """
        total = x * 1
        for n in range(3):
            if total.sum() < n:  # stop
                total = total + 1
                continue
            total = total * 0.5
            if total.max() > 1:
                continue
            total = total - n
        return total
    """,
}


@pytest.mark.parametrize("form", RETURNS)
def test_a_loop_run_to_its_end_selects_what_it_returns(form: str) -> None:
    model, text = defined(RETURNS[form], f"left_{form}")
    made = returned_at_end(text, line_of(text, "# stop")).text
    assert made.count("return") - made.count("_returned") == 1
    agrees(made, model)


@pytest.mark.parametrize("form", CONTINUES)
def test_what_a_loop_skips_is_in_an_else(form: str) -> None:
    model, text = defined(CONTINUES[form], f"continued_{form}")
    made = else_for_continue(text, line_of(text, "# stop")).text
    assert "continue" not in made
    agrees(made, model)


def test_numbers_that_a_loop_returns_stay_numbers() -> None:
    body = """
        for n in range(3):
            if x[0, n] > 0:  # stop
                return n
        return -1
    """
    model, text = defined(body, "returns_numbers")
    made = returned_at_end(text, line_of(text, "# stop")).text
    names: dict[str, object] = {}
    exec(compile(made, "made.py", "exec"), names)
    for x in INPUTS:
        found = names["Model"]()(x)  # type: ignore[operator]
        assert type(found) is int
        assert found == model(x)


LEAVE = "if x.sum() > n:\n        return x"
KEPT = {
    "x = x.mul_(2)\n    LEAVE": "in place",
    "x %= 1\n    LEAVE": "in place",
    "y[n] = x\n    LEAVE": "writes to",
    "y.append(x)\n    LEAVE": "effect",
    "LEAVE\n    break": "break",
    "LEAVE, n": "containers",
    "if x.sum() > n:\n        return None": "None",
    "LEAVE\nx = x + 1\nif z:\n    x = y": "several|does not end",
    "LEAVE\n    else:\n        x = y": "else",
    "LEAVE\nif y:\n    return y": "several",
    "if x.sum() > n:\n        z = n\n        return x\nz = z + 1": "elsewhere",
    "for m in count():\n        if x.sum() > n:\n            return x": "no end",
    "while y:\n        if x.sum() > n:\n            return x": "while",
}


def placed(body: str, mark: str) -> tuple[str, int]:
    text = "import torch\ndef f(x, y, z):\n" + "".join(f"    {each}\n" for each in body.split("\n"))
    return text, next(n for n, each in enumerate(text.splitlines(), 1) if mark in each)


@pytest.mark.parametrize("body", KEPT)
def test_a_loop_with_effects_or_without_an_end_is_kept(body: str) -> None:
    last = "" if "z:" in body else "\nreturn x"
    whole = f"for n in range(3):\n    {body}{last}".replace("LEAVE", LEAVE)
    with pytest.raises(Unclear, match=KEPT[body]):
        returned_at_end(*placed(whole, "if x.sum()"))


def test_an_iteration_that_leaves_its_loop_besides_is_kept() -> None:
    body = "for n in range(3):\n    if x.sum() > n:\n        continue\n    break\nreturn x"
    with pytest.raises(Unclear, match="break"):
        else_for_continue(*placed(body, "if x.sum()"))


MATCH = """
        match (x.sum() > 0).sum().item():  # which
            case 0 | 3:
                x = x.sin()
                # comments stay
                return x
            case _:
                return x.cos()
"""


def test_a_match_is_an_if() -> None:
    model, text = defined(MATCH, "matches")
    made, line = match_as_if(text, line_of(text, "# which"))
    assert made.text.splitlines()[line - 1].strip() == "if _matched == 0 or _matched == 3:"
    assert "# comments stay" in made.text
    assert match_as_if(text, line_of(text, "# which") + 1) == (made, line)
    agrees(made.text, model)


@pytest.mark.parametrize("case", ["case y:", "case [0, n]:", "case 0 if y:", "case None:"])
def test_a_match_of_more_than_values_is_kept(case: str) -> None:
    body = f"match x.item():\n    {case}\n        x = y\n    case _:\n        x = z\nreturn x"
    with pytest.raises(Unclear, match="a case"):
        match_as_if(*placed(body, "match"))


KEPT_WHERE = {
    "plain": """
        y = x * 2
        if x.sum() > 0:  # which
            z = y.sin()
            y = z + x

            # and once more
            y *= 2
        return y
    """,
    "tests_what_it_binds": """
        for n in range(3):
            if not bool((x.sum() > n).item()):  # which
                x = x + 1
                y = x * 2
                x = y - n
        return x
    """,
}


@pytest.mark.parametrize("form", KEPT_WHERE)
def test_a_branch_that_always_runs_keeps_its_values_where_its_test_holds(form: str) -> None:
    model, text = defined(KEPT_WHERE[form], f"kept_where_{form}")
    made = kept_where(text, line_of(text, "# which")).text
    assert "if " not in made.partition("def forward")[2]
    assert "# and once more" in made or form != "plain"
    agrees(made, model)


@pytest.mark.parametrize(
    "body",
    [
        "x.add_(1)\n    y = x",
        "x[0] = 1\n    x = x + 1",
        "z.append(x)",
        "y = print(f'{x}')",
        "w = x + 1",
        "y = x\nelse:\n    y = x + 1",
        "for n in z:\n        y = y + n",
    ],
)
def test_a_branch_with_effects_does_not_always_run(body: str) -> None:
    with pytest.raises(Unclear):
        kept_where(*placed(f"if x.sum():\n    {body}\nreturn x, y, w", "if x.sum()"))


def test_what_a_branch_alone_reads_need_not_come_out_of_it() -> None:
    """A loop's next iteration binds it again before it reads it."""
    text, line = placed(
        "for n in range(3):\n    if x[n] > 0:\n        w = x * 2\n        y = y + w\nreturn y",
        "if x",
    )
    assert "y = torch.cond(" in branch_to_cond(text, line).text


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_loop_that_data_leave_exports(strict: bool) -> None:
    model, _ = defined(RETURNS["several"], f"exports_left_{strict}")
    report = autofix(Request(target=model, args=(torch.rand(4, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert "Every iteration runs" in step.fix.gives_up
    for x in INPUTS[:6]:
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("body", [CONTINUES["skips"], MATCH], ids=["continue", "match"])
def test_what_data_skip_or_match_exports(body: str) -> None:
    model, _ = defined(body, f"exports_{len(body)}")
    report = autofix(Request(target=model, args=(torch.rand(4, 3),)))
    assert isinstance(report.attempt, Exported), report.sentence
    for x in INPUTS[:6]:
        torch.testing.assert_close(report.attempt.program.module()(x), model(x))

"""Loops that data end: run to their end, or as torch's while_loop; each computes the same."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loop_breaks import run_to_end
from export_engine.fixes.code.loops.loop_to_while import as_while_loop

from .test_fixes_code import defined

BREAKS = {
    "at_the_start": """
        total = torch.zeros(3)
        for t in range(x.shape[0]):
            if x[t].sum() < 0:  # stop
                break
            total = total + x[t]
        return total
    """,
    "at_the_end": """
        for _ in range(4):
            x = torch.tanh(x) + 0.1
            if x.sum() < 0.5 or (x.max() > 0.9):  # stop
                break
        return x * 2
    """,
    "in_the_middle": """
        y, z = x, x * 2
        for n in range(3):
            y = y * 0.5 + n
            z += y
            if not bool((y.sum() > z.sum()).item()):  # stop
                z = z - 1
                break
            y = y + self.up(z)
        return y, z
    """,
    "else_breaks": """
        n = 0
        for t in range(x.shape[0]):
            if x[t].sum() > 0:  # stop
                n += 1
                x = x * 0.9
            else:
                break
        return x, torch.as_tensor(n)
    """,
    "new_name": """
        u = x
        for _ in range(5):
            v = u * 0.5
            w, n = v.sum(), v + 1
            u = u + v.abs()
            if w.item() > 1:  # stop
                break
            u = u * n
        return u, v, n
    """,
    "returns": """
        for _ in range(3):
            x = x * 0.7
            if x.norm() < 1:  # stop
                return x
        return x
    """,
    "writes": """
        out = torch.zeros_like(x)
        for t in range(x.shape[0]):
            out[t] = x[t] * 2
            if x[t].sum() < 0:  # stop
                break
            out[t, 0] = t
        return out
    """,
    "counted": """
        n, kept = 0, x * 0
        while n < 3:
            kept = kept + x * n
            n += 1
            if kept.sum() < -1:  # stop
                break
        return kept
    """,
}
WHILE = {
    "test": """
        while x.norm() > 1:  # loop
            x = x / 2  # half
        return x * 3
    """,
    "converges": """
        error, n, last = 1.0, 0, 0.0
        while error > 1e-3 and n < 20:  # loop
            y = x * 0.5
            error = (y - x).abs().max().item()
            last = float(y.sum())
            x = y
            n += 1
        return x * n + last
    """,
    "counter": """
        steps, n = x.abs().sum().long(), 0
        while n < steps:  # loop
            x *= 0.9
            n += 1
        return x
    """,
    "range": """
        y = x
        for n in range(int(x.abs().sum().item())):  # loop
            if n > 1:
                z = y
            else:
                z = y + n
            y = z
        return y
    """,
    "named_range": """
        count = x.abs().sum().int().item()
        y, z = x.sin(), x.cos()
        for _ in range(1, count):  # loop
            y, z = z, y + 1
        return y
    """,
    "indexed": """
        y, count = x[0] * 0, (x.abs().sum(1) > 0.1).sum()
        for t in range(count.sum()):  # loop
            y = y + x[t] * x[:, t - 3].sum() + x[t - 1, ...]
        return y
    """,
    "endless": """
        y = x.abs() + 0.1
        while True:
            y = y * 2
            if y.sum() > 9:  # stop
                break
            y = y + 1
        return y
    """,
    "writes": """
        y = x * 1
        while y.sum() < 5:  # loop
            y[0] = y[0] + 1
            y.mul_(1.5)
        return y
    """,
}
INPUTS = [torch.randn(4, 3, generator=torch.Generator().manual_seed(n)) * 2 for n in range(4)]
INPUTS += [torch.ones(4, 3), torch.zeros(4, 3), torch.ones(1, 3), -torch.ones(2, 3)]


def line_of(text: str, mark: str) -> int:
    return next(n for n, each in enumerate(text.splitlines(), 1) if each.endswith(mark))


def agrees(made: str, model: Any) -> None:
    names: dict[str, Any] = {}
    exec(compile(made, "made.py", "exec"), names)
    other = names["Model"]()
    other.load_state_dict(model.state_dict())
    for given in INPUTS:
        x = given.clone()
        torch.testing.assert_close(other(x), model(given.clone()), rtol=0, atol=0)


@pytest.fixture
def plain_while_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch's while_loop means, without its compiler."""

    def while_loop(going: Callable[..., Any], step: Callable[..., Any], given: Any) -> Any:
        while (asked := going(*given)).item():
            assert asked.shape == ()
            before = [each.clone() for each in given]
            made = step(*given)
            for mine, theirs in zip(given, before, strict=True):
                assert torch.equal(mine, theirs), "a step changed what it was given"
            assert len({id(each) for each in [*made, *given]}) == len(made) + len(given)
            given = made
        return given

    importlib.import_module("torch._higher_order_ops.while_loop")
    module = sys.modules["torch._higher_order_ops.while_loop"]
    monkeypatch.setattr(module, "while_loop", while_loop)


@pytest.mark.parametrize("form", BREAKS)
def test_a_loop_run_to_its_end_keeps_what_it_has_where_it_breaks(form: str) -> None:
    model, text = defined(BREAKS[form], f"breaks_{form}")
    made = run_to_end(text, line_of(text, "# stop")).text
    assert "break\n" not in made
    agrees(made, model)


@pytest.mark.usefixtures("plain_while_loop")
@pytest.mark.parametrize("form", WHILE)
def test_a_while_loop_computes_what_the_loop_does(form: str) -> None:
    model, text = defined(WHILE[form], f"while_{form}")
    if form == "endless":
        text = run_to_end(text, line_of(text, "# stop")).text
        line = next(n for n, each in enumerate(text.splitlines(), 1) if "while torch" in each)
    else:
        line = line_of(text, "# loop")
    made = as_while_loop(text, line).text
    assert "# half" in made or form != "test"
    agrees(made, model)


KEPT = {
    "list": ("outs.append(x)\nif x.sum() > n:\n    break", "does not start as an empty list"),
    "prints": ("print(x)\nif x.sum() > n:\n    break", "for its effect"),
    "attribute": ("self.x = x\nif x.sum() > n:\n    break", "writes to `self.x`"),
    "goes_on": ("if x.sum() > n:\n    x = x + 1\nx = x * 2", "goes on"),
    "otherwise": ("if x.sum() > n:\n    break\nelse:\n    x = x * 2", "goes on"),
    "another": ("if n > 3:\n    break\nif x.sum() > n:\n    break", "break"),
    "skips": ("if x.max() > n:\n    continue\nif x.sum() > n:\n    break", "continue"),
    "index": ("if x.sum() > n:\n    break\ny = t", "own variable|no value before"),
    "new_name": ("if x.sum() > n:\n    break\nseen = x * 2", "no value before"),
    "returns_else": ("if x.sum() > n:\n    return x + 7\nx = x * 2", "goes on"),
    "identity": ("if x is None:\n    break\nx = x * 2", "asks Python"),
}


@pytest.mark.parametrize("case", KEPT)
def test_a_loop_that_does_more_than_to_break_is_kept(case: str) -> None:
    body, reason = KEPT[case]
    text = "import torch\ndef f(self, x, n, y, outs):\n    for t in range(5):\n"
    text += textwrap.indent(body, " " * 8) + "\n    seen_all = t\n    return x, y, seen, seen_all\n"
    if case not in ("index",):
        text = text.replace("    seen_all = t\n", "").replace(", seen_all", "")
    at = [n for n, each in enumerate(text.splitlines(), 1) if "if x" in each][-1]
    with pytest.raises(Unclear, match=reason):
        run_to_end(text, at)


KEPT_WHILE = {
    "collects": "for _ in range(n.item()):\n    outs.append(x)",
    "rows": "for row in x[: n.item()]:\n    y = y + row",
    "steps": "for t in range(0, n.item(), 2):\n    x = x + t",
    "breaks": "while x.sum() > 1:\n    x = x / 2\n    if x.max() < 3:\n        break",
    "unknown": "while x.sum() > 1:\n    x = x / 2\n    z = x",
    "numbered": "for t in range(n.item()):\n    x = x + t\ny = t",
    "otherwise": "while x.sum() > 1:\n    x = x / 2\nelse:\n    x = x + 1",
    "carries_nothing": "while x.sum() > 1:\n    w = x / 2",
}


@pytest.mark.parametrize("case", KEPT_WHILE)
def test_a_loop_that_while_loop_does_not_hold_is_kept(case: str) -> None:
    text = "import torch\ndef f(self, x, n, y, outs):\n"
    text += textwrap.indent(KEPT_WHILE[case], " " * 4) + "\n    return x, y, z\n"
    with pytest.raises(Unclear):
        as_while_loop(text, 3)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_loop_that_data_end_exports(strict: bool) -> None:
    model, _ = defined(WHILE["endless"], f"exports_endless_{strict}")
    report = autofix(Request(target=model, args=(torch.rand(4, 3),), strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    first, second = report.kept
    assert "Every iteration runs" in first.fix.gives_up
    assert "with while_loop" in second.fix.title
    program = report.attempt.program.module()
    for scale in (0, 0.01, 5):
        x = scale * torch.rand(4, 3)
        torch.testing.assert_close(program(x), model(x))

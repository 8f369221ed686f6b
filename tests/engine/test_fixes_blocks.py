"""Loops over blocks of a sequence, in steps: taken as pieces of one length."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.blocks import with_blocks
from export_engine.shapes import Shapes

from .test_fixes_code import defined
from .test_fixes_loops import line_of_loop

BLOCKS = {
    "carries": """
        h, k = torch.zeros(x.size(0), 3), 2
        for i in range(0, x.size(1), k):
            h = torch.tanh(h + x[:, i : i + k].sum(1)) * x[:, i:i+k, :].amax(1)
        return h
    """,
    "collects": """
        n = len(x)
        return torch.cat([x[i:i + 2].softmax(0) for i in range(0, n, 2)])
    """,
}
KEPT = (
    "for i in range(0, x.size(1), 2):\n    h = h + x[:, i : i + 3].sum()",
    "for i in range(1, x.size(1), 2):\n    h = h + x[:, i : i + 2].sum()",
    "for i in range(0, x.size(0), 2):\n    h = h + x[:, i : i + 2].sum()",
    "for i in range(0, x.size(1), 2):\n    h = h + x[:, i : i + 2].sum() * i",
    "for i in range(0, x.size(1), 2):\n    h = h + x[:, i : i + 2].sum()\n    x = x * 2",
    "for i in range(0, x.size(1), 2):\n    x[:, i : i + 2] = x[:, i : i + 2] * 2",
    "for i in range(0, x.size(1), 2):\n    h = h + x[0, i : i + 2].sum()",
    "for i in range(0, x.size(1), 2):\n    h = h + x[:, i : i + 2] + y[:, i : i + 2]",
)


@pytest.mark.parametrize("form", BLOCKS)
def test_blocks_are_the_pieces_of_a_split(form: str) -> None:
    model, text = defined(BLOCKS[form], f"blocks_{form}")
    made = with_blocks(text, line_of_loop(text))
    assert ".split(" in made
    names: dict[str, Any] = {}
    exec(compile(made, "blocks.py", "exec"), names)
    for size in (1, 4, 5):
        x = torch.rand(size, size, 3)
        assert torch.equal(names["Model"]()(x), model(x))


@pytest.mark.parametrize("body", KEPT)
def test_a_loop_over_something_else_is_kept(body: str) -> None:
    lines = "\n".join(f"    {each}" for each in body.split("\n"))
    text = f"import torch\ndef f(x, y, h):\n{lines}\n    return h, x\n"
    assert with_blocks(text, 3) == text


@pytest.mark.slow
def test_a_loop_over_blocks_becomes_a_scan_over_whole_ones() -> None:
    model, _ = defined(BLOCKS["carries"], "exports_blocks")
    request = Request(target=model, args=(torch.rand(2, 6, 3),), shapes=Shapes.parse("x: b, t, _"))
    report = autofix(request)
    assert isinstance(report.attempt, Exported), report.sentence
    (step,) = report.kept
    assert "multiple of 2" in step.fix.title
    x = torch.rand(3, 10, 3)
    torch.testing.assert_close(report.attempt.program.module()(x), model(x))

"""Loops over blocks and windows of a sequence, in steps: taken as pieces of one length."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.loops.blocks import with_blocks
from export_engine.fixes.code.loops.frames import with_frames
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


FRAMES = {
    "collects": """
        win, hop, outs = 3, 2, []
        for i in range(0, x.shape[1] - win + 1, hop):
            outs.append(x[:, i : i + win])
        return torch.stack(outs, 1)
    """,
    "by number": """
        win, hop = 3, 2
        count, outs = (x.size(-1) - win) // hop + 1, []
        for t in range(count):
            start = t * hop
            outs.append(x[..., start : start + win].amax(-1) + x[..., start : start + win].sum(-1))
        return torch.stack(outs, -1)
    """,
    "in steps of one": """
        return torch.stack([x[t : t + 3].softmax(0) for t in range(len(x) - 2)])
    """,
    "fewer": """
        return torch.stack([x[:, 2 * t : 2 * t + 3].sum(1) for t in range((x.shape[1] - 3) // 2)])
    """,
    "of another dim": """
        n = x.shape[0]
        return torch.cat([x[:, :, t : t + 2] for t in range(0, n - 2 + 1, 3)], 1)
    """,
}
OTHER_FRAMES = (
    "for i in range(0, x.size(1), 2):\n    h = h + x[:, i : i + 3].sum()",
    "for i in range(1, x.size(1) - 2, 2):\n    h = h + x[:, i : i + 3].sum()",
    "for i in range(0, x.size(1) - 2, 2):\n    h = h + x[:, i : i + 3].sum() * i",
    "for i in range(0, x.size(1) - 2, 2):\n    h = h + x[:, i : i + 3] + x[:, i : i + 2]",
    "for i in range(0, x.size(1) - 2, 2):\n    h = h + x[:, i : i + 3].sum()\n    x = x * 2",
    "for i in range(0, x.size(1) - 2, 2):\n    x[:, i : i + 3] = x[:, i : i + 3] * 2",
    "for i in range(x.size(1) - 2):\n    h = h + x[:, i : i + i].sum()",
    "for i in range(0, x.size(1) - 2, 2):\n    h = h + x[0, i : i + 3].sum()",
    "k = 3\nfor i in range(0, x.size(1) - 2, 2):\n    h, k = h + x[:, i : i + k].sum(), k + 1",
)


@pytest.mark.parametrize("form", FRAMES)
def test_windows_are_those_of_unfold(form: str) -> None:
    model, text = defined(FRAMES[form], f"frames_{form.replace(' ', '_')}")
    made = with_frames(text, line_of_loop(text))
    assert ".unfold(" in made
    names: dict[str, Any] = {}
    exec(compile(made, "frames.py", "exec"), names)
    for size in (5, 6, 9):
        x = torch.rand(size, size, size)
        assert torch.equal(names["Model"]()(x), model(x))


@pytest.mark.parametrize("body", OTHER_FRAMES)
def test_a_loop_over_something_else_is_no_loop_over_windows(body: str) -> None:
    lines = "\n".join(f"    {each}" for each in body.split("\n"))
    text = f"import torch\ndef f(x, y, h):\n{lines}\n    return h, x\n"
    assert with_frames(text, 3 + body.startswith("k")) == text


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_windows_of_a_dynamic_length_are_collected_at_once(strict: bool) -> None:
    model, _ = defined(FRAMES["collects"], f"frames_of_any_length_{strict}")
    shapes = Shapes.parse("x: batch, time, _")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 12, 4),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    program = report.attempt.program.module()
    for size in (7, 8, 30):
        x = torch.randn(3, size, 4)
        torch.testing.assert_close(program(x), model(x))


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_whole_pieces_of_any_number_come_before_the_number_of_the_example(strict: bool) -> None:
    body = """
        return torch.cat([piece.cumsum(1) for piece in x.split(4, dim=1)], 1)
    """
    model, _ = defined(body, f"pieces_of_any_number_{strict}")
    shapes = Shapes.parse("x: batch, time, _")
    report = autofix(
        Request(target=model, args=(torch.randn(2, 12, 3),), shapes=shapes, strict=strict)
    )
    assert isinstance(report.attempt, Exported), report
    assert "The program rejects time = " in report.sentence
    program = report.attempt.program.module()
    for size in (8, 12, 40):
        x = torch.randn(3, size, 3)
        torch.testing.assert_close(program(x), model(x))

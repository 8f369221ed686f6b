"""Loops that write a part of each row, as long as data say: one write by a mask."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.row_writes import written_by_mask
from export_engine.shapes import Shapes

Tensor = torch.Tensor
HEAD = "import torch\ndef f(x, n):\n    out = x.clone()\n"
LOOPS = {
    "behind": "for i, k in enumerate(n):\n        out[i, k:] = 0",
    "before": "for i in range(x.shape[0]):\n        out[i, : n[i] - 1] = -1.5",
    "between": "for i, k in enumerate(n.tolist()):\n        out[i, 1:k] = x.flip(0)[i, 1:k]",
    "of_rows": (
        "for i, (row, k) in enumerate(zip(x * 2, n)):\n        out[i, : int(k)] = row[: int(k)]"
    ),
    "of_another": "y = x + 1\n    for i in range(len(x)):\n        out[i, n[i] :] = y[i, n[i] :]",
}


def both(loop: str, behind: int) -> tuple[Any, Any]:
    """The function, and what it is made."""
    text = f"{HEAD}    {loop}\n    return out\n"
    line = next(n for n, each in enumerate(text.splitlines(), 1) if "for " in each)
    made = written_by_mask(text, line, behind=behind).text
    assert "for " not in made
    functions = []
    for each in (text, made):
        names: dict[str, Any] = {}
        exec(compile(each, "rows.py", "exec"), names)
        functions.append(names["f"])
    return functions[0], functions[1]


@pytest.mark.parametrize("loop", [each for each in LOOPS if each != "between"])
@pytest.mark.parametrize("behind", [0, 1])
def test_the_mask_writes_what_the_loop_does(loop: str, behind: int) -> None:
    theirs, ours = both(LOOPS[loop], behind)
    for rows in (3, 1, 0):
        x = torch.randn(rows, 5, *[2] * behind)
        for low, high in ((0, 6), (-7, 8)):  # none, all, beyond the end, and from the end
            n = torch.randint(low, high, (rows,))
            torch.testing.assert_close(ours(x, n), theirs(x, n), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("loop", "reason"),
    [
        (LOOPS["between"], "same part of another row"),
        ("for i, k in enumerate(n):\n        out[i, k:] = x[i, : 5 - k]", "another part"),
        ("for i, k in enumerate(n):\n        out[i + 1, k:] = 0", "part of each row"),
        ("for i, k in enumerate(n):\n        out[i, k:] = 0\n        x = x + 1", "does more"),
    ],
)
def test_other_writes_are_left(loop: str, reason: str) -> None:
    with pytest.raises(Unclear, match=reason):
        both(loop, 0)


class MasksRows(torch.nn.Module):
    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        mask = torch.ones(x.size(0), x.size(1), dtype=torch.bool)
        for i, n in enumerate(lengths):
            mask[i, n:] = False
        return x.masked_fill(~mask[..., None], 0.0).sum(1)


@pytest.mark.slow
def test_a_mask_by_lengths_stays_dynamic() -> None:
    args = (torch.randn(3, 6, 2), torch.tensor([2, 6, 0]))
    shapes = Shapes.parse("x: batch, _, _; lengths: batch")
    report = autofix(Request(target=MasksRows(), args=args, shapes=shapes))
    assert isinstance(report.attempt, Exported)
    (step,) = report.kept
    assert step.fix.title.startswith("Write the rows in line")
    program = report.attempt.program.module()
    for batch in (2, 5):
        x, n = torch.randn(batch, 6, 2), torch.randint(0, 8, (batch,))
        torch.testing.assert_close(program(x, n), MasksRows()(x, n))

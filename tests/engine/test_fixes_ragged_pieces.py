"""Loops over pieces whose lengths a tensor has: `torch.split(x, lengths.tolist())`."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.comprehensions import Form
from export_engine.fixes.code.loops.ragged_pieces import as_slices, named_in_the_head
from export_engine.shapes import Shapes
from tests.torch_limits import needs_numbers


class Pools(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        outs = []
        for part in torch.split(x, lengths.tolist()):
            outs.append(part.max(0).values)
        return torch.stack(outs)


class Named(nn.Module):
    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        parts = x.split(lengths.tolist(), dim=0)
        return torch.stack([(part.softmax(0) * part).sum(0) for part in parts])


class Counts(nn.Module):
    """Its numbers have a name; the pieces are of another dim, and counted."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        sizes = lengths.tolist()
        outs = []
        for n, part in enumerate(torch.split(x, sizes, 0)):
            outs.append(part.sum(0) * (n + 1))
        return torch.stack(outs)


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Pools, Named, Counts])
def test_pieces_of_lengths_from_data_become_a_scan(kind: type[nn.Module], strict: bool) -> None:
    model, shapes = kind(), Shapes.parse("x: total, _; lengths: n")
    args = (torch.randn(14, 4), torch.tensor([5, 7, 2]))
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "as a scan" in report.sentence
    program = report.attempt.program.module()
    for lengths in ([3], [1, 1, 1, 9], [6, 2], [1] * 7):
        given = torch.randn(sum(lengths), 4), torch.tensor(lengths)
        torch.testing.assert_close(program(*given), model(*given))
    for lengths in ([3, 4], [9, -2]):
        given = torch.randn(8, 4), torch.tensor(lengths)
        for each in (program, model):
            with pytest.raises(RuntimeError):
                each(*given)


LOOP = """import torch
def f(x, n, outs):
    {before}
    for part in {over}:
        outs.append(part.sum())
    return outs
"""


@pytest.mark.parametrize(
    ("over", "sliced"),
    [
        ("torch.split(x, n.tolist())", True),
        ("x.split(n.tolist(), 1)", True),
        ("torch.split(x, n.tolist(), dim=1)", True),
        ("torch.split(x, n.tolist(), -1)", False),
        ("torch.split(x, 3)", False),
        ("torch.split(x, [1, 2])", False),
        ("torch.chunk(x, 3)", False),
    ],
)
def test_only_pieces_of_a_tensors_lengths_are_slices(over: str, sliced: bool) -> None:
    text = LOOP.format(before="pass", over=over)
    made = as_slices(Form(text, 4))
    assert ("_whole[" in made.text) == sliced
    if sliced:
        assert made.text.split("\n")[made.line - 1].strip() == "for _span in _spans:"
        names: dict[str, object] = {}
        theirs: dict[str, object] = {}
        exec(made.text, names)
        exec(text, theirs)
        x = torch.arange(36.0).reshape(6, 6)
        for lengths in ([6], [1, 2, 3], [0, 6], [2, 0, 4]):
            given = x, torch.tensor(lengths)
            assert names["f"](*given, []) == theirs["f"](*given, [])  # type: ignore[operator]


def test_named_pieces_are_cut_in_the_loop_where_nothing_changes_before() -> None:
    text = LOOP.format(before="parts = x.split(n.tolist())", over="parts")
    made = named_in_the_head(text, 3)
    assert (made.line, "for part in x.split(n.tolist()):" in made.text) == (3, True)
    for before in ("x = x + 1", "n.add_(1)", "x[0] = 1", "y = len(parts)"):
        text = LOOP.format(before=f"parts = x.split(n.tolist())\n    {before}", over="parts")
        assert named_in_the_head(text, 3) == Form(text, 3)

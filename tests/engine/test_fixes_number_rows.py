"""Loops over the numbers of a tensor, `for a, b in spans.tolist()`, and over what data select."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Request
from export_engine.fixes import AutofixReport, autofix
from export_engine.fixes.code.editing.comprehensions import Form
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.number_rows import in_the_head, over_rows
from export_engine.fixes.code.loops.scan_on_data import checked
from export_engine.shapes import Shapes
from tests.torch_limits import needs_numbers


class PoolsSpans(nn.Module):
    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        out = []
        for start, end in spans.tolist():
            out.append(x[start:end].sum(0) / 2)
        return torch.stack(out)


class PoolsPairs(nn.Module):
    """Its numbers come from two tensors, and are divided as Python divides them."""

    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        starts, ends = spans[:, 0], spans[:, 1]
        parts = []
        for a, b in zip(starts.tolist(), ends.tolist(), strict=True):
            parts.append(x[a : a + b].sum(0) * (a / (b + 3)))
        return torch.stack(parts)


class PoolsLengths(nn.Module):
    """Its numbers have a name, and are read in a comprehension."""

    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        ends = spans[:, 1].tolist()
        return torch.stack([x[:end].sum(0) for end in ends])


class Sentences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(10, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.embedding(ids)
        ends = (ids == 2).nonzero(as_tuple=True)[0]
        start, outs = 0, []
        for end in ends:
            outs.append(h[start : end + 1].mean(0))
            start = end + 1
        return torch.stack(outs)


class Runs(nn.Module):
    """What goes from one iteration to the next is a sum of the numbers."""

    def forward(self, x: torch.Tensor, spans: torch.Tensor) -> torch.Tensor:
        outs, start = [], 0
        for length in spans[:, 1].tolist():
            outs.append(x[start : start + length].sum(0))
            start += length
        return torch.stack(outs)


class Groups(nn.Module):
    """What it goes through has no name."""

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Linear(1, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        outs = []
        for group in torch.unique(ids):
            outs.append(self.up(ids[ids == group].float()[:, None]).sum(0))
        return torch.stack(outs)


class Segments(nn.Module):
    """How many iterations there are is a number from data."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        count = ids.max().item() + 1
        return torch.stack([ids[ids == n].float().mean() for n in range(count)])


class SentencesOrNone(Sentences):
    """Without a separator it has another value."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        h = self.embedding(ids)
        outs = []
        for end in (ids == 2).nonzero(as_tuple=True)[0]:
            outs.append(h[: end + 1].mean(0))
        if not outs:
            return h.new_ones(1, 4)
        return torch.stack(outs)


SPANS = torch.tensor([[0, 3], [2, 6], [7, 11]])


def fixed(
    model: nn.Module, args: tuple[torch.Tensor, ...], shapes: str, strict: bool
) -> AutofixReport:
    return autofix(
        Request(target=model.eval(), args=args, shapes=Shapes.parse(shapes), strict=strict)
    )


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [PoolsSpans, PoolsPairs, PoolsLengths, Runs])
def test_a_loop_over_rows_of_numbers_is_a_scan(kind: type[nn.Module], strict: bool) -> None:
    model = kind()
    report = fixed(model, (torch.randn(12, 4), SPANS), "x: seq, _; spans: n, _", strict)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "as a scan" in report.sentence
    assert not any(each.fix.narrows or each.fix.lossy for each in report.kept)
    program = report.attempt.program.module()
    for x, spans in (
        (torch.randn(5, 4), torch.tensor([[0, 4]])),
        (torch.randn(5, 4), torch.tensor([[3, 3], [0, 90]])),
        (torch.randn(20, 4), torch.tensor([[-4, -1], [0, 0], [1, 2], [2, 19], [5, 9]])),
    ):
        torch.testing.assert_close(program(x, spans), model(x, spans))


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_loop_over_what_data_select_is_a_scan_where_eager_needs_an_element(strict: bool) -> None:
    model = Sentences()
    report = fixed(model, (torch.tensor([4, 2, 7, 8, 2, 1]),), "ids: seq", strict)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "as a scan" in report.sentence
    assert report.attempt.request is not None
    assert report.attempt.request.strict
    program = report.attempt.program.module()
    with torch.no_grad():
        for ids in ([2, 1], [1, 2, 1], [2, 2, 2, 5, 2, 3, 3, 2]):
            found = torch.tensor(ids)
            torch.testing.assert_close(program(found), model(found))
        with pytest.raises(RuntimeError):
            model(torch.ones(4, dtype=torch.long))
        with pytest.raises(RuntimeError):
            program(torch.ones(4, dtype=torch.long))


@needs_numbers
@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Segments, Groups])
def test_a_loop_over_as_many_as_data_say_is_a_scan(kind: type[nn.Module], strict: bool) -> None:
    model = kind()
    report = fixed(model, (torch.tensor([0, 0, 1, 2, 1, 2]),), "ids: n", strict)
    assert isinstance(report.attempt, Exported), report.sentence
    assert "as a scan" in report.sentence
    program = report.attempt.program.module()
    with torch.no_grad():
        for ids in ([0], [0, 1, 0, 1], [3, 1, 2, 0, 0, 3, 3]):
            given = torch.tensor(ids)
            torch.testing.assert_close(program(given), model(given))
    for each in (program, model) if kind is Segments else ():
        with pytest.raises(RuntimeError):
            each(torch.tensor([-1, -1]))


@pytest.mark.slow
def test_a_loop_that_may_run_not_once_stays() -> None:
    report = fixed(SentencesOrNone(), (torch.tensor([4, 2, 7, 8, 2, 1]),), "ids: seq", strict=True)
    assert not any("as a scan" in each.fix.title for each in report.kept)
    text = "import torch\ndef f(x, ends):\n    out = []\n"
    text += "    for e in ends:\n        out.append(x[e])\n"
    made = checked(Form(f"{text}    return torch.stack(out)\n", 4))
    assert "_check(ends.shape[0] > 0)" in made.text
    for rest in (
        "if not out:\n        return x\n    return torch.stack(out)",
        "return torch.stack(out) if out else x",
        "if x.dim() > 1:\n        return x\n    return torch.stack(out)",
        "return out",
    ):
        with pytest.raises(Unclear):
            checked(Form(f"{text}    {rest}\n", 4))


def test_numbers_are_read_of_rows_that_are_still_the_same() -> None:
    loop = "    for a in numbers:\n        out.append(x[:a].sum())\n"
    text = "def f(x, n, out):\n    numbers = n.tolist()\n"
    made = over_rows(Form(f"{text}{loop}", 3), numbers=True).text
    assert "numbers = n\n    for _row in numbers:\n        a = _row.tolist()\n" in made
    text = f"{text}    size = len(numbers)\n"
    made = over_rows(Form(f"{text}{loop}", 4), numbers=True).text
    assert "for _row in n:\n        a = _row.tolist()\n" in made
    for between in ("n = n + 1", "n.add_(1)", "n[0] = 1", "numbers.reverse()", "numbers[0] = 3"):
        form = Form(f"{text}    {between}\n{loop}", 4)
        assert over_rows(form, numbers=True) == form


def test_a_list_of_numbers_with_one_use_is_read_in_the_loop() -> None:
    text = "def f(x, n):\n    ends = n.tolist()\n    y = [x[:e].sum() for e in ends]\n"
    made = in_the_head(f"{text}    return y\n", 2)
    assert (made.line, "for e in ends.tolist()" in made.text) == (3, True)
    assert "ends = n\n" in made.text
    for rest in ("return y, ends", "n.add_(1)\n    return y", "n[0] = 1\n    return y"):
        form = in_the_head(f"{text}    {rest}\n", 2)
        assert form == Form(f"{text}    {rest}\n", 2)

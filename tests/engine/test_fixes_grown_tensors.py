"""Loops that decode until an end token, and make their tokens longer in each iteration."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.fixes import autofix
from export_engine.fixes.code.editing.conditions import Unclear
from export_engine.fixes.code.loops.loop_breaks import run_to_end
from export_engine.shapes import Shapes


class Decodes(nn.Module):
    """The next token is a sum, so that the end token 0 comes early, late or never."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        for _ in range(5):
            token = (ids.sum(1, keepdim=True) + 1) % 4
            ids = torch.cat([ids, token], dim=1)
            if (token == 0).all():
                break
        return ids * 2


class EndsFirst(nn.Module):
    """The end token is not added; each row has its own end."""

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        ended = torch.zeros(ids.shape[0], dtype=torch.bool)
        while ids.shape[1] < 9:
            token = (ids[:, -2:].sum(1) + 1) % 4
            ended |= token == 0
            if ended.all():
                return ids, ended
            ids = torch.cat((ids, token[:, None]), -1)
        return ids, ended


class Collects(nn.Module):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        token, tokens = ids[:, 0], []
        for step in range(4):
            token = (token * 3 + step) % 5
            tokens.append(token)
            if (token == 0).any():
                break
        return torch.stack(tokens, dim=1)


class Settles(nn.Module):
    """Each iteration has a list of its own, and ends where two tensors are close."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = ids.float()
        for _ in range(6):
            rows = []
            for n in range(3):
                rows.append(x[:, n] // (n + 2))
            now = torch.stack(rows, 1)
            if torch.allclose(now, x, atol=0.5):
                break
            x = now
        return x


class Counts(nn.Module):
    """How many tokens there are is asked of a list."""

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        token, tokens = ids[:, 0], []
        for step in range(4):
            token = (token * 3 + step) % 5
            tokens.append(token)
            if (token == 0).any():
                break
        return torch.stack(tokens, dim=1) / len(tokens)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Decodes, EndsFirst, Collects])
def test_tokens_are_cut_where_the_loop_ends(kind: type[nn.Module], strict: bool) -> None:
    model = kind()
    ids = torch.tensor([[1, 2, 3], [2, 1, 1]])
    shapes = Shapes.parse("ids: batch, _")
    report = autofix(Request(target=model, args=(ids,), shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Run the loop to its end" in report.sentence
    program = report.attempt.program.module()
    lengths = set()
    for rows in range(1, 4):
        for seed in range(12):
            given = torch.randint(0, 5, (rows, 3), generator=torch.Generator().manual_seed(seed))
            theirs = model(given)
            torch.testing.assert_close(program(given), theirs)
            lengths.add((theirs[0] if kind is EndsFirst else theirs).shape[1])
    assert len(lengths) > 2


@pytest.mark.slow
def test_a_list_that_is_counted_stays() -> None:
    report = autofix(Request(target=Counts(), args=(torch.tensor([[1], [2]]),)))
    assert isinstance(report.attempt, Failed)


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_a_list_of_one_iteration_is_no_effect(strict: bool) -> None:
    model, shapes = Settles(), Shapes.parse("ids: batch, _")
    args = (torch.tensor([[30, 2, 3], [20, 1, 1]]),)
    report = autofix(Request(target=model, args=args, shapes=shapes, strict=strict))
    assert isinstance(report.attempt, Exported), report.sentence
    assert "Run the loop to its end" in report.sentence
    program = report.attempt.program.module()
    for rows in ([[0, 0, 0]], [[900, 7, 5], [1, 1, 1], [64, 0, 0]], [[3, 3, 3]] * 4):
        assert torch.equal(program(torch.tensor(rows)), model(torch.tensor(rows)))


LOOP = """import torch
def f(ids, n):
    {head}
        ids = torch.cat([{parts}], 1)
        {more}
        if (ids[:, -1] == 0).all():
            {leaving}
    return ids
"""


@pytest.mark.parametrize(
    "changes",
    [
        {"head": "while True:"},
        {"parts": "ids[:, :1], ids"},
        {"parts": "ids, ids"},
        {"more": "ids = ids[:, 1:]"},
        {"leaving": "ids = ids * 2\n            break"},
    ],
)
def test_what_grows_otherwise_is_not_run_to_the_end(changes: dict[str, str]) -> None:
    given = {"head": "for _ in range(n):", "parts": "ids, n", "more": "n = n + 1"}
    given["leaving"] = "break"
    text = LOOP.format_map(given)
    assert "ids.narrow(1, 0, " in run_to_end(text, 6).text
    text = LOOP.format_map(given | changes)
    try:
        made = run_to_end(text, 6).text
    except Unclear:
        return
    assert "narrow(" not in made

"""Overlays: what is laid over ops is in the Record, and bad values are named."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

import explorer
from export_engine.record import check_record


@pytest.fixture
def ex() -> explorer.Exploration:
    return explorer.explore(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), (torch.randn(2, 4),))


def test_numbers_texts_and_colours_are_told_apart_and_kept(
    ex: explorer.Exploration, tmp_path: Path
) -> None:
    ex.annotate("importance", {"linear": 0.5, "relu": 2}).annotate("note", {"relu": "<b>dead</b>"})
    ex.annotate("team", {"linear": "#1a64c4"})

    assert [(each.name, each.kind) for each in ex.record.overlays] == [
        ("importance", "number"),
        ("note", "text"),
        ("team", "colour"),
    ]
    check_record(ex.record)
    kept = explorer.load(ex.save(tmp_path / "a.pt2")).record.overlays
    assert kept == ex.record.overlays
    ex.annotate("importance", {"relu": 1}).annotate("note", {})
    assert [(each.name, each.numbers) for each in ex.record.overlays] == [
        ("team", []),
        ("importance", [1.0]),
    ]


@pytest.mark.parametrize(
    ("values", "kind", "said"),
    [
        ({"linaer": 1}, None, "Nearest: linear"),
        ({"linear": float("nan")}, None, "finite"),
        ({"linear": object()}, None, "not a number"),
        ({"linear": "url(x)"}, "colour", "not a colour"),
        ({"linear": 1}, "hologram", "'hologram' is not a kind"),
    ],
)
def test_bad_values_are_refused(
    ex: explorer.Exploration, values: dict[str, object], kind: str | None, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ex.annotate("mine", values, kind)
    assert not ex.record.overlays

"""Fixes of shapes beyond the founding cases."""

from __future__ import annotations

import dataclasses

import pytest
import torch
from torch import nn

from export_engine.attempt import Exported, Failed, Request
from export_engine.capture import capture
from export_engine.diagnose import diagnose
from export_engine.fixes import shapes
from export_engine.shapes import Shapes


class FixedHead(nn.Module):
    """Its head takes one product of height and width alone."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 2, 3, padding=1), nn.MaxPool2d(4))
        self.head = nn.Linear(2 * 4 * 4, 5)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(image).flatten(1))


@pytest.mark.slow
def test_sizes_that_the_model_hardly_takes_may_stay_as_they_are() -> None:
    wanted = Shapes.parse("image: batch, _, h, w")
    request = Request(target=FixedHead(), args=(torch.randn(2, 3, 16, 16),), shapes=wanted)
    attempt = capture(request)
    assert isinstance(attempt, Failed)
    varying, kept = shapes.offered(dataclasses.replace(attempt, diagnosis=diagnose(attempt)))
    assert "The model accepts few other sizes. With batch = " in varying.gives_up
    assert "mat1 and mat2 shapes cannot be multiplied" in varying.gives_up
    assert kept.title == "Keep h, w at the size of the example"
    assert kept.lossy
    assert kept.after == "image: batch, _, _, _"
    assert isinstance(capture(kept.apply(request)), Exported)

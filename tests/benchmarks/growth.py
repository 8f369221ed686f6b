"""How the cost of one op grows with the size of the model: 8, 16, 32 and 64 layers of Llama.

An exponent of 1 is linear growth. torch's own export is measured beside ours.
"""

from __future__ import annotations

import math
import statistics

import torch

from export_engine.capture import capture
from export_engine.describe import describe
from export_engine.record import encode

from ..models import llama
from .export_cost import request_of, torch_shapes
from .table import Row
from .timing import seconds

LAYERS = (8, 16, 32, 64)


def run() -> list[Row]:
    """Exponents of growth over the number of layers."""
    plain, described, sizes = [], [], []
    for layers in LAYERS:
        case = llama(layers)
        request = request_of(case)
        shapes = torch_shapes(case)
        taken, _ = seconds(
            lambda case=case, shapes=shapes: torch.export.export(
                case.model, case.args, dict(case.kwargs), dynamic_shapes=shapes
            )
        )
        plain.append(taken)
        attempt = capture(request)
        taken, data = seconds(lambda attempt=attempt: encode(describe(attempt)), rounds=3)
        described.append(taken)
        sizes.append(len(data))
    name = f"llama, {LAYERS[0]} to {LAYERS[-1]} layers"
    return [
        Row(
            name,
            "growth of torch.export.export",
            _exponent(plain),
            "exponent",
            means="1 is linear; torch's own, to compare with",
        ),
        Row(
            name,
            "growth of describe + encode",
            _exponent(described),
            "exponent",
            most=1.2,
            means="near 1: twice the layers take twice the time",
        ),
        Row(
            name,
            "growth of the Record",
            _exponent(sizes),
            "exponent",
            most=1.05,
            means="near 1: twice the layers take twice the bytes",
        ),
    ]


def _exponent(values: list[float]) -> float:
    """Slope of log(value) over log(layers)."""
    x = [math.log(layers) for layers in LAYERS]
    y = [math.log(value) for value in values]
    return statistics.linear_regression(x, y).slope

"""Faults of findings that `planted.py` does not have, each beside a function that looks alike."""

from __future__ import annotations

import datetime as dt
import logging
import os
import random
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from export_engine.attempt import Kind

from .planted import Plant

LOG = logging.getLogger(__name__)
LIMITS = {"warned": 0}
HISTORY: list[float] = []
SCALES = {"wide": torch.tensor(2.0)}
X = torch.arange(12.0).reshape(3, 4) + 1


def adds_monotonic(x: Tensor) -> Tensor:
    return x + time.monotonic()


def logs_monotonic(x: Tensor) -> Tensor:
    LOG.debug("at %s", time.monotonic())
    return x + 1


def chooses(x: Tensor) -> Tensor:
    return x * random.choice([1.5, 2.5, 3.5])


def chooses_first(x: Tensor) -> Tensor:
    return x * [1.5, 2.5, 3.5][0]


def adds_uuid(x: Tensor) -> Tensor:
    return x + uuid.uuid4().int % 7


def fixed_uuid(x: Tensor) -> Tensor:
    return x + uuid.UUID(int=5).int % 7


def numpys_noise(x: Tensor) -> Tensor:
    return x + float(np.random.rand())


def numpys_constant(x: Tensor) -> Tensor:
    return x + float(np.float64(0.25))


def adds_today(x: Tensor) -> Tensor:
    return x * dt.datetime.now().second


def a_date(x: Tensor) -> Tensor:
    return x * dt.datetime(2020, 1, 5).day


def by_identity(x: Tensor) -> Tensor:
    return x + id(LOG) % 100


def by_length(x: Tensor) -> Tensor:
    return x + len("LOG") % 100


def by_process(x: Tensor) -> Tensor:
    return x + os.getpid() % 100


def reads_flag(x: Tensor) -> Tensor:
    return x.sin() if os.environ.get("A_FLAG_OF_OURS") == "1" else x.cos()


def logs_flag(x: Tensor) -> Tensor:
    LOG.debug("flag %s", os.environ.get("A_FLAG_OF_OURS"))
    return x.cos()


def by_folder(x: Tensor) -> Tensor:
    return x * len(list(Path("/").iterdir()))


def by_name(x: Tensor) -> Tensor:
    return x * len(Path("/a/b.txt").name)


def by_threads(x: Tensor) -> Tensor:
    return x / torch.get_num_threads()


def by_size(x: Tensor) -> Tensor:
    return x / x.shape[0]


def by_default(x: Tensor) -> Tensor:
    return x.sin() if torch.get_default_dtype() == torch.float32 else x.cos()


def by_dtype(x: Tensor) -> Tensor:
    return x.sin() if x.dtype == torch.float32 else x.cos()


def by_gradients(x: Tensor) -> Tensor:
    if torch.is_grad_enabled():
        x = x * 2
    return x.sin()


def takes_scale(x: Tensor, scale: float) -> Tensor:
    return x * scale


def takes_tensor(x: Tensor, scale: Tensor) -> Tensor:
    return x * scale


def reads_one(x: Tensor, y: Tensor) -> Tensor:
    return x * 2


def reads_size(x: Tensor, y: Tensor) -> Tensor:
    return x * y.shape[1]


def reads_both(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(y > 0, x, -x)


def reads_none_of_a_list(x: Tensor, y: list[Tensor]) -> Tensor:
    return x + y[0]


def reads_all_of_a_list(x: Tensor, y: list[Tensor]) -> Tensor:
    return x + y[0] * y[1]


def fixes_by_int(x: Tensor) -> Tensor:
    return x.reshape(int(x.shape[0]) * 4)


def reshapes_by_literal(x: Tensor) -> Tensor:
    return x.reshape(3, 2, 2)


def reshapes_freely(x: Tensor) -> Tensor:
    return x.reshape(-1, 2, 2)


def as_a_list(x: Tensor) -> Tensor:
    return torch.stack([row * 2 for row in x])


def as_a_tensor(x: Tensor) -> Tensor:
    return torch.stack([x * 2, x])


def doubles_in_place(x: Tensor) -> Tensor:
    x.mul_(2)
    return x + 1


def doubles_a_copy(x: Tensor) -> Tensor:
    x = x.clone().mul_(2)
    return x + 1


def writes_a_slice(x: Tensor) -> Tensor:
    x[0] = 0
    return x.sin()


def writes_a_result(x: Tensor) -> Tensor:
    y = x * 1
    y[0] = 0
    return y.sin()


def fills_by_mask(x: Tensor, mask: Tensor) -> Tensor:
    return x.masked_fill_(mask > 0, 0.0)


def fills_new(x: Tensor, mask: Tensor) -> Tensor:
    return x.masked_fill(mask > 0, 0.0)


def counts_globally(x: Tensor) -> Tensor:
    LIMITS["warned"] += 1
    return x * 2


def reads_globally(x: Tensor) -> Tensor:
    return x * (LIMITS.get("never", 0) + 2)


def records(x: Tensor) -> Tensor:
    HISTORY.append(float(x.shape[0]))
    return x + len(HISTORY)


def records_inside(x: Tensor) -> Tensor:
    history = []
    history.append(float(x.shape[0]))
    return x + len(history)


def uses_table(x: Tensor) -> Tensor:
    return x * SCALES["wide"]


def makes_table(x: Tensor) -> Tensor:
    return x * torch.tensor(2.0)


def to_the_cpu(x: Tensor) -> Tensor:
    return x.cpu() * 2


def to_its_device(x: Tensor) -> Tensor:
    return x.to(x.device) * 2


def positions_on_cpu(x: Tensor) -> Tensor:
    return x + torch.arange(4, device="cpu")


def positions_beside(x: Tensor) -> Tensor:
    return x + torch.arange(4, device=x.device)


def in_bfloat16(x: Tensor) -> Tensor:
    return x.to(torch.bfloat16) * 2


def as_its_like(x: Tensor) -> Tensor:
    return x.type_as(x) * 2


def checks_values(x: Tensor) -> Tensor:
    n = x.sum().int().item()
    torch._check(n > 0)
    return x * n


def checks_sizes(x: Tensor) -> Tensor:
    torch._check(x.shape[0] > 0)
    return x * 2


def drops_always(x: Tensor) -> Tensor:
    return nn.functional.dropout(x, 0.5)


def drops_never(x: Tensor) -> Tensor:
    return nn.functional.dropout(x, 0.5, training=False)


def adds_noise(x: Tensor) -> Tensor:
    return x + torch.randn_like(x)


def adds_ones(x: Tensor) -> Tensor:
    return x + torch.ones_like(x)


def counts_on_host(x: Tensor) -> Tensor:
    return x[x > 3]


def counts_on_device(x: Tensor) -> Tensor:
    return x * (x > 3).sum()


def swallows(x: Tensor) -> Tensor:
    try:
        return x * int(x.sum())
    except Exception:  # noqa: BLE001
        return x


def swallows_its_own(x: Tensor) -> Tensor:
    try:
        return x * {"a": 2}["b"]
    except KeyError:
        return x


def alone_or_not(x: Tensor) -> Tensor:
    return x * 100 if x.shape[0] < 2 else x


def alone_or_alike(x: Tensor) -> Tensor:
    return x * 1 if x.shape[0] < 2 else x


class Held(nn.Module):
    """A tensor that is neither a parameter nor a buffer, or is a buffer."""

    def __init__(self, registered: bool) -> None:
        super().__init__()
        table = torch.arange(4.0)
        if registered:
            self.register_buffer("table", table)
        else:
            self.table = table

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table


class Noisy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x, 0.2, self.training)


class Tables(nn.Module):
    """Parameters in a plain list, or in one that registers them."""

    def __init__(self, registered: bool) -> None:
        super().__init__()
        weights = [nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))]
        self.weights: Any = nn.ParameterList(weights) if registered else weights

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weights[0] + self.weights[1]


def lookalikes() -> list[Plant]:
    """Fresh ones."""
    y, same, one = X + 1, X.clone(), (X.clone(),)
    flat = torch.arange(20.0)
    over = (flat[:12].reshape(3, 4), flat[4:16].reshape(3, 4))
    baked: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (adds_monotonic, logs_monotonic),
        (chooses, chooses_first),
        (adds_uuid, fixed_uuid),
        (numpys_noise, numpys_constant),
        (adds_today, a_date),
        (by_identity, by_length),
        (by_process, by_length),
    ]
    outside: list[tuple[Callable[..., Any], Callable[..., Any]]] = [
        (reads_flag, logs_flag),
        (by_folder, by_name),
        (by_threads, by_size),
        (by_default, by_dtype),
        (by_gradients, by_dtype),
    ]
    return [
        *(Plant(Kind.BAKED_VALUE, faulty, clean, one) for faulty, clean in baked),
        *(Plant(Kind.OUTSIDE_VALUE, faulty, clean, one) for faulty, clean in outside),
        Plant(Kind.BAKED_ARGUMENT, takes_scale, takes_tensor, (X, 3), (X, torch.tensor(3))),
        Plant(Kind.BAKED_ARGUMENT, takes_scale, takes_tensor, (X, 2.5), (X, torch.tensor(2.5))),
        Plant(Kind.UNUSED_INPUT, reads_one, reads_both, (X, y)),
        Plant(Kind.UNUSED_INPUT, reads_size, reads_both, (X, y)),
        Plant(Kind.UNUSED_INPUT, reads_none_of_a_list, reads_all_of_a_list, (X, [y, y + 1]), None),
        Plant(Kind.FIXED_SIZE, reshapes_by_literal, reshapes_freely, one, None, "x: *, _"),
        Plant(Kind.FIXED_SIZE, as_a_list, as_a_tensor, one, None, "x: *, _"),
        Plant(Kind.WRITTEN_INPUT, doubles_in_place, doubles_a_copy, one),
        Plant(Kind.WRITTEN_INPUT, writes_a_slice, writes_a_result, one),
        Plant(Kind.WRITTEN_INPUT, fills_by_mask, fills_new, (X.clone(), y)),
        Plant(Kind.SHARED_INPUT, takes_tensor, takes_tensor, (same, same), (same, y)),
        Plant(Kind.OVERLAPPING_INPUTS, fills_by_mask, fills_new, over, (X, y)),
        Plant(Kind.STATE_CHANGED, counts_globally, reads_globally, one),
        Plant(Kind.STATE_CHANGED, records, records_inside, one),
        Plant(Kind.FROZEN_TENSOR, uses_table, makes_table, one),
        Plant(Kind.FROZEN_TENSOR, Held(registered=False), Held(registered=True), one),
        Plant(Kind.FROZEN_TENSOR, Tables(registered=False), Tables(registered=True), one),
        Plant(Kind.TRAINING_MODE, Noisy(), Noisy().eval(), one),
        Plant(Kind.DEVICE_BAKED, to_the_cpu, to_its_device, one),
        Plant(Kind.DEVICE_BAKED, positions_on_cpu, positions_beside, one),
        Plant(Kind.DTYPE_BAKED, in_bfloat16, as_its_like, one),
        Plant(Kind.RUNTIME_CHECK, checks_values, checks_sizes, one),
        Plant(Kind.RANDOM, drops_always, drops_never, one),
        Plant(Kind.RANDOM, adds_noise, adds_ones, one),
        Plant(Kind.SYNCHRONISES, counts_on_host, counts_on_device, one),
        Plant(Kind.CAUGHT_ERROR, swallows, swallows_its_own, one),
        Plant(Kind.UNTRACED_BRANCH, alone_or_not, alone_or_alike, one, None, "x: n, _"),
    ]

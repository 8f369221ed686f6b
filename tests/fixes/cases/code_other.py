"""Cases of code other."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ..case import NON_STRICT, STRICT, add, case


def many_or_few(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    k = n.item()
    # a comment that stays
    if k > 5:
        return x * k
    return x - k


add("many-or-few", lambda: many_or_few, lambda: (torch.randn(3), torch.tensor(7)))

add(
    "many-or-few-2", lambda: many_or_few, lambda: (torch.rand(3), torch.tensor(3)), modes=NON_STRICT
)

add("many-or-few-3", lambda: many_or_few, lambda: (torch.randn(3), torch.tensor(3)), modes=STRICT)


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
def detour(x: torch.Tensor) -> torch.Tensor:
    array = x.detach().numpy()
    total = np.sum(array, axis=-1, keepdims=True)
    scaled = np.clip(array / total, 0.1, 0.9) * np.pi
    return torch.from_numpy(np.concatenate([scaled, array.copy()], axis=0))


@case(lambda: (2.0 * torch.rand(4, 3),), modes=NON_STRICT)
def copied(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(np.exp(x.numpy()).mean(axis=0)) + 1


@case(
    "x: _, length",
    lambda: (torch.rand(2, 6),),
    lambda: (torch.rand(2, 3),),
    lambda: (torch.rand(2, 17),),
)
class Tapered(torch.nn.Module):
    """Windows and lines that NumPy makes, as long as the signal."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ramp = np.linspace(0.5, 1, x.shape[1]) + np.linspace(0, 2, x.shape[1], endpoint=False)
        ramp = ramp * np.cos(np.arange(x.shape[1]))
        taper = np.hanning(x.shape[1]) + np.ones(x.shape[1])
        return x * torch.from_numpy(ramp).float() * torch.from_numpy(taper).to(x)


def table(positions: int, width: int, padding: int | None = None) -> torch.Tensor:
    """Sinusoids as FastSpeech makes them."""

    def angle(position: int, column: int) -> Any:
        return position / np.power(10000, 2 * (column // 2) / width)

    def row(position: int) -> list[Any]:
        return [angle(position, column) for column in range(width)]

    made = np.array([row(position) for position in range(positions)])
    made[:, 0::2] = np.sin(made[:, 0::2])
    made[:, 1::2] = np.cos(made[:, 1::2])
    if padding is not None:
        made[padding] = 0.0
    return torch.FloatTensor(made)


@case(
    "x: _, length, _",
    lambda: (torch.rand(2, 6, 4),),
    lambda: (torch.rand(2, 1, 4),),
    lambda: (torch.rand(2, 3, 4),),
    lambda: (torch.rand(2, 17, 4),),
)
class Sinusoids(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + table(x.shape[1], x.shape[2], padding=0)


@case("x: _, n", lambda: (torch.rand(2, 6),), lambda: (torch.rand(2, 17),))
class Windowed(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        window = torch.tensor(np.hanning(x.shape[1]), dtype=x.dtype, device=x.device)
        return x * window + torch.as_tensor(np.ones(x.shape[1]), dtype=torch.float32)


@case("x: rows", lambda: (torch.rand(5),), lambda: (2 * torch.randn(8),), modes=NON_STRICT)
class InterpolatesWithNumpy(torch.nn.Module):
    def forward(self, x):
        points = np.linspace(-1.0, 1.0, 5)
        curve = np.interp(x.numpy(), points, np.tanh(points))
        return torch.from_numpy(curve * np.ptp(x.numpy(), axis=0))

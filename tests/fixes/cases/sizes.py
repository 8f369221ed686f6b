"""Cases of sizes."""

from __future__ import annotations

import math

import torch
from torch import nn

from ..case import NON_STRICT, add, case


@case(
    "x: _, n",
    lambda: (torch.rand(2, 5),),
    lambda: (torch.rand(2, 1),),
    lambda: (torch.rand(2, 8),),
    lambda: (torch.rand(2, 9),),
    lambda: (torch.rand(2, 16),),
)
class Bucketed(torch.nn.Module):
    def forward(self, x):
        def length():
            for each in (8, 16, 32):
                if x.shape[1] <= each:
                    return each
            raise ValueError("too long")

        return torch.nn.functional.pad(x, (0, length() - x.shape[1]))


@case(
    "x: b, _, h, w",
    lambda: (torch.rand(2, 3, 8, 6),),
    lambda: (torch.rand(1, 3, 3, 5),),
    lambda: (torch.rand(1, 3, 9, 2),),
    modes=NON_STRICT,
)
class Coordinates(torch.nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        ys = torch.linspace(-1, 1, steps=h)
        xs = torch.linspace(-1, 1, steps=w)
        gy, gx = torch.meshgrid(ys, xs, indexing="ij")
        grid = torch.stack([gx, gy], -1).expand(x.shape[0], h, w, 2)
        return torch.nn.functional.grid_sample(x, grid, align_corners=True)


@case(
    "x: b, t, _",
    lambda: (torch.rand(3, 5, 4),),
    lambda: (torch.rand(2, 4, 4),),
    lambda: (torch.rand(2, 11, 4),),
    modes=NON_STRICT,
)
class NumberOfSize(torch.nn.Module):
    def forward(self, x):
        n = int(x.size(1) * 0.5)
        k = float(x.size(1))
        return x[:, :n] / k


@case(
    "x: _, t, _",
    lambda: (torch.rand(2, 4, 3),),
    lambda: (torch.rand(2, 1, 3),),
    lambda: (torch.rand(2, 7, 3),),
    modes=NON_STRICT,
)
class OwnGru(torch.nn.Module):
    def forward(self, x):
        return self.gru(x)[0]


@case("x: b, t", lambda: (torch.rand(3, 4),), modes=NON_STRICT)
class LookedUpSize(torch.nn.Module):
    def forward(self, x):
        return x * {4: 0.5, 6: 2.0}[x.size(1)]


@case(lambda: (torch.rand(3, 4),))
class PythonCopy(torch.nn.Module):
    def forward(self, x):
        import copy

        y = copy.copy(x)
        y = y + copy.deepcopy(x)
        return y


class Boxes:
    """A container of the user's own around one tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __len__(self) -> int:
        return self.tensor.shape[0]


@case("rects: boxes, _", lambda: (torch.rand(5, 4),), modes=NON_STRICT)
class CountsBoxes(torch.nn.Module):
    def forward(self, rects: torch.Tensor) -> torch.Tensor:
        boxes = Boxes(rects)
        return rects.sum() / len(boxes)


@case(
    "x: batch, _, h, w",
    lambda: (torch.ones(1, 3, 30, 40),),
    lambda: (torch.rand(1, 3, 50, 20),),
    lambda: (torch.rand(3, 3, 16, 16),),
    modes=NON_STRICT,
)
class FitsASquare(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = 64 / max(x.shape[-2:])
        size = [int(each * scale + 0.5) for each in x.shape[-2:]]
        return torch.nn.functional.interpolate(x, size, mode="bilinear")


@case(
    "x: _, size, size",
    lambda: (torch.randn(2, 5, 5),),
    lambda: (torch.randn(2, 2, 2),),
    lambda: (torch.randn(2, 3, 3),),
    lambda: (torch.randn(2, 8, 8),),
)
class TablesByName(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[1]
        rows = [[0 if j <= i else 1 for j in range(size)] for i in range(size)]
        mask = torch.tensor(rows, dtype=torch.bool)
        slopes = [2.0 ** (-k / size) for k in range(1, size + 1)]
        return x.masked_fill(mask, 0.0) * torch.tensor(slopes)


@case(
    "x: _, time",
    lambda: (torch.randn(2, 41),),
    lambda: (torch.randn(2, 12),),
    lambda: (torch.randn(2, 39),),
    lambda: (torch.randn(2, 100),),
)
class FramesByRounding(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count = int((x.shape[1] - 8) / 4) + 1
        return torch.stack([x[:, 4 * i : 4 * i + 8].sum(1) for i in range(count)], 1)


@case(
    "x: batch, size",
    lambda: (torch.randn(2, 20),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.randn(2, 8),),
    lambda: (torch.randn(2, 41),),
)
class KeepsAShare(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        kept = max(int(math.ceil(0.5 * x.size(1))), 1)  # noqa: RUF046 - as users write it
        return x.topk(kept, dim=1).values


@case(
    "x: batch, size",
    lambda: (torch.randn(2, 20),),
    lambda: (torch.randn(2, 3),),
    lambda: (torch.randn(2, 8),),
    lambda: (torch.randn(2, 41),),
)
class KeepsHalf(torch.nn.Module):
    """As torchaudio.transforms.Resample crops what it has resampled."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = torch.ceil(torch.as_tensor(x.size(1) / 2)).long()
        return x[..., :half].contiguous()


@case(
    "x: batch, time",
    lambda: (torch.randn(2, 20),),
    lambda: (torch.randn(3, 3),),
    lambda: (torch.randn(3, 4),),
    lambda: (torch.randn(3, 16),),
    lambda: (torch.randn(3, 21),),
)
class PadsToAPowerOfTwo(torch.nn.Module):
    """torch lets no program take a logarithm of a size; an op computes it."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        whole = 2 ** math.ceil(math.log2(x.shape[1]))
        return torch.fft.irfft(torch.fft.rfft(x, whole), whole)[:, : x.shape[1]]


@case("x: batch, _", lambda: (torch.randn(4, 2),), lambda: (torch.randn(7, 2),), modes=NON_STRICT)
class NotesSizes(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[int, int] = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen[x.shape[0]] = self.seen.get(x.shape[0], 0) + 1
        return x.cumsum(0)


add(
    "bilinear",
    lambda: nn.Bilinear(4, 3, 2),
    "input1: batch, _",
    lambda: (torch.rand(5, 4), torch.rand(5, 3)),
    modes=NON_STRICT,
)

"""Idioms of Python and NumPy around sizes and numbers."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.export import Dim

from .case import reported

Tensor = torch.Tensor
F = nn.functional


@reported(
    "https://github.com/pytorch/pytorch/issues/138853",
    lambda n: (torch.rand(1, 3, 8 + 4 * n, 8 + 4 * n),),
    {"x": {2: Dim.DYNAMIC, 3: Dim.DYNAMIC}},
)
class IntOfQuotient(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        size = (int(x.shape[-2] / 1), int(x.shape[-1] / 1))  # <- here
        return F.interpolate(x, size=size, mode="bilinear")


@reported(
    "https://github.com/pytorch/TensorRT/issues/3973",
    lambda n: (torch.randn(2, 5 + n, 8),),
    "x: _, seq, _",
)
class NumpyRoot(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        scale = 1 / np.sqrt(x.shape[1])  # <- here
        return (x @ x.transpose(1, 2)) * scale


@reported(
    "https://github.com/pytorch/pytorch/issues/138852",
    lambda n: (torch.rand(1, 3, 8 + 4 * n, 8 + 4 * n),),
    {"x": {2: Dim.DYNAMIC, 3: Dim.DYNAMIC}},
)
class RoundOfQuotient(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        size = (round(x.shape[-2] / 2), round(x.shape[-1] / 2))  # <- here
        return F.interpolate(x, size=size, mode="nearest")


@reported(
    "https://github.com/pytorch/pytorch/issues/150851",
    lambda n: (torch.randn(4 + n), torch.randn(6 - n)),
    "x: a; y: b",
)
class LargerSize(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        size = max(x.shape[0], y.shape[0])  # <- here
        return torch.zeros(size) + x.sum()


@reported(
    "https://github.com/pytorch/pytorch/issues/153411",
    lambda n: (torch.randn(3), 0.5),
)
class ScaledByFloat(nn.Module):
    def forward(self, x: Tensor, scale: float) -> Tensor:
        return x * torch.tensor([scale])


@reported(
    "https://github.com/pytorch/pytorch/issues/119321",
    lambda n: (torch.arange(9 + n), torch.tensor([1, 2, 3])),
    "values: total; lengths: parts",
)
class JaggedRows(nn.Module):
    def forward(self, values: Tensor, lengths: Tensor) -> Tensor:
        ends = lengths.cumsum(0)
        first = values[int(ends[0]) : int(ends[1])]
        return first.sum() + values


@reported(
    "https://github.com/pytorch/vision/issues/9306",
    lambda n: (torch.rand(3, 10 + 7 * n, 12 + 5 * n),),
    "image: _, h, w",
)
class BatchedTo32(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        height = int(math.ceil(float(image.shape[-2]) / 8) * 8)  # <- here
        width = int(math.ceil(float(image.shape[-1]) / 8) * 8)  # <- here
        out = image.new_full((1, 3, height, width), 0.0)
        out[0, :, : image.shape[-2], : image.shape[-1]].copy_(image)
        return out


@reported(
    "https://github.com/pytorch/vision/issues/9462",
    lambda n: (torch.rand(1, 3, 12 + 4 * n, 16 + 2 * n), torch.rand(5, 4) * 20),
    "image: _, _, h, w; boxes: _, _",
)
class ClipsBoxes(nn.Module):
    def forward(self, image: Tensor, boxes: Tensor) -> Tensor:
        size = torch.tensor([image.shape[-1], image.shape[-2]] * 2, dtype=boxes.dtype)  # <- here
        return torch.minimum(boxes.clamp(min=0), size)


@reported(
    "https://github.com/pytorch/pytorch/issues/144907",
    lambda n: (5, 4, torch.tensor([8.0, 16.0 + n, 32.0])),
)
class StrideTensor(nn.Module):
    def forward(self, h: int, w: int, strides: Tensor) -> Tensor:
        made = [torch.full((h * w, 1), stride) for stride in strides]
        return torch.cat(made)


@reported(
    "https://github.com/pytorch/pytorch/issues/142167",
    lambda n: (torch.randn(1, 2, 4, 4), 8),
    {"x": None, "size": Dim.DYNAMIC},
)
class ResizedToNumber(nn.Module):
    def forward(self, x: Tensor, size: int) -> Tensor:
        return F.interpolate(x, size=(size, size), mode="nearest")


@reported(
    "https://github.com/huggingface/optimum/issues/2320",
    lambda n: (torch.randn(2, 12 + 4 * n, 4),),
    "features: batch, frames, _",
)
class FixedPositions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.randn(6, 4))
        self.conv = nn.Conv1d(4, 4, 3, 2, 1)

    def forward(self, features: Tensor) -> Tensor:
        x = self.conv(features.transpose(1, 2)).transpose(1, 2)
        return x + self.positions  # <- here


@reported(
    "https://github.com/pytorch/pytorch/pull/149288",
    lambda n: (torch.randn(3, 4),),
)
class SumsInNumpy(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        total = np.sum(x.numpy(), axis=1)  # <- here
        return x + torch.from_numpy(total)[:, None]


@reported(
    "https://github.com/pytorch/pytorch/issues/151094",
    lambda n: (torch.randn(3 + n, 6), torch.randn(3, 6)),
    {"x": {0: Dim.AUTO}, "gate": {0: Dim.AUTO}},
)
class GatedBatch(nn.Module):
    def forward(self, x: Tensor, gate: Tensor) -> Tensor:
        return (x[: gate.shape[0]] * gate).sum() + x


@reported(
    "https://github.com/microsoft/onnxscript/issues/1883",
    lambda n: (torch.randn(1, 2, 5 + n, 4, 3),),
    "a: _, _, frames, _, _",
)
class JoinsLastTwo(nn.Module):
    def forward(self, a: Tensor) -> Tensor:
        from einops import rearrange

        return rearrange(a, "... c x -> ... (c x)")


@reported(
    "https://github.com/pytorch/pytorch/issues/174784",
    lambda n: (torch.randn(2, 6 + 2 * n, 4),),
    "x: _, seq, _",
)
class WrongPattern(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        from einops import rearrange

        return rearrange(x, "b (n two) c -> b n (two c)", two=2)  # <- here


@reported(
    "https://github.com/huggingface/transformers/issues/26790",
    lambda n: (torch.randn(1, 3, 42 + 14 * n, 28 + 28 * n),),
    "image: _, _, h, w",
)
class PositionsByScale(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 4, 7, 7)
        self.positions = nn.Parameter(torch.randn(1, 16, 4))

    def resized(self, height: int, width: int) -> Tensor:
        side = int(math.sqrt(self.positions.shape[1]))
        grid = self.positions.reshape(1, side, side, -1).permute(0, 3, 1, 2)
        down, across = (height + 0.1) / side, (width + 0.1) / side
        grid = F.interpolate(grid, scale_factor=(down, across), mode="bicubic")  # <- here
        return grid.permute(0, 2, 3, 1).reshape(1, -1, 4)

    def forward(self, image: Tensor) -> Tensor:
        found = self.patches(image).flatten(2).transpose(1, 2)
        return found + self.resized(image.shape[2] // 7, image.shape[3] // 7)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/96449",
    lambda n: (torch.randn(2 + n, 1, 8 + 2 * n, 6 + n),),
    "image: batch, _, h, w",
)
class SpatialTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.locate = nn.Linear(1, 6)

    def forward(self, image: Tensor) -> Tensor:
        theta = self.locate(image.mean((2, 3))).view(-1, 2, 3)
        grid = F.affine_grid(theta, image.size(), align_corners=False)  # <- here
        return F.grid_sample(image, grid, align_corners=False)


@reported(
    "https://github.com/JiaweiWang-AI/Pyramid-Attention-Networks-pytorch/issues/3",
    lambda n: (torch.randn(2, 4, 8 + 2 * n, 6 + n),),
    "image: _, _, h, w",
)
class PooledWhole(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        whole = nn.AvgPool2d(image.shape[2:])(image)  # <- here
        return image * torch.sigmoid(whole)

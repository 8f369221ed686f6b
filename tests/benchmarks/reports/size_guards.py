"""Wanted dynamic sizes that the code constrains: guards, divisions, paddings, broadcasts."""

from __future__ import annotations

import torch
from torch import nn
from torch.export import Dim

from .case import reported

Tensor = torch.Tensor
F = nn.functional


@reported(
    "https://github.com/pytorch/pytorch/issues/134137",
    lambda n: (torch.randn(7 + n, 4), torch.tensor([0, 1, 2, 0, 1, 2, 2, 1, 0][: 7 + n])),
    "source: edges, _; index: edges",
)
class ScatterToLargest(nn.Module):
    def forward(self, source: Tensor, index: Tensor) -> Tensor:
        rows = int(index.max()) + 1
        out = torch.zeros(rows, source.shape[1])
        return out.index_add(0, index, source)


@reported(
    "https://github.com/chemprop/chemprop/pull/1379",
    lambda n: (torch.randn(3 + n, 4), torch.tensor([[0, 1, 2, 1], [1, 2, 0, 0]])),
    "atoms: atoms, _; bonds: _, _",
)
class BondMessages(nn.Module):
    def forward(self, atoms: Tensor, bonds: Tensor) -> Tensor:
        sent = atoms[bonds[0]]
        out = torch.zeros(len(atoms), 4)  # <- here
        return out.index_add(0, bonds[1], sent)


@reported(
    "https://github.com/pytorch/pytorch/issues/146315",
    lambda n: (torch.randn(2, 3 + n), torch.randn(2, 5 + n), torch.randn(2, 16 + 4 * n)),
    "x: batch, dx; y: batch, dy; z: batch, dz",
)
class EverySecond(nn.Module):
    def forward(self, x: Tensor, y: Tensor, z: Tensor) -> Tensor:
        return torch.cat((x, y), dim=1) + z[:, ::2]  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/176349",
    lambda n: (torch.randn(1 + n, 8),),
    ({0: Dim("batch", min=1, max=32)},),
)
class LeastExample(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x @ x.T)


@reported(
    "https://github.com/pytorch/pytorch/issues/133653",
    lambda n: (torch.randn(1 + n, 3, 8, 8),),
    {"x": {0: Dim("batch", max=10)}},
)
class BatchOfOne(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.AdaptiveAvgPool2d(1))

    def forward(self, x: Tensor) -> Tensor:
        return self.stem(x).flatten(1)


@reported(
    "https://github.com/Samsung/TICO/issues/248",
    lambda n: (torch.randn(3 + n, 2, 4),),
    {"x": {0: Dim("batch", max=128)}},
)
class ListOfRows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        rows = [row.reshape(-1) for row in x]  # <- here
        return torch.stack(rows)


@reported(
    "https://github.com/pytorch/pytorch/issues/140011",
    lambda n: (torch.ones(2, 6 + n, dtype=torch.long), torch.ones(2, 6 + n)),
    "input_ids: _, seq; mask: _, mask_len",
)
class MaskIsAsLong(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 4)

    def forward(self, input_ids: Tensor, mask: Tensor) -> Tensor:
        if mask.shape != input_ids.shape:  # <- here
            raise ValueError("the mask and the ids differ in shape")
        return self.embed(input_ids) * mask[..., None]


@reported(
    "https://github.com/pytorch/pytorch/issues/126127",
    lambda n: (torch.randn(4, 6 + n, 2),),
    "x: batch, x1, x2",
)
class SoftmaxOfRows(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return F.softmax(x.view(x.size(1), -1), dim=0)


@reported(
    "https://github.com/pytorch/pytorch/issues/126607",
    lambda n: (torch.ones(2, 8 + 3 * n, dtype=torch.long),),
    "ids: batch, seq",
)
class BoundedPositions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("positions", torch.arange(16)[None])
        self.embed = nn.Embedding(16, 4)

    def forward(self, ids: Tensor) -> Tensor:
        at = self.positions[:, : ids.shape[1]]  # <- here
        return self.embed(at) + ids[..., None]


@reported(
    "https://github.com/pytorch/executorch/issues/1379",
    lambda n: (torch.randn(10 + n, 7, 2), torch.randn(10 + n, 7, 2)),
    "x: batch, _, _; mask: rows, _, _",
)
class AssertsBatch(nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        assert x.size(0) == mask.size(0)  # <- here
        return (x * mask).view(x.size(0), -1)


@reported(
    "https://github.com/pytorch/executorch/issues/9714",
    lambda n: (torch.randn(1, 70 + 33 * n, 4), torch.randn(1, 5 + n, 4)),
    "x: _, x_seq[3..1024], _; y: _, y_seq[1..255], _",
)
class Chunked32(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        chunks = x.shape[1] // 32
        pooled = x[:, : chunks * 32].reshape(1, chunks, 32, 4).mean(2)  # <- here
        return torch.cat([pooled, y], 1)


@reported(
    "https://github.com/pytorch/pytorch/issues/131897",
    lambda n: (torch.rand(1, 1, 32 + 8 * n, 32 + 8 * n), torch.rand(1, 1, 32 + 8 * n, 32 + 8 * n)),
    {"x": {2: (d := Dim("size", min=16, max=64)), 3: d}, "y": {2: d, 3: d}},
)
class DownAndUp(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = F.interpolate(x, scale_factor=0.5, mode="bilinear")
        x = F.interpolate(x, scale_factor=2.0, mode="bilinear")
        return x + y  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/144852",
    lambda n: (torch.randn(2, 4, 16 + 4 * n, 12 + 4 * n),),
    "latent: batch, _, height, width",
)
class Patchified(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(4, 8, 2, 2)

    def forward(self, latent: Tensor) -> Tensor:
        height, width = latent.shape[-2] // 2, latent.shape[-1] // 2
        x = self.patch(latent).flatten(2).transpose(1, 2)
        x = x.reshape(x.shape[0], height, width, 2, 2, 2)
        x = torch.einsum("nhwpqc->nchpwq", x)
        return x.reshape(x.shape[0], 2, height * 2, width * 2) + latent[:, :2]  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/124507",
    lambda n: (torch.randn(1, 3, 32 + n, 16),),
    ({2: Dim("height", min=16, max=64)},),
)
class StridedTwice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Conv2d(3, 4, 3, 2, 1)
        self.two = nn.Conv2d(4, 4, 3, 2, 1)
        self.skip = nn.Conv2d(4, 4, 1, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.one(x)
        return self.two(x) + self.skip(x)


@reported(
    "https://github.com/pytorch/pytorch/issues/136216",
    lambda n: (torch.randn(1, 1, 16 + 5 * n, 16),),
    "inputs: _, _, height[8..64], _",
)
class PadsToEight(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1)

    def forward(self, inputs: Tensor) -> Tensor:
        missing = (8 - inputs.shape[-2] % 8) % 8
        if missing:  # <- here
            inputs = F.pad(inputs, (0, 0, 0, missing))
        return self.conv(inputs)


@reported(
    "https://github.com/pytorch/pytorch/issues/181097",
    lambda n: (torch.randn(5 * (4 - n)), torch.randn(4 - n)),
    {"x": {0: 5 * (b := Dim("batch", min=1, max=8))}, "y": {0: b}},
)
class FiveRows(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        rows = x.view(5, -1)
        return torch.stack([rows[i] - y for i in range(5)])


@reported(
    "https://github.com/pytorch/pytorch/issues/134663",
    lambda n: (torch.randn(3 + n),),
    {"x": {0: Dim("shape", min=1, max=9)}},
)
class ThreeChunks(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return torch.chunk(x, 3, 0)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/139408",
    lambda n: (torch.ones(4, 4), torch.rand(*[(2, 8), (4, 4), (8, 2)][n])),
    {"x": None, "y": {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}},
)
class ReshapedToOther(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y.reshape(x.shape)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/120288",
    lambda n: (torch.randn(3, 6 + n, 7), 2),
    "image: _, h, w; more: _",
)
class PadsByCopy(nn.Module):
    def forward(self, image: Tensor, more: int) -> Tensor:
        out = torch.zeros(image.shape[0], image.shape[1] + more, image.shape[2] + more)
        out.narrow(1, 0, image.shape[1]).narrow(2, 0, image.shape[2]).copy_(image)
        return out


@reported(
    "https://github.com/pytorch/executorch/issues/3636",
    lambda n: (torch.randn(1, 3 + n), torch.randn(1, 3 + n)),
    "x: _, size[1..10]; y: _, size",
)
class AddsSameSize(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


@reported(
    "https://github.com/pytorch/pytorch/issues/135087",
    lambda n: (torch.randn(2, 640 + 100 * n),),
    "signals: batch, time",
)
class Spectrogram(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))

    def forward(self, signals: Tensor) -> Tensor:
        found = signals.stft(64, 16, 64, self.window, return_complex=True, pad_mode="constant")
        return found.abs()

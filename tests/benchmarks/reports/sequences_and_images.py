"""Sequences and images of any size: predicted lengths, paddings, tables and shortcuts."""

from __future__ import annotations

import math
import random

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor
F = nn.functional


@reported(
    "https://github.com/OHF-Voice/piper1-gpl/issues/148",
    lambda n: (torch.randn(1, 4, 5), torch.tensor([[1, 2, 1, 2, 1 + n]])),
)
class PredictedLength(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv1d(4, 4, 3, padding=1)

    def forward(self, x: Tensor, durations: Tensor) -> Tensor:
        length = torch.clamp_min(durations.sum(), 1).long()
        steps = torch.arange(int(length.item()))
        ends = durations.cumsum(-1)[0]
        at = (steps[:, None] >= ends[None, :]).sum(-1).clamp(max=4)
        return self.conv(x[:, :, at])


@reported(
    "https://github.com/pytorch/TensorRT/issues/3964",
    lambda n: (torch.randn(1 + n, 6 + n, 16),),
    "x: batch, seq, _",
)
class GroupedAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q, self.kv = nn.Linear(16, 16), nn.Linear(16, 8)

    def forward(self, x: Tensor) -> Tensor:
        b, s, _ = x.shape
        q = self.q(x).view(b, s, 4, 4).transpose(1, 2)
        k = self.kv(x).view(b, s, 2, 4).transpose(1, 2).repeat_interleave(2, dim=1)
        return F.scaled_dot_product_attention(q, k, k, is_causal=s > 1)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/127153",
    lambda n: (torch.randn(6, 4), torch.tensor([2, 1 + n, 3 - n])),
)
class PadsSequences(nn.Module):
    def forward(self, x: Tensor, sizes: Tensor) -> Tensor:
        parts = torch.split(x, sizes.tolist())
        return nn.utils.rnn.pad_sequence(list(parts), batch_first=True)  # <- here


@reported(
    "https://github.com/facebookresearch/detectron2/issues/5347",
    lambda n: ([torch.randn(3, 24, 20), torch.randn(3, 18, 24)],),
)
class PadsImages(nn.Module):
    def forward(self, images: list[Tensor]) -> Tensor:
        sizes = [torch.as_tensor(image.shape[-2:]) for image in images]
        most = torch.stack(sizes).max(0).values
        most = (most + 7).div(8, rounding_mode="floor") * 8
        out = []
        for image, size in zip(images, sizes, strict=True):
            pad = [0, int(most[-1] - size[1]), 0, int(most[-2] - size[0])]  # <- here
            out.append(F.pad(image, pad))
        return torch.stack(out)


@reported(
    "https://github.com/pytorch/executorch/issues/9486",
    lambda n: (torch.randn(1, 7, 9), torch.tensor([[1, 1, min(n, 1), 1, 0, 0]])),
)
class AcceptedLogits(nn.Module):
    def forward(self, logits: Tensor, accepted: Tensor) -> Tensor:
        length = accepted.cumprod(1).sum(1).max().item()
        return logits[0, int(length)]


@reported(
    "https://github.com/huggingface/transformers/pull/24434",
    lambda n: (torch.randn(2, 4),),
)
class LayerDrop(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            dropped = random.uniform(0, 1) < 0.1
            if not (self.training and dropped):
                x = layer(x)
        return x


@reported(
    "https://github.com/pytorch/pytorch/issues/108830",
    lambda n: (torch.rand(2, 12 + 5 * n),),
    "scores: _, anchors",
)
class TopOfMany(nn.Module):
    def forward(self, scores: Tensor) -> Tensor:
        count = min(20, scores.shape[1])
        return scores.topk(count, dim=1)[0]  # <- here


@reported(
    "https://github.com/huggingface/transformers/pull/33226",
    lambda n: (torch.rand(2, 3, 16 + 8 * n, 24 + 8 * n),),
    "image: _, _, h, w",
)
class InterpolatesPositions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, 4)
        self.positions = nn.Parameter(torch.randn(1, 16, 8))

    def resized(self, height: int, width: int) -> Tensor:
        side = int(math.sqrt(self.positions.shape[1]))
        if height == side and width == side:
            return self.positions
        grid = self.positions.reshape(1, side, side, -1).permute(0, 3, 1, 2)
        grid = F.interpolate(grid, size=(height, width), mode="bicubic")  # <- here
        return grid.permute(0, 2, 3, 1).reshape(1, -1, 8)

    def forward(self, image: Tensor) -> Tensor:
        height, width = image.shape[-2] // 4, image.shape[-1] // 4
        return self.patches(image).flatten(2).transpose(1, 2) + self.resized(height, width)


@reported(
    "https://github.com/microsoft/onnxscript/issues/2539",
    lambda n: (torch.randn(1, 3, 70 + 13 * n, 90 + 7 * n),),
    "image: _, _, h[64..128], w[64..128]",
)
class PadsToMultiples(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(4, 3, 2, stride=2)

    def forward(self, image: Tensor) -> Tensor:
        h, w = image.shape[2:]
        padded = F.pad(image, (0, (64 - w % 64) % 64, 0, (64 - h % 64) % 64), mode="replicate")
        y = F.interpolate(F.max_pool2d(self.down(padded), 2), scale_factor=2, mode="nearest")
        return self.up(y)[:, :, :h, :w]  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/171673",
    lambda n: (torch.randn(2, 1600 + 160 * n),),
    "wave: _, time",
)
class SpectrogramThenConv(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(320))
        self.conv = nn.ConvTranspose2d(2, 3, 3, padding=1)

    def forward(self, wave: Tensor) -> Tensor:
        window = self.window
        y = torch.stft(wave, 512, 160, 320, window, pad_mode="constant", return_complex=True)
        return self.conv(torch.view_as_real(y).permute(0, 3, 1, 2))

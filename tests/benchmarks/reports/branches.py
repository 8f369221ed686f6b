"""Branches, asserts and checks on the values of tensors."""

from __future__ import annotations

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor


def _signed(n: int, *shape: int) -> tuple[Tensor, ...]:
    return (torch.randn(*shape).abs() * (-1) ** n,)


@reported("https://github.com/pytorch/pytorch/issues/93579", lambda n: _signed(n, 3, 4))
class TwoPaths(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:  # <- here
            return x.sin() + 1
        return x.cos() - 1


@reported(
    "https://github.com/pytorch/pytorch/issues/163791",
    lambda n: (torch.arange(6 + 8 * n)[None], torch.randn(1, 6 + 8 * n, 4)),
    "position_ids: _, seq; x: _, seq, _",
)
class LongRope(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("short", torch.rand(2))
        self.register_buffer("long", torch.rand(2) / 4)

    def forward(self, position_ids: Tensor, x: Tensor) -> Tensor:
        length = position_ids.max() + 1
        if length > 8:  # <- here
            inverse = self.long
        else:
            inverse = self.short
        angle = position_ids[..., None] * inverse
        return x * torch.cat([angle.cos(), angle.sin()], -1)


@reported(
    "https://github.com/pytorch/pytorch/issues/157355",
    lambda n: (torch.randn(2, 4),),
)
class FakeQuantized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("observing", torch.tensor([1], dtype=torch.uint8))
        self.register_buffer("scale", torch.tensor(0.1))

    def forward(self, x: Tensor) -> Tensor:
        if self.observing[0] == 1:  # <- here
            scale = x.detach().abs().max() / 127
        else:
            scale = self.scale
        return torch.round(x / scale) * scale


@reported(
    "https://github.com/pytorch/pytorch/issues/153955",
    lambda n: (torch.randn(2, 5, 4), torch.arange(5).expand(2, 5) < 5 - n),
)
class PaddedDecoder(nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        if not mask.all():  # <- here
            x = x.masked_fill(~mask[..., None], 0.0)
        return x.cumsum(1)


@reported(
    "https://github.com/pytorch/pytorch/issues/134616",
    lambda n: (torch.tensor([1.0, float("nan") if n == 1 else 2.0, 3.0]),),
)
class CleansNan(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.isnan(x).any():  # <- here
            x = torch.nan_to_num(x)
        return x * 2


@reported(
    "https://github.com/pytorch/executorch/issues/12732",
    lambda n: (torch.randn(2, 3, 8), torch.tensor([[1, 0, -1 if n == 1 else 1], [1, 1, 1]])),
)
class PointPrompts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.none = nn.Parameter(torch.randn(8))

    def forward(self, points: Tensor, labels: Tensor) -> Tensor:
        padded = labels == -1
        if padded.any():  # <- here
            points = torch.where(padded[..., None], self.none, points)
        return points.sum(1)


@reported(
    "https://github.com/pytorch/pytorch/issues/145970",
    lambda n: (torch.arange(4.0) + n,),
)
class SameAsBefore(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("before", torch.arange(4.0))

    def forward(self, x: Tensor) -> Tensor:
        if torch.equal(self.before, x):  # <- here
            return x * x
        return x


@reported(
    "https://github.com/pytorch/pytorch/issues/147096",
    lambda n: (torch.tensor([7, 1, 7, 2 + n]), torch.randn(4, 3), torch.randn(2, 3)),
)
class ImageTokens(nn.Module):
    def forward(self, ids: Tensor, embedded: Tensor, image: Tensor) -> Tensor:
        special = (ids == 7)[:, None].expand_as(embedded)
        if embedded[special].numel() != image.numel():  # <- here
            raise ValueError("image tokens and image features do not match")
        return embedded.masked_scatter(special, image)


@reported(
    "https://github.com/pytorch/pytorch/issues/118884",
    lambda n: (torch.tensor([[0.0, 0.0, 2.0 + n, 3.0], [1.0, 1.0, 4.0, 5.0]]),),
)
class DegenerateBoxes(nn.Module):
    def forward(self, boxes: Tensor) -> Tensor:
        bad = boxes[:, 2:] <= boxes[:, :2]
        if bad.any():  # <- here
            raise ValueError(f"All boxes must have a positive size, got {boxes[bad.any(1)]}")
        return (boxes[:, 2:] - boxes[:, :2]).prod(1)


@reported(
    "https://github.com/pytorch/pytorch/issues/146152",
    lambda n: (torch.rand(6, 4), torch.rand(6) - 0.5 * n),
)
class MaybeNoBoxes(nn.Module):
    def forward(self, boxes: Tensor, scores: Tensor) -> Tensor:
        boxes = boxes[scores > 0.3]
        if boxes.numel() == 0:  # <- here
            return torch.empty(0, 4)
        return boxes + boxes.max()


@reported(
    "https://github.com/pytorch/pytorch/issues/135618",
    lambda n: (torch.randn(20) - n,),
)
class FewEnough(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        found = torch.where(x > 0)[0]
        if found.numel() < 200:  # <- here
            return x[found] + 2
        return x[found]


@reported(
    "https://github.com/pytorch/pytorch/issues/143222",
    lambda n: (torch.randn(8), torch.tensor(3 - 2 * n)),
)
class NegativeStart(nn.Module):
    def forward(self, x: Tensor, start: Tensor) -> Tensor:
        first = start.item()
        if first < 0:  # <- here
            first = first + x.shape[0]
        return x.roll(1) + first


@reported(
    "https://github.com/huggingface/transformers/issues/33842",
    lambda n: (torch.randn(2, 8),),
)
class NeedsDecoderInput(nn.Module):
    def forward(self, features: Tensor, decoder_ids: Tensor | None = None) -> Tensor:
        if decoder_ids is None:
            raise ValueError("You have to specify decoder_ids")  # <- here
        return features.sum() + decoder_ids


@reported(
    "https://github.com/pytorch/pytorch/issues/135061",
    lambda n: (torch.randn(2, 4), torch.rand(2, 4) + 0.1),
)
class LogProbability(nn.Module):
    def forward(self, mean: Tensor, scale: Tensor) -> Tensor:
        normal = torch.distributions.Normal(mean, scale)  # <- here
        return normal.log_prob(mean + 1)


@reported(
    "https://github.com/huggingface/transformers/pull/43631",
    lambda n: (torch.rand(3) + 3, torch.randn(3), torch.rand(3) + 0.1),
)
class StudentHead(nn.Module):
    def forward(self, df: Tensor, loc: Tensor, scale: Tensor) -> Tensor:
        return torch.distributions.StudentT(df, loc, scale).mean  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/155550",
    lambda n: (torch.randn(1, 3, 16 + 8 * n, 24 + 8 * n),),
    "image: _, _, h, w",
)
class EighthFlow(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        height, width = image.shape[-2:]
        if not (height % 8 == 0 and width % 8 == 0):  # <- here
            raise ValueError(f"height and width must be divisible by 8, got {height}, {width}")
        return nn.functional.avg_pool2d(image, 8)


@reported(
    "https://github.com/pytorch/pytorch/pull/185791",
    lambda n: (torch.randn(9 - 4 * n),),
    "x: seq",
)
class LongOrShort(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[0] > 6:  # <- here
            return x[:6].sum(0, keepdim=True)
        return x.mean(0, keepdim=True)

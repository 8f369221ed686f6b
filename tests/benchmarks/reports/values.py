"""Numbers computed from tensors: slices, sizes, indices, ranges, splits."""

from __future__ import annotations

import math

import torch
from torch import nn

from .case import reported

Tensor = torch.Tensor
F = nn.functional


@reported(
    "https://github.com/pytorch/pytorch/issues/147672",
    lambda n: (torch.randn(5, 4, 8), torch.tensor([True, False, True, n > 0, True])),
)
class AttendsToUseful(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, memory: Tensor, useful: Tensor) -> Tensor:
        kept = memory[useful]
        out = self.attention(kept, kept, kept, need_weights=False)[0]  # <- here
        return memory.index_put((useful,), out)


@reported(
    "https://github.com/pytorch/executorch/issues/8988",
    lambda n: (torch.randn(1, 12, 4), torch.tensor([5 + n])),
)
class AddsPositions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("positions", torch.randn(20, 4))

    def forward(self, x: Tensor, length: Tensor) -> Tensor:
        steps = length.max().item()
        return x[:, : steps - 1] + self.positions[: steps - 1]


@reported(
    "https://github.com/pytorch/pytorch/issues/135632",
    lambda n: (torch.tensor([1, 0, n, 2]), torch.tensor([1, 1, 0])),
)
class LongerOne(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        a, b = x.nonzero(), y.nonzero()
        return torch.zeros(max(a.shape[0], b.shape[0])) + 1  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/158786",
    lambda n: (torch.tensor([[1, 4, 4 + 2 * n]]),),
)
class GridPositions(nn.Module):
    def forward(self, grid: Tensor) -> Tensor:
        made = []
        for t, h, w in grid:
            t, h, w = t.item(), h.item(), w.item()
            rows = torch.arange(h).unsqueeze(1).expand(-1, w)
            rows = rows.reshape(h // 2, 2, w // 2, 2).permute(0, 2, 1, 3).flatten()  # <- here
            made.append(rows.repeat(t))
        return torch.cat(made)


@reported(
    "https://github.com/pytorch/pytorch/issues/128906",
    lambda n: (torch.randn(3, 4), torch.tensor(2 + n)),
)
class CropsTimes(nn.Module):
    def forward(self, x: Tensor, crops: Tensor) -> Tensor:
        parts = [x + k for k in range(int(crops))]  # <- here
        return torch.stack(parts).sum(0)


@reported(
    "https://github.com/pytorch/pytorch/issues/116336",
    lambda n: (torch.tensor(3 + n),),
)
class NoiseOfSize(nn.Module):
    def forward(self, count: Tensor) -> Tensor:
        return torch.ones((4, count)).cumsum(1) * count


@reported(
    "https://github.com/pytorch/pytorch/issues/163146",
    lambda n: (torch.randn(2, 9, 4), torch.tensor([3, 5 + n])),
)
class LastSelected(nn.Module):
    def forward(self, items: Tensor, selected: Tensor) -> Tensor:
        most = torch.max(torch.minimum(selected, torch.tensor(8)))
        return items[:, :most, :] * 2


@reported(
    "https://github.com/pytorch/pytorch/issues/182345",
    lambda n: (torch.randn(5, 3), torch.tensor(2 - n)),
)
class PicksRow(nn.Module):
    def forward(self, x: Tensor, index: Tensor) -> Tensor:
        return x[index] + 1


@reported(
    "https://github.com/pytorch/pytorch/issues/123592",
    lambda n: (torch.randn(10, 3), torch.tensor(5 + n)),
)
class FirstRows(nn.Module):
    def forward(self, x: Tensor, size: Tensor) -> Tensor:
        return x[: size.item()]


@reported(
    "https://github.com/google-ai-edge/litert-torch/issues/168",
    lambda n: (torch.randn(1, 6, 4), torch.tensor([2 + n])),
)
class ChunkAtOffset(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("table", torch.randn(1, 40, 4))

    def forward(self, chunk: Tensor, offset: Tensor) -> Tensor:
        start = offset.item()
        return chunk + self.table[:, start : start + chunk.shape[1]]


@reported(
    "https://github.com/pytorch/pytorch/issues/126685",
    lambda n: (torch.randn(9, 2), torch.tensor([2, 3 + n, 4 - n])),
)
class SplitByList(nn.Module):
    def forward(self, x: Tensor, sizes: Tensor) -> Tensor:
        parts = torch.split(x, sizes.tolist())
        return torch.stack([part.sum(0) for part in parts])


@reported(
    "https://github.com/pytorch/pytorch/issues/119468",
    lambda n: (torch.randn(30), torch.tensor([3, 7 + n, 12])),
)
class OffsetWindows(nn.Module):
    def forward(self, values: Tensor, offsets: Tensor) -> Tensor:
        start, found = 0, []
        for i in range(len(offsets)):
            end = offsets[i].item()
            found.append(torch.narrow(values, 0, start, end - start).sum())
            start = end
        return torch.stack(found)


@reported(
    "https://github.com/pytorch/pytorch/issues/153174",
    lambda n: (torch.tensor([6 + 2 * n]), torch.randn(8)),
    "a: _; b: m",
)
class ViewOfProduct(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        made = torch.ones(a.item(), 18, b.shape[0])
        return made.view(-1, 144)


@reported(
    "https://github.com/pytorch/pytorch/issues/170548",
    lambda n: (torch.arange(10) % (2 + n) == 0,),
    "mask: m",
)
class FractionalBuckets(nn.Module):
    def forward(self, mask: Tensor) -> Tensor:
        edges = torch.arange(0.2, 1.0, 0.2)
        step = 1.0 / mask.sum()
        coords = torch.arange(torch.tensor(0.0), torch.tensor(1 - 1e-6), step)  # <- here
        return torch.bucketize(coords, edges, right=True)


@reported("https://github.com/pytorch/pytorch/issues/169977", lambda n: ())
class BucketOfNumber(nn.Module):
    def forward(self) -> Tensor:
        return torch.bucketize(0, torch.tensor([0, 1]))  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/121000",
    lambda n: (torch.randn(1, 1, 2, 8), torch.randn(1, 16, 2, 8), torch.tensor([4 + n])),
)
class CacheSoFar(nn.Module):
    def forward(self, query: Tensor, cache: Tensor, start: Tensor) -> Tensor:
        end = start.item() + 1
        key = cache[:, :end].transpose(1, 2)
        return F.scaled_dot_product_attention(query.transpose(1, 2), key, key)  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/180202",
    lambda n: (torch.randn(4, 6, 8), torch.tensor([True, n == 0, True, True])),
)
class ImagesThatAreReal(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(8, 8)

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        x = x[real]
        batch, seq, _ = x.shape
        q = self.proj(x).view(batch, seq, 2, 4).transpose(1, 2)
        mask = torch.ones(batch, 1, seq, seq, dtype=torch.bool)
        return F.scaled_dot_product_attention(q, q, q, attn_mask=mask)  # <- here


@reported(
    "https://github.com/huggingface/transformers/issues/34390",
    lambda n: (torch.randn(1, 20, 4), torch.tensor([[4, 4], [2, 2]])),
)
class LevelsOfFeatures(nn.Module):
    def forward(self, x: Tensor, shapes: Tensor) -> Tensor:
        sizes = [h * w for h, w in shapes]
        levels = torch.split(x, sizes, dim=1)  # <- here
        return sum(level.mean(1) for level in levels)


@reported(
    "https://github.com/pytorch/pytorch/issues/115209",
    lambda n: (torch.tensor([2.5 + n]),),
)
class CeilOfItem(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return torch.tensor([math.ceil(x.item())]), torch.tensor([math.floor(x.item())])


@reported(
    "https://github.com/pytorch/pytorch/issues/141551",
    lambda n: (torch.randn(2, 7, 4), torch.tensor([5, 7])),
)
class MaskFromLengths(nn.Module):
    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        most = int(torch.max(lengths).item())
        mask = torch.arange(most)[None] >= lengths[:, None]
        return x.masked_fill(mask[..., None], 0.0)


@reported(
    "https://github.com/apple/coremltools/issues/2183",
    lambda n: (torch.randn(2, 10), torch.rand(10) + 0.2 * n),
)
class BoolColumns(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x[:, y > 0.5]


@reported(
    "https://github.com/pytorch/pytorch/issues/91990",
    lambda n: (torch.randn(6, 1, 4), torch.tensor([0, 1, 0, 1, n, 0])),
)
class FlipsSome(nn.Module):
    def forward(self, images: Tensor, right: Tensor) -> Tensor:
        images = images.clone()
        chosen = right == 1
        images[chosen] = images[chosen].flip(-1)
        return images


@reported(
    "https://github.com/pytorch/pytorch/issues/96679",
    lambda n: (torch.eye(4)[torch.tensor([1, 0, 2])], torch.randn(3, 4)),
)
class HotIndices(nn.Module):
    def forward(self, hot: Tensor, x: Tensor) -> Tensor:
        columns = hot.nonzero()[:, 1]
        return x + columns[:, None]  # <- here


@reported(
    "https://github.com/pytorch/pytorch/issues/108805",
    lambda n: (torch.rand(2, 40) - 0.2 * n,),
)
class BestFew(nn.Module):
    def forward(self, logits: Tensor) -> Tensor:
        scores = logits.flatten()
        scores = scores[scores > 0.2]
        count = min(10, scores.shape[0])  # <- here
        return scores.topk(count)[0]

"""Cases of size branches."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from ..case import NON_STRICT, add, case


class Crops(nn.Module):
    """Padded rows take part in the softmax, so that padding must be by what is missing."""

    def __init__(self, branch: bool) -> None:
        super().__init__()
        self.branch = branch

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[1]
        if self.branch:
            padded = x
            if n % 4:
                padded = functional.pad(x, (0, 0, 0, 4 - n % 4))
        else:
            padded = functional.pad(x, (0, 0, 0, -n % 4))
        padded = padded.softmax(1)
        return padded[:, :n]


add(
    "crops",
    lambda: Crops(True),
    "x: b, n, _",
    lambda: (torch.randn(2, 6, 3),),
    lambda: (torch.randn(3, 2, 3),),
    lambda: (torch.randn(3, 4, 3),),
    lambda: (torch.randn(3, 7, 3),),
    lambda: (torch.randn(3, 8, 3),),
    modes=NON_STRICT,
)

add(
    "crops-2",
    lambda: Crops(False),
    "x: b, n, _",
    lambda: (torch.randn(2, 6, 3),),
    lambda: (torch.randn(3, 2, 3),),
    lambda: (torch.randn(3, 4, 3),),
    lambda: (torch.randn(3, 7, 3),),
    lambda: (torch.randn(3, 8, 3),),
    modes=NON_STRICT,
)


@case(
    "image: b, _, h, w",
    lambda: (torch.randn(2, 3, 33, 41),),
    lambda: (torch.randn(2, 3, 32, 48),),
    lambda: (torch.randn(2, 3, 16, 17),),
    eval_mode=True,
    modes=NON_STRICT,
)
class CropsWhatIsStrided(nn.Module):
    """The size of a strided convolution is more than a Dim can prove something of."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, 2, 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        h, w = image.shape[-2:]
        padded = functional.pad(image, (0, -w % 16, 0, -h % 16))
        small = self.conv(padded)
        return functional.interpolate(small, size=padded.shape[-2:])[..., :h, :w]


def in_blocks(x: torch.Tensor) -> torch.Tensor:
    """Rows in blocks of four, the last one padded: as a helper that `forward` calls."""
    if x.shape[1] % 4 != 0:
        x = functional.pad(x, (0, 0, 0, -x.shape[1] % 4))
    return x.reshape(x.shape[0], x.shape[1] // 4, 4, x.shape[2])


@case(
    "x: b, n, _",
    lambda: (torch.randn(2, 11, 3),),
    lambda: (torch.randn(3, 5, 3),),
    lambda: (torch.randn(3, 8, 3),),
    lambda: (torch.randn(3, 12, 3),),
    lambda: (torch.randn(3, 13, 3),),
    modes=NON_STRICT,
)
class AttendsInBlocks(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, n, width = x.shape
        return in_blocks(x).softmax(2).reshape(batch, -1, width)[:, :n]


@case(
    "x: batch, time",
    lambda: (torch.randn(2, 24),),
    lambda: (torch.randn(3, 6),),
    lambda: (torch.randn(3, 10),),
    lambda: (torch.randn(3, 15),),
    lambda: (torch.randn(3, 23),),
)
class FillsAPaddedTensor(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        blocks = (x.size(1) + 4) // 5
        padded = torch.full((x.size(0), blocks * 5), float("-inf"), dtype=x.dtype)
        padded[:, : x.size(1)] = x
        return padded.view(-1, blocks, 5).max(-1)[0]


def in_fours(x: torch.Tensor) -> torch.Tensor:
    """Each four rows have a softmax of their own."""
    return x.unflatten(1, (-1, 4)).softmax(2).flatten(1, 2)


@case("x: b, n, _", lambda: (torch.randn(2, 10, 3),), modes=NON_STRICT)
class ChoosesWhatIsCropped(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest = x.shape[1] % 4
        missing = 4 - rest if rest else 0
        x = in_fours(functional.pad(x, (0, 0, 0, missing)))
        return x[..., :-missing, :] if missing else x


@case("x: b, n, _", lambda: (torch.randn(2, 10, 3),), modes=NON_STRICT)
class ReturnsEarly(nn.Module):
    """As ConvTasNet aligns what it is given with its strides."""

    def align(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        rest = x.shape[1] - (x.shape[1] - 1) // 4 * 4 - 1
        if rest == 0:
            return x, 0
        missing = 4 - rest
        return torch.cat([x, x.new_zeros(x.shape[0], missing, 3)], 1), missing

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x, missing = self.align(x)
        x = x.cumsum(1) * x.shape[1]
        if missing > 0:
            x = x[:, :-missing]
        return x


@case("x: b, _, h, w", lambda: (torch.randn(2, 3, 13, 10),), modes=NON_STRICT)
class PadsWindows(nn.Module):
    """As Swin does; one branch is on both sizes."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, c, h, w = x.shape
        right, below = (4 - w % 4) % 4, (4 - h % 4) % 4
        if right > 0 or below > 0:
            x = functional.pad(x, (0, right, 0, below))
        h_padded, w_padded = x.shape[2:]
        x = x.view(b, c, h_padded // 4, 4, w_padded // 4, 4).softmax(3).view(*x.shape)
        if right > 0 or below > 0:
            x = x[:, :, :h, :w].contiguous()
        return x


class Pads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest = x.shape[0] % 4
        if rest:
            x = functional.pad(x, (0, 4 - rest))
        return x.reshape(-1, 4)


add("pads", lambda: Pads(), "x: n", lambda: (torch.ones(9),), modes=NON_STRICT)

add("pads-2", lambda: Pads(), "x: n", lambda: (torch.rand(9),), modes=NON_STRICT)


@case("x: n", lambda: (torch.rand(9),), modes=NON_STRICT)
class TwoWays(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.shape[0] > 6:
            return x.softmax(0)
        return x.sigmoid()


@case("x: n", lambda: (torch.rand(9),), modes=NON_STRICT)
class Clamps(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = x.shape[0]
        if n > 6:
            n = 6
        return x / n


@case(
    "x: _, _, h, w",
    lambda: (torch.rand(1, 2, 16, 24),),
    lambda: (torch.rand(1, 2, 16, 16),),
    lambda: (torch.rand(1, 2, 24, 16),),
    lambda: (torch.rand(1, 2, 9, 30),),
    modes=NON_STRICT,
)
class Resized(nn.Module):
    """A table that is taken as it is where it has the size of the image, and else resized."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.rand(1, 2, 4, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, w = x.shape[-2] // 4, x.shape[-1] // 4
        return nn.functional.avg_pool2d(x, 4) + self.of(h, w)

    def of(self, h: int, w: int) -> torch.Tensor:
        if h == 4 and w == 4:
            return self.table
        return nn.functional.interpolate(self.table, (h, w), mode="bicubic")


@case(
    "x: _, _, h, w",
    lambda: (torch.rand(1, 2, 16, 24),),
    lambda: (torch.rand(1, 2, 16, 16),),
    lambda: (torch.rand(1, 2, 24, 16),),
    lambda: (torch.rand(1, 2, 9, 30),),
    modes=NON_STRICT,
)
class ResizedElse(Resized):
    """The same with an `else`."""

    def of(self, h: int, w: int) -> torch.Tensor:
        if (h, w) == (4, 4):
            found = self.table
        else:
            found = nn.functional.interpolate(self.table, (h, w), mode="bicubic")
        return found


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 21, 3),),
    lambda: (torch.randn(3, 5, 3),),
    lambda: (torch.randn(3, 8, 3),),
    lambda: (torch.randn(3, 12, 3),),
    lambda: (torch.randn(3, 22, 3),),
)
class PadsAttendsAndCrops(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        size = x.shape[1]
        x = functional.pad(x, (0, 0, 0, (4 - size) % 4))
        y = x.unflatten(1, (-1, 4))[:, :, ::2].cumsum(2)
        out = torch.zeros_like(x).unflatten(1, (-1, 4))
        out[:, :, ::2] = y
        return out.flatten(1, 2)[:, :size]


@case("x: batch, h, w", lambda: (torch.randn(2, 30, 45),), modes=NON_STRICT)
class PadsBothSides(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        _, h, w = x.shape
        if h % 4 != 0:
            x = functional.pad(x, (0, 0, 0, 4 - h % 4))
        if w % 4 != 0:
            x = functional.pad(x, (0, 4 - w % 4))
        return x.unflatten(1, (-1, 4)).unflatten(3, (-1, 4)).mean((2, 4))


@case(
    "x: batch, time, _",
    lambda: (torch.randn(2, 5, 4),),
    lambda: (torch.randn(3, 8, 4),),
    lambda: (torch.randn(1, 9, 4),),
    modes=NON_STRICT,
)
class PadsByJoining(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rest = x.shape[1] % 4
        if rest != 0:
            x = torch.cat([x, torch.zeros(x.shape[0], 4 - rest, x.shape[2])], dim=1)
        return x.reshape(x.shape[0], x.shape[1] // 4, 16).cumsum(1)

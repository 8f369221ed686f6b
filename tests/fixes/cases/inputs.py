"""Cases of inputs."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ..case import NON_STRICT, add, case


class Layer:
    __slots__ = ("__hidden", "steps", "values")

    def __init__(self, values: torch.Tensor) -> None:
        self.values = values
        self.steps = 0
        self.__hidden = "kept"


class Memory:
    def __init__(self, *values: torch.Tensor) -> None:
        self.layers = [Layer(each) for each in values]
        self.names = {"first": "a"}
        self.dtype = torch.float32

    def grow(self, x: torch.Tensor) -> None:
        self.names["first"] = "b"
        for layer in self.layers:
            layer.steps += 1
            layer.values = torch.cat([layer.values, x])


@case(lambda: (torch.randn(5, 2),))
class Makes(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return {"made": Memory(x.sin(), x.cos()), "x": x + 1}


class TakesBatch(nn.Module):
    def forward(self, batch: Any) -> torch.Tensor:
        scale = getattr(batch, "scale", 1.0)
        return batch.x * scale


add("takes-batch", lambda: TakesBatch(), lambda: (Batch(torch.randn(4, 2), 2.0, None),))

add("takes-batch-2", lambda: TakesBatch(), lambda: (Batch(torch.randn(4, 2), 2.0, torch.ones(2)),))

add("takes-batch-3", lambda: TakesBatch(), lambda: (Padded(torch.ones(4)),))


@dataclass
class Batch:
    x: torch.Tensor
    scale: float = 2.0
    mask: torch.Tensor | None = None


@dataclass
class Padded:
    x: torch.Tensor
    length: int = dataclasses.field(init=False, default=0)

    def __post_init__(self) -> None:
        self.x = self.x + 1
        self.length = 7


class Other:
    def __init__(self, values: torch.Tensor) -> None:
        self.values = values


@case(lambda: (torch.randn(5, 2),))
def target(x: torch.Tensor) -> Memory:
    memory = Memory(x.sin())
    memory.layers.append(Other(x.cos()))  # type: ignore[arg-type]
    return memory


@case(lambda: (Batch(torch.randn(4, 2), 2.0, None),), modes=NON_STRICT)
class Fails(nn.Module):
    def forward(self, batch: Batch) -> torch.Tensor:
        return batch.x if batch.x.sum() > 0 else -batch.x


class Levels(OrderedDict[str, Any]):
    """With attributes of its own beside its items."""

    def __init__(self, items: Any, stride: int, mask: Any = None) -> None:
        super().__init__(items)
        self.stride = stride
        self.mask = mask


@case(lambda: (torch.ones(3),))
class GivesLevels(nn.Module):
    def __init__(self, masked: bool = False) -> None:
        super().__init__()
        self.masked = masked

    def forward(self, x: torch.Tensor) -> Any:
        return Levels([("one", x * 2), ("two", x + 1)], 4, x > 0 if self.masked else None)


add("gives-levels-2", lambda: GivesLevels(masked=True), lambda: (torch.ones(3),), modes=NON_STRICT)

"""Classes of inputs and outputs, and the structure of `dynamic_shapes`."""

from __future__ import annotations

import enum
from collections import namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.export import Dim

from .case import reported

Tensor = torch.Tensor


class EasyDict(dict[str, Any]):
    """A dict with its keys as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass
class Numbers:
    """Two numbers, as settings of a call."""

    one: int
    two: int


class KeyValues:
    """A cache of lists of tensors."""

    def __init__(self, layers: int = 2, length: int = 0) -> None:
        self.key_cache = [torch.randn(2, 4, length, 3) for _ in range(layers)] if length else []
        self.value_cache = [torch.randn(2, 4, length, 3) for _ in range(layers)] if length else []


class Mode(enum.Enum):
    """How to scale."""

    ONCE = 1
    TWICE = 2


class Pair(NamedTuple):
    """Two tensors."""

    a: Tensor
    b: Tensor


Point = namedtuple("Point", "x y")


@reported(
    "https://github.com/pytorch/pytorch/issues/120219",
    lambda n: (EasyDict(x=torch.randn(3, 4), y=torch.randn(3, 4)),),
)
class TakesEasyDict(nn.Module):
    def forward(self, batch: EasyDict) -> Tensor:  # <- here
        return batch.x + batch["y"]


@reported(
    "https://github.com/pytorch/pytorch/issues/147400",
    lambda n: (torch.randn(3), Numbers(1, 2)),
)
class TakesNumbers(nn.Module):
    def forward(self, x: Tensor, numbers: Numbers) -> Tensor:  # <- here
        return x + numbers.one + numbers.two


@reported(
    "https://github.com/pytorch/pytorch/issues/142161",
    lambda n: (torch.randn(2, 4, 5, 1), KeyValues(2, 5)),
)
class TakesCache(nn.Module):
    def forward(self, x: Tensor, cache: KeyValues) -> Tensor:  # <- here
        keys = torch.cat(cache.key_cache, 1).sum(1, keepdim=True)
        return x.sum() + keys + torch.cat(cache.value_cache, 1).sum(1, keepdim=True)


@reported(
    "https://github.com/pytorch/pytorch/issues/136582",
    lambda n: (torch.randn(2, 4, 5, 3),),
)
class GivesCache(nn.Module):
    def forward(self, x: Tensor) -> KeyValues:
        made = KeyValues()
        made.key_cache.append(x * 2)
        made.value_cache.append(x + 1)
        return made  # <- here


def _static_cache() -> Any:
    from transformers import LlamaConfig
    from transformers.cache_utils import StaticCache

    config = LlamaConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2
    )
    cache = StaticCache(config=config, max_cache_len=6)
    state = torch.zeros(1, 2, 1, 4)
    cache.update(state, state, 0, {"cache_position": torch.tensor([0])})
    return cache


@reported(
    "https://github.com/pytorch/pytorch/issues/152465",
    lambda n: (torch.randn(1, 2, 1, 4), _static_cache()),
)
class TakesStaticCache(nn.Module):
    def forward(self, x: Tensor, cache: Any) -> Tensor:  # <- here
        return x.sum() + cache.layers[0].keys.sum()


@reported(
    "https://github.com/pytorch/pytorch/issues/153061",
    lambda n: (torch.randn(3, 4), Mode.TWICE),
)
class TakesEnum(nn.Module):
    def forward(self, x: Tensor, mode: Mode) -> Tensor:  # <- here
        return x * mode.value


@reported(
    "https://github.com/pytorch/pytorch/issues/116544",
    lambda n: (Pair(torch.randn(3 + n), torch.randn(3 + n)),),
    {"x": [{0: (rows := Dim("rows"))}, {0: rows}]},
)
class TakesPair(nn.Module):
    def forward(self, x: Pair) -> Tensor:
        return x.a + x.b


@reported(
    "https://github.com/pytorch/pytorch/issues/160547",
    lambda n: Point(torch.randn(3), torch.randn(3)),
)
class CalledByPoint(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return x + y


@dataclass
class ModelOutput:
    """What a model gives, as a dataclass."""

    hidden: Tensor
    pooled: Tensor


@reported(
    "https://github.com/pytorch/pytorch/issues/104678",
    lambda n: (torch.randn(2, 6 + n, 4),),
    "x: _, seq, _",
)
class GivesModelOutput(nn.Module):
    def forward(self, x: Tensor) -> ModelOutput:
        return ModelOutput(x * 2, x.mean(1))  # <- here


@reported("https://github.com/pytorch/pytorch/issues/127110", lambda n: (torch.randn(3), {}))
class GivesNothing(nn.Module):
    def forward(self, x: Tensor, y: dict[str, Tensor]) -> dict[str, Tensor]:
        return y


@reported(
    "https://github.com/pytorch/pytorch/issues/150371",
    lambda n: {"x": torch.randn(2 + n, 4), "y": torch.randn(4), "z": torch.randn(4)},
    {"x": {0: Dim.AUTO}, "y": {0: Dim.STATIC}, "z": {0: Dim.STATIC}},
)
class KeywordsByName(nn.Module):
    def forward(self, *, x: Tensor, y: Tensor, **kwargs: Tensor) -> Tensor:
        return x.sum() + y.sum() + kwargs["z"].sum()


@reported(
    "https://github.com/pytorch/pytorch/issues/150022",
    lambda n: {"x": torch.randn(2 + n, 3), "y": torch.randn(2 + n, 3)},
    {"kwargs": {"x": {0: (batch := Dim("batch"))}, "y": {0: batch}}},
)
class OnlyKeywords(nn.Module):
    def forward(self, **kwargs: Tensor) -> Tensor:
        return kwargs["x"] + kwargs["y"]


@reported(
    "https://github.com/pytorch/pytorch/issues/164313",
    lambda n: {"ids": torch.randn(3 + n, 8), "return_dict": True},
    {"ids": {0: Dim.AUTO}, "return_dict": None},
)
class KeywordFlag(nn.Module):
    def forward(self, ids: Tensor, **kwargs: bool) -> Any:
        return {"out": ids * 2} if kwargs.get("return_dict") else (ids * 2,)


@reported(
    "https://github.com/pytorch/pytorch/issues/148564",
    lambda n: {"start": torch.ones(4, 4), "end": torch.ones(4 + n, 4)},
    {"end": {0: Dim("end_dim")}},
)
class OneSpecOnly(nn.Module):
    def forward(self, start: Tensor, end: Tensor) -> Tensor:
        return start.sum() + end.sum()


@reported(
    "https://github.com/meta-pytorch/segment-anything-fast/issues/109",
    lambda n: (torch.randn(2 + n, 3, 8),),
    (({0: Dim("batch")},),),
)
class SpecOneTooDeep(nn.Module):
    def forward(self, image: Tensor) -> Tensor:
        return image.mean(-1)


@reported("https://github.com/pytorch/pytorch/pull/135302", lambda n: (torch.randn(3, 4),))
class Scripted:
    def __new__(cls) -> Any:
        return torch.jit.script(nn.Linear(4, 2))


@reported("https://github.com/pytorch/tutorials/pull/3180", lambda n: (torch.randn(2, 4),))
class MethodOfPredictor:
    def __new__(cls) -> Any:
        return Predictor().predict


class Predictor:
    """Has a model, and is none."""

    def __init__(self) -> None:
        self.model = nn.Linear(4, 2).eval()

    def predict(self, x: Tensor) -> Tensor:
        return self.model(x).softmax(-1)

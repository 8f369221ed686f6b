"""How models of transformers are built from tiny configs, and called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .model import Call, Model, ids

BASE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "vocab_size": 100,
}
GROUPED = {**BASE, "num_key_value_heads": 2}
"""A decoder of today: fewer heads for keys and values than for queries."""


def made(config: str, model: str, **options: Any) -> Callable[[], torch.nn.Module]:
    """What builds a model of a config, in eval mode. It raises ImportError without transformers."""

    def build() -> torch.nn.Module:
        import transformers

        built: torch.nn.Module = getattr(transformers, model)(
            getattr(transformers, config)(**options)
        )
        return built.eval()

    return build


def text(name: str, config: str, model: str, **options: Any) -> Model:
    """Token ids and a mask, as an encoder is called."""

    def call(batch: int, seq: int) -> Call:
        mask = torch.ones(batch, seq, dtype=torch.long)
        return (), {"input_ids": ids(batch, seq), "attention_mask": mask}

    shapes = "input_ids: batch, seq; attention_mask: batch, seq"
    built = made(config, model, **options)
    return Model(name, "transformers", built, call, {"batch": 2, "seq": 16}, shapes)


def decoder(name: str, config: str, model: str, cache: bool = False, **options: Any) -> Model:
    """Token ids alone, as a decoder is called; with `cache` it gives its cache back."""

    def call(batch: int, seq: int) -> Call:
        return (ids(batch, seq),), {}

    built = made(config, model, use_cache=cache, **options)
    return Model(
        name, "transformers", built, call, {"batch": 2, "seq": 16}, "input_ids: batch, seq"
    )


def pair(name: str, config: str, model: str, **options: Any) -> Model:
    """Ids of a source and of a target, as a model from sequence to sequence is called."""

    def call(batch: int, source: int, target: int) -> Call:
        return (), {"input_ids": ids(batch, source), "decoder_input_ids": ids(batch, target)}

    shapes = "input_ids: batch, source; decoder_input_ids: batch, target"
    sizes = {"batch": 2, "source": 16, "target": 9}
    return Model(name, "transformers", made(config, model, **options), call, sizes, shapes)


def image(
    name: str,
    config: str,
    model: str,
    size: int = 64,
    given: dict[str, Any] | None = None,
    **options: Any,
) -> Model:
    """Pictures of any height and width; `given` is what a model needs to be told for that."""

    def call(batch: int, height: int, width: int) -> Call:
        return (torch.randn(batch, 3, height, width),), dict(given or {})

    sizes = {"batch": 2, "height": size, "width": size}
    built = made(config, model, **options)
    return Model(name, "transformers", built, call, sizes, "pixel_values: batch, _, height, width")


def audio(name: str, config: str, model: str, **options: Any) -> Model:
    """Waveforms of any length."""

    def call(batch: int, time: int) -> Call:
        return (torch.randn(batch, time),), {}

    built = made(config, model, **options)
    return Model(
        name, "transformers", built, call, {"batch": 2, "time": 800}, "input_values: batch, time"
    )
